"""Measures a network file: agreement with the teacher on held-out games, and puzzles, both with the policy alone.

    python evaluate.py ../zeitnot-small.pb.gz --puzzles PUZZLES.tsv
    python evaluate.py ../zeitnot-small.pb.gz --only maia-16 --all
    python evaluate.py work/new.pb.gz --against ../zeitnot-small.pb.gz

Held-out games are the ones training never sees (data.py), or with --all every one: of a seed (--only) that was kept
from training. With --teacher they are labelled anew by the teacher in float32 (`zeitnot net convert -o teacher.onnx
T1-256x10.pb.gz`; needs `pip install onnxruntime`). Of a puzzle (columns id, rating, FEN, moves, themes) the first move
is the opponent's; it counts as found when the most likely move in the position after it is the solution's first
("strict"); the second figure also counts other moves that mate at once, as Lichess does.

What follows a mean in brackets is its standard error: it lies that near what more games, or more puzzles, would give in
two cases of three. Two networks on the same positions can be told apart by less: --against another adds what this one
has more than that, and the standard error of the difference.
"""

from __future__ import annotations

import argparse
import csv
from itertools import islice
from pathlib import Path

import chess
import numpy as np
import torch

from common import positive
from data import Positions
from encoding import CONV_SLOTS, History, policy_index, position_planes
from lc0_network import Lc0Network, read_or_exit
from losses import agreement, log_policy
from teacher import Teacher

#: Positions evaluated at once.
BATCH = 500
#: What is read of a line of puzzles.
COLUMNS = ("fen", "moves")
#: The board after the opponent's move, its planes, the solution's first move.
Puzzle = tuple[chess.Board, np.ndarray, chess.Move]


def divergence(logs: torch.Tensor, teacher: torch.Tensor) -> torch.Tensor:
    """Kullback-Leibler divergence from the teacher's policy [n], in nats."""
    return (teacher * (teacher.clamp_min(1e-9).log() - logs)).sum(1)


