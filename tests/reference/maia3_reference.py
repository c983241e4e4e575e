"""Writes a random network of Maia-3's shape as ONNX, and what the reference code says of it.

    pip install torch maia3-runtime onnx
    python tests/reference/maia3_reference.py FOLDER [--model maia3-5m] [--positions 200] [--seed 1]
    ZEITNOT_MAIA3=FOLDER cargo test --test engine maia3 -- --ignored

FOLDER gets `maia3.onnx` and `reference.jsonl`: for each position and pair of ratings one object with the start (`fen`, null for
the standard one), the moves from there, the two ratings, the logits of the legal moves, and the probabilities of win, draw and
loss for the side to move. Encoding, model and legal moves are those of the package `maia3`; the weights are drawn here, norms
and biases too, so that no term of the network is idle. With --checkpoint the weights are those of a file of its authors.
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path
from types import SimpleNamespace

import chess
import torch
from maia3 import dataset, model_registry, models, utils

RATINGS = [(1500, 1500), (600, 600), (1100, 2000), (2000, 1100), (2600, 2600), (0, 5000), (5000, 0), (1873, 1421)]
#: Positions that random games seldom reach, and moves from there.
STARTS = [
    ("r3k2r/pppq1ppp/2npbn2/2b1p3/2B1P3/2NPBN2/PPPQ1PPP/R3K2R w KQkq - 4 8", "e1g1 e8c8"),
    ("r3k2r/pppq1ppp/2npbn2/2b1p3/2B1P3/2NPBN2/PPPQ1PPP/R3K2R b KQkq - 4 8", ""),
    ("rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3", "e5f6"),
    ("rnbqkbnr/pp1ppppp/8/8/2pPP3/8/PPP2PPP/RNBQKBNR b KQkq d3 0 3", "c4d3"),
    ("r3k3/1PP3P1/8/8/8/8/1p4p1/R3K2R w KQq - 0 1", "b7a8n b2a1q"),
    ("r3k3/1PP3P1/8/8/8/8/1p4p1/R3K2R b KQq - 0 1", "g2h1r"),
    ("8/P7/8/8/8/8/5k2/K7 w - - 0 1", ""),
    ("7k/8/8/8/8/8/p7/4K3 b - - 0 1", ""),
    ("8/8/4k3/8/4PK2/8/8/8 b - - 0 1", "e6d6 e4e5 d6e6"),
    ("6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1", ""),
]


class Decomposed(torch.nn.Module):
    """RMSNorm by operators that ONNX has."""

    def __init__(self, norm: torch.nn.RMSNorm):
        super().__init__()
        self.weight = norm.weight
        self.eps = torch.finfo(torch.float32).eps if norm.eps is None else norm.eps

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight


def decompose(module: torch.nn.Module) -> None:
    for name, child in module.named_children():
        if isinstance(child, torch.nn.RMSNorm):
            setattr(module, name, Decomposed(child))
        else:
            decompose(child)


class Exported(torch.nn.Module):
    """The two heads that play; published exports leave the third out, which tells the thinking time."""

    def __init__(self, model: torch.nn.Module):
        super().__init__()
        decompose(model)
        self.model = model

    def forward(self, tokens, self_elos, oppo_elos):
        return self.model(tokens, self_elos, oppo_elos)[:2]


#: How much larger than the usual scale the weights of a layer are drawn. Squares and ratings must stay apart up to the heads:
#: with equal scales everywhere all squares come out alike, and a wrong input would not be seen.
SCALES = {"embedding": 16.0, "token_projection": 6.0, "out_proj": 0.4, "linear2": 0.4, "proj_sq": 3.0, "fc_value": 3.0, "promo_bias": 0.1}


def draw_weights(model: torch.nn.Module, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, tensor in model.named_parameters():
            drawn = torch.randn(tensor.shape, generator=generator)
            if tensor.dim() > 1:
                scale = next((scale for part, scale in SCALES.items() if part in name), 1.5)
                tensor.copy_(drawn * scale * tensor.shape[-1] ** -0.5)
            else:
                tensor.copy_(0.3 * drawn + float(name.endswith("weight")))
        # A square has eight features of 96 and all of both ratings.
        model.token_projection.weight[:, 12 * model.cfg.history :] *= 0.1


def games(count: int, seed: int):
    """So many positions as start, moves and board: the named ones, then some of random games, at any ply."""
    draw = random.Random(seed)
    for fen, moves in STARTS[:count]:
        board = chess.Board(fen)
        for move in moves.split():
            board.push_uci(move)
        yield fen, moves.split(), board
    for index in range(count - len(STARTS)):
        board = chess.Board()
        plies = index if index < 12 else draw.randrange(12, 160)
        while board.ply() < plies:
            board.push(draw.choice(list(board.legal_moves)))
            if board.is_game_over():
                board.pop()
                break
        yield None, [move.uci() for move in board.move_stack], board


def tokens_of(board: chess.Board, cfg: SimpleNamespace) -> torch.Tensor:
    """The input for the position, with the history that the board remembers."""
    board, history = board.copy(), []
    while len(history) < cfg.history:
        history.insert(0, dataset.tokenize_board(board))
        if not board.move_stack:
            break
        board.pop()
    return dataset.get_historical_tokens(history, cfg, base=0.0, inc=0.0, clk_left_before=0.0, clk_ponder=0.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--model", default="maia3-5m")
    parser.add_argument("--checkpoint", type=Path)
    parser.add_argument("--positions", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)

    cfg = SimpleNamespace()
    model_registry.apply_model_config(cfg, model_registry.resolve_model_spec(args.model))
    model = models.MAIA3Model(cfg)
    if args.checkpoint:
        weights = torch.load(args.checkpoint, map_location="cpu", weights_only=True)
        weights = weights.get("model_state_dict", weights)
        model.load_state_dict({name.replace("smolgen", "gab"): tensor for name, tensor in weights.items()})
    else:
        draw_weights(model, args.seed)
    model.eval()

    vocabulary = utils.get_all_possible_moves()
    indices = {move: index for index, move in enumerate(vocabulary)}
    own, opponent = (torch.tensor([pair[side] for pair in RATINGS]) for side in (0, 1))
    with open(args.folder / "reference.jsonl", "w") as lines, torch.no_grad():
        for fen, moves, board in games(args.positions, args.seed):
            tokens = tokens_of(board, cfg).unsqueeze(0).expand(len(RATINGS), -1, -1)
            policy, value, _ = model(tokens, own, opponent)
            seen = {
                move.uci(): indices[move.uci() if board.turn else utils.mirror_move(move.uci())] for move in board.legal_moves
            }
            assert sorted(seen.values()) == dataset.get_legal_moves_mask(board, indices).nonzero().flatten().tolist()
            for row, ratings in enumerate(RATINGS):
                loss, draw, win = value[row].double().softmax(-1).tolist()
                logits = {move: policy[row, index].item() for move, index in seen.items()}
                line = {"fen": fen, "moves": moves, "ratings": ratings, "wdl": [win, draw, loss], "logits": logits}
                lines.write(json.dumps(line) + "\n")

    ends = ["tokens", "self_elos", "oppo_elos"], ["logits_move", "logits_value"]
    rating = torch.tensor([1500.0])
    torch.onnx.export(
        Exported(model),
        (torch.zeros(1, 64, 12 * cfg.history), rating, rating),
        str(args.folder / "maia3.onnx"),
        input_names=ends[0],
        output_names=ends[1],
        dynamic_axes={name: {0: "batch"} for name in ends[0] + ends[1]},
        opset_version=17,
        dynamo=False,
    )


if __name__ == "__main__":
    main()
