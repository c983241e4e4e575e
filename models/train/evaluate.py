"""Measures a network file: agreement with the teacher on held-out games, and puzzles, both with the policy alone.

    python evaluate.py ../zeitnot-small.pb.gz --puzzles PUZZLES.tsv

Held-out games are the ones training never sees (data.py), or with --all every one: of a seed that was kept from training.
With --teacher they are labelled anew by the teacher in float32 (`zeitnot net convert -o teacher.onnx T1-256x10.pb.gz`;
needs `pip install onnxruntime`). Of a puzzle (columns id, rating, FEN, moves, themes) the first move is the opponent's;
it counts as found when the most likely move in the position after it is the solution's first ("strict"); the second
figure also counts other moves that mate at once, as Lichess does.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import chess
import numpy as np
import torch

from data import Positions
from encoding import CONV_SLOTS, History, castling_byte, planes, policy_index
from lc0_network import Lc0Network, read_or_exit
from teacher import Teacher

#: Positions evaluated at once.
BATCH = 500


def log_policy(policy: torch.Tensor, batch: dict[str, torch.Tensor]) -> torch.Tensor:
    """Log-probabilities of the legal moves [n, k] from logits of the whole head; next to none where there is no move."""
    return policy.float().gather(1, batch["slots"]).masked_fill(~batch["legal"], -1e4).log_softmax(1)


def divergence(logs: torch.Tensor, teacher: torch.Tensor) -> torch.Tensor:
    """Kullback-Leibler divergence from the teacher's policy [n], in nats."""
    return (teacher * (teacher.clamp_min(1e-9).log() - logs)).sum(1)


def held_out(network: Lc0Network, positions: Positions, teacher: Teacher | None = None) -> dict[str, float]:
    """Means over all held-out positions, by their labels or, if it is given, by the teacher itself.

    Shares (agreement), nats (cross-entropies and, less the teacher's own entropy, divergences), absolute differences of
    q = W - L and of the plies left.
    """
    sums: dict[str, float] = {}
    for part in np.array_split(positions.held_out, max(1, len(positions.held_out) // BATCH)):
        batch = positions.batch(part)
        if teacher:
            batch = teacher.relabelled(batch)
        policy, value, left = network(batch["planes"])
        logs = log_policy(policy, batch)
        means = {
            "agreement": (logs.argmax(1) == batch["policy"].argmax(1)).float(),
            "policy_ce": -(batch["policy"] * logs).sum(1),
            "policy_kl": divergence(logs, batch["policy"]),
        }
        q = batch["wdl"][:, 0] - batch["wdl"][:, 2]
        if network.has_wdl:
            means["wdl_ce"] = -(batch["wdl"] * value.log_softmax(1)).sum(1)
            means["wdl_kl"] = means["wdl_ce"] + (batch["wdl"] * batch["wdl"].clamp_min(1e-9).log()).sum(1)
            odds = value.softmax(1)
            means["q_error"] = (odds[:, 0] - odds[:, 2] - q).abs()
        else:
            means["q_error"] = (value[:, 0] - q).abs()
        if left is not None:
            means["left_error"] = (left - batch["left"]).abs()
        for name, values in means.items():
            sums[name] = sums.get(name, 0.0) + values.sum().item()
    return {name: value / len(positions.held_out) for name, value in sums.items()}


def puzzle_positions(path: Path, limit: int):
    """(board after the opponent's move, its planes, solution's first move) of the first puzzles of a file."""
    with open(path, newline="") as file:
        for row, puzzle in zip(range(limit), csv.DictReader(file, delimiter="\t")):
            board = chess.Board(puzzle["fen"])
            moves = puzzle["moves"].split()
            history = History(board)
            board.push_uci(moves[0])
            history.add(board)
            pieces, repeated = history.window()
            inputs = planes(
                pieces[None], repeated[None], np.array([castling_byte(board)]), np.array([board.halfmove_clock]),
                np.array([board.turn == chess.BLACK]),
            )
            yield board, inputs[0], board.parse_uci(moves[1])


def puzzles(network: Lc0Network, path: Path, limit: int) -> dict[str, float]:
    """Share of puzzles whose first move is the network's first choice, with and without other mates."""
    cases = list(puzzle_positions(path, limit))
    strict = found = 0
    for start in range(0, len(cases), BATCH):
        part = cases[start : start + BATCH]
        policy, _, _ = network(torch.from_numpy(np.stack([inputs for _, inputs, _ in part])))
        for (board, _, solution), logits in zip(part, policy.numpy()):
            best = max(board.legal_moves, key=lambda move: logits[CONV_SLOTS[policy_index(board, move)]])
            strict += best == solution
            board.push(best)
            found += best == solution or board.is_checkmate()
    return {"count": len(cases), "strict": strict / len(cases), "found": found / len(cases)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("network", type=Path, help="network file (.pb.gz)")
    parser.add_argument("--work", type=Path, default=Path(__file__).parent / "work", help="working folder")
    parser.add_argument("--only", default="", help="shards whose names begin with this (default all)")
    parser.add_argument("--all", action="store_true", help="count every position: of games that no training has had")
    parser.add_argument("--teacher", type=Path, metavar="FILE", help="measure against this ONNX file instead of the labels")
    parser.add_argument("--puzzles", type=Path, help="puzzles as tab-separated values")
    parser.add_argument("--limit", type=int, default=1500, help="puzzles to try (default 1500)")
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    network = read_or_exit(args.network)
    positions = Positions(args.work / "packed", args.only)
    if args.all:
        positions.held_out = np.arange(len(positions))
    measures = held_out(network, positions, Teacher(args.teacher, args.threads) if args.teacher else None)
    by = f" by {args.teacher.name}" if args.teacher else ""
    print(f"{args.network.name}: {len(positions.held_out)} held-out positions{by}")
    print(f"  agreement with the teacher's first choice {100 * measures.pop('agreement'):.2f} %")
    for name, value in measures.items():
        print(f"  {name} {value:.4f}")
    if args.puzzles:
        result = puzzles(network, args.puzzles, args.limit)
        print(f"  puzzles {100 * result['strict']:.1f} % strict, {100 * result['found']:.1f} % with other mates "
              f"(of {result['count']})")


if __name__ == "__main__":
    main()