def measured(
    network: Lc0Network, positions: Positions, chosen: np.ndarray, teacher: Teacher | None = None,
) -> dict[str, np.ndarray]:
    """Of each chosen position, by its label or, if it is given, by the teacher itself.

    Agreement (losses.py), nats (cross-entropies and, less the teacher's own entropy, divergences), absolute differences
    of q = W - L and of the plies left.
    """
    found: dict[str, list[np.ndarray]] = {}
    for part in np.array_split(chosen, max(1, len(chosen) // BATCH)):
        batch = positions.batch(part)
        if teacher:
            batch = teacher.relabelled(batch)
        policy, value, left = network(batch["planes"])
        logs = log_policy(policy, batch)
        values = {
            "agreement": agreement(logs, batch["policy"]),
            "policy_ce": -(batch["policy"] * logs).sum(1),
            "policy_kl": divergence(logs, batch["policy"]),
        }
        q = batch["wdl"][:, 0] - batch["wdl"][:, 2]
        if network.has_wdl:
            values["wdl_ce"] = -(batch["wdl"] * value.log_softmax(1)).sum(1)
            values["wdl_kl"] = values["wdl_ce"] + (batch["wdl"] * batch["wdl"].clamp_min(1e-9).log()).sum(1)
            odds = value.softmax(1)
            values["q_error"] = (odds[:, 0] - odds[:, 2] - q).abs()
        else:
            values["q_error"] = (value[:, 0] - q).abs()
        if left is not None:
            values["left_error"] = (left - batch["left"]).abs()
        for name, some in values.items():
            found.setdefault(name, []).append(some.double().numpy())
    return {name: np.concatenate(parts) for name, parts in found.items()}


def games(positions: Positions, chosen: np.ndarray) -> np.ndarray:
    """A number for each chosen position, the same for those of one game; shards count their games anew."""
    shard = np.repeat(np.arange(len(positions.lengths)), list(positions.lengths.values()))
    game = positions.arrays["game"].astype(np.int64)
    return np.unique((shard * (game.max() + 1) + game)[chosen], return_inverse=True)[1]


def error_by_game(values: np.ndarray, game: np.ndarray) -> float:
    """Standard error of the mean of values, where those of one game are alike and only games are independent."""
    return float(np.sqrt(np.square(np.bincount(game, values - values.mean())).sum()) / len(values))


def read_puzzles(path: Path, limit: int) -> list[Puzzle]:
    """The first puzzles of a file. SystemExit where there are none, or it is no file of puzzles."""
    cases, line = [], 1
    try:
        with open(path, newline="") as file:
            rows = csv.DictReader(file, delimiter="\t", restval="")
            if missing := set(COLUMNS) - set(rows.fieldnames or ()):
                raise ValueError(f"no column {' and no column '.join(sorted(missing))}")
            for puzzle in islice(rows, limit):
                line = rows.line_num
                cases.append(puzzle_position(*(puzzle[column] for column in COLUMNS)))
    except OSError as error:
        raise SystemExit(f"--puzzles: {error}") from error
    except (ValueError, csv.Error) as error:
        raise SystemExit(f"--puzzles {path}, line {line}: {error}") from error
    if not cases:
        raise SystemExit(f"--puzzles {path}: no puzzles")
    return cases


def puzzle_position(fen: str, moves: str) -> Puzzle:
    """The puzzle of a position and its moves, the opponent's first. ValueError where these are none."""
    board = chess.Board(fen)
    theirs, solution, *_ = [*moves.split(), "", ""]
    history = History(board)
    board.push_uci(theirs)
    history.add(board)
    return board, position_planes(board, history), board.parse_uci(solution)


def puzzles(network: Lc0Network, cases: list[Puzzle]) -> dict[str, np.ndarray]:
    """Of each puzzle, whether the network's first choice is its first move (strict), or that or another mate."""
    strict, found = [], []
    for start in range(0, len(cases), BATCH):
        part = cases[start : start + BATCH]
        policy, _, _ = network(torch.from_numpy(np.stack([inputs for _, inputs, _ in part])))
        for (board, _, solution), logits in zip(part, policy.numpy()):
            best = max(board.legal_moves, key=lambda move: logits[CONV_SLOTS[policy_index(board, move)]])
            strict.append(best == solution)
            board.push(best)
            found.append(best == solution or board.is_checkmate())
            board.pop()
    return {"strict": np.array(strict, float), "found": np.array(found, float)}


def told(values: np.ndarray, game: np.ndarray, other: np.ndarray | None, percent: bool) -> str:
    """A mean with its standard error, and how much more it is than another network's on the same."""
    scale, digits, unit = (100, 2, " %") if percent else (1, 4, "")

    def error(values: np.ndarray) -> str:
        return f"(± {scale * error_by_game(values, game):.{digits}f})"

    text = f"{scale * values.mean():.{digits}f}{unit} {error(values)}"
    if other is None:
        return text
    more = values - other
    return f"{text}, {scale * more.mean():+.{digits}f} {error(more)} against the other"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("network", type=Path, help="network file (.pb.gz)")
    parser.add_argument("--work", type=Path, default=Path(__file__).parent / "work", help="working folder")
    parser.add_argument("--only", action="append", default=[], metavar="KIND",
                        help="shards of this kind, such as maia or maia-16 (more than once: of these; default all)")
    parser.add_argument("--all", action="store_true", help="count every position: of games that no training has had")
    parser.add_argument("--teacher", type=Path, metavar="FILE", help="measure against this ONNX file, not the labels")
    parser.add_argument("--against", type=Path, metavar="FILE",
                        help="another network file, to tell how much more this one has")
    parser.add_argument("--puzzles", type=Path, help="puzzles as tab-separated values")
    parser.add_argument("--limit", type=positive(int), default=1500, help="puzzles to try (default 1500)")
    parser.add_argument("--threads", type=positive(int), default=1)
    args = parser.parse_args()
    if args.all and not args.only:
        raise SystemExit("--all needs --only: training has had the games of the other shards")
    torch.set_num_threads(args.threads)
    networks = [read_or_exit(path) for path in (args.network, args.against) if path]
    cases = read_puzzles(args.puzzles, args.limit) if args.puzzles else []
    positions = Positions(args.work / "packed", args.only)
    chosen = np.arange(len(positions)) if args.all else positions.held_out
    if not len(chosen):
        raise SystemExit(f"{args.work / 'packed'}: no held-out position")
    teacher = Teacher(args.teacher, args.threads) if args.teacher else None
    measures, *others = (measured(network, positions, chosen, teacher) for network in networks)
    game = games(positions, chosen)
    count = f"{len(chosen)} positions, all games" if args.all else f"{len(chosen)} held-out positions"
    by = f" by {args.teacher.name}" if args.teacher else ""
    against = f"; the other: {args.against.name}" if args.against else ""
    print(f"{args.network.name}: {count}{by}{against}")
    for name, values in measures.items():
        other = others[0].get(name) if others else None
        called = "agreement with the teacher's first choice" if name == "agreement" else name
        print(f"  {called} {told(values, game, other, name == 'agreement')}")
    if cases:
        solved, *others = (puzzles(network, cases) for network in networks)
        each = np.arange(len(cases))
        strict, found = (told(solved[name], each, others[0][name] if others else None, True) for name in solved)
        print(f"  puzzles {strict} strict; {found} with other mates (of {len(cases)})")


if __name__ == "__main__":
    main()
