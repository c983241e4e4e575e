"""Measures a network file: agreement with the teacher on held-out games, and puzzles, both with the policy alone.

    python evaluate.py ../../crates/zeitnot-network/networks/zeitnot-small.pb.gz --puzzles PUZZLES.tsv
    python evaluate.py ../../crates/zeitnot-network/networks/zeitnot-small.pb.gz --only maia-16 --all
    python evaluate.py work/new.pb.gz --against ../../crates/zeitnot-network/networks/zeitnot-small.pb.gz

Held-out games are the ones training never sees (data.py), or with --all every one: of a seed (--only) that was kept
from training. With --teacher they are labelled anew by the teacher in float32 (`zeitnot net convert -o teacher.onnx
T1-256x10.pb.gz`; needs `pip install onnxruntime`). Of a puzzle (columns fen and moves, among others) the first move
is the opponent's; it counts as found when the most likely move in the position after it is the solution's
first; the second figure also counts other moves that mate at once, as Lichess does.

What follows a mean in brackets is its standard error: it lies that near what more games, or more puzzles, would give in
two cases of three (unknown: there is but one game). Two networks on the same positions can be told apart by less:
--against another adds what this one has more than that, and the standard error of the difference.
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


def measures(network: Lc0Network, batch: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Of each position: agreement (losses.py), nats (cross-entropies and, less the teacher's own entropy, divergences),
    absolute differences of q = W - L and of the plies left, as far as the network has these heads."""
    policy, value, left = network(batch["planes"])
    logs = log_policy(policy, batch)
    found = {
        "agreement": agreement(logs, batch["policy"]),
        "policy_ce": -(batch["policy"] * logs).sum(1),
        "policy_kl": divergence(logs, batch["policy"]),
    }
    q = batch["wdl"][:, 0] - batch["wdl"][:, 2]
    if network.has_wdl:
        found["wdl_ce"] = -(batch["wdl"] * value.log_softmax(1)).sum(1)
        found["wdl_kl"] = found["wdl_ce"] + (batch["wdl"] * batch["wdl"].clamp_min(1e-9).log()).sum(1)
        odds = value.softmax(1)
        found["q_error"] = (odds[:, 0] - odds[:, 2] - q).abs()
    else:
        found["q_error"] = (value[:, 0] - q).abs()
    if left is not None:
        found["left_error"] = (left - batch["left"]).abs()
    return found


def measured(
    networks: list[Lc0Network], positions: Positions, chosen: np.ndarray, teacher: Teacher | None = None,
) -> list[dict[str, np.ndarray]]:
    """The measures of each network on the chosen positions, by their labels or, if it is given, by the teacher."""
    found: list[dict[str, list[np.ndarray]]] = [{} for _ in networks]
    for part in np.array_split(chosen, max(1, len(chosen) // BATCH)):
        batch = positions.batch(part)
        if teacher:
            batch = teacher.relabelled(batch)
        for network, parts in zip(networks, found):
            for name, values in measures(network, batch).items():
                parts.setdefault(name, []).append(values.double().numpy())
    return [{name: np.concatenate(values) for name, values in parts.items()} for parts in found]


def games(positions: Positions, chosen: np.ndarray) -> np.ndarray:
    """A number for each chosen position, the same for those of one game; shards count their games anew."""
    shard = np.repeat(np.arange(len(positions.lengths)), list(positions.lengths.values()))
    game = positions.arrays["game"].astype(np.int64)
    return np.unique((shard * (game.max() + 1) + game)[chosen], return_inverse=True)[1]


def error_by_game(values: np.ndarray, game: np.ndarray) -> float:
    """Standard error of the mean of values, where those of one game are alike and only games are independent; nan where
    there is but one."""
    if game.min() == game.max():
        return float("nan")
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


def with_error(values: np.ndarray, group: np.ndarray, other: np.ndarray | None, percent: bool) -> str:
    """A mean with its standard error, values of a group being alike; and how much more it is than another network's on
    the same positions."""
    scale, digits, unit = (100, 2, " %") if percent else (1, 4, "")

    def bracket(of: np.ndarray) -> str:
        error = error_by_game(of, group)
        return "(± unknown)" if np.isnan(error) else f"(± {scale * error:.{digits}f})"

    text = f"{scale * values.mean():.{digits}f}{unit} {bracket(values)}"
    if other is None:
        return text
    more = values - other
    return f"{text}, {scale * more.mean():+.{digits}f} {bracket(more)} against the other"


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
    # Without another there is none of its measures.
    ours, other, *_ = *measured(networks, positions, chosen, teacher), {}
    game = games(positions, chosen)
    count = f"{len(chosen)} positions, all games" if args.all else f"{len(chosen)} held-out positions"
    by = f" by {args.teacher.name}" if args.teacher else ""
    against = f"; the other: {args.against.name}" if args.against else ""
    print(f"{args.network.name}: {count}{by}{against}")
    for name, values in ours.items():
        called = "agreement with the teacher's first choice" if name == "agreement" else name
        print(f"  {called} {with_error(values, game, other.get(name), name == 'agreement')}")
    if cases:
        ours, other, *_ = *(puzzles(network, cases) for network in networks), {}
        each = np.arange(len(cases))
        strict, found = (with_error(values, each, other.get(name), True) for name, values in ours.items())
        print(f"  puzzles {strict} (of {len(cases)})\n  puzzles, or another mate at once {found}")


if __name__ == "__main__":
    main()
