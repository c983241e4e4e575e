#!/usr/bin/env python3
"""Plays thousands of games under fastchess in rounds that add up, and sums up what was lost on time, crashed or illegal.

Each round is one run of `forfeits.py`, of the next line of the table below, with a seed of its own. What it found becomes a line of
`rounds.jsonl` in the folder; a round that was cut off is played again. Exit code: 1 where a game was lost by Zeitnot's fault, but for
those of the line's allowance. See README.md beside this file.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

from play import EXIT_FAILED, REPOSITORY, _even, _positive, ended, runnable

SMALL, MAIA, T1 = "WeightsFile=zeitnot-small", "WeightsFile={networks}/maia-1900.pb.gz", "WeightsFile={networks}/t1-256x10.pb.gz"
ONE = "Threads=1"
KINDS = [
    # name, time control, options of both, of the first, of the second, one loss in how many games is allowed (0: none)
    ("small-maia-200", "1+0.01", (ONE, "MoveOverheadMs=200"), (SMALL,), (MAIA,), 0),
    ("small-maia-30", "1+0.01", (ONE, "MoveOverheadMs=30"), (SMALL,), (MAIA,), 0),
    ("legacy-simple", "1+0.01", (SMALL,), ("TimeManager=legacy",), ("TimeManager=simple",), 0),
    ("price-alphazero", "1+0.01", (SMALL, ONE), ("TimeManager=price",), ("TimeManager=alphazero",), 0),
    ("moves-in-time", "40/4", (SMALL, ONE), ("MoveOverheadMs=30",), ("TimeManager=legacy",), 0),
    ("sudden-death", "4", (SMALL, ONE), ("MoveOverheadMs=30",), ("TimeManager=simple",), 0),
    ("t1", "2+0.02", (T1, ONE), (), ("MoveOverheadMs=30",), 1000),
    ("longer", "10+0.1", (ONE,), (SMALL,), (MAIA,), 0),
]
ROUNDS, GAMES = "rounds.jsonl", "round"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fastchess", metavar="PATH")
    parser.add_argument("--zeitnot", default=str(REPOSITORY / "target/release/zeitnot"), metavar="PATH")
    parser.add_argument("--networks", type=Path, metavar="FOLDER", help="has maia-1900.pb.gz and t1-256x10.pb.gz")
    parser.add_argument("--kinds", nargs="+", choices=[kind[0] for kind in KINDS], metavar="KIND", help="default: all")
    parser.add_argument("--rounds", type=_positive, default=len(KINDS), metavar="N", help="to play now (default: one of each)")
    parser.add_argument("--games", type=_even, default=100, metavar="N", help="of a round (default 100)")
    parser.add_argument("--concurrency", type=_positive, default=1, metavar="N", help="games at once")
    parser.add_argument("--openings", type=Path, metavar="FILE", help="PGN or EPD; default: a built-in list")
    parser.add_argument("--note", default="", metavar="TEXT", help="what else the machine does, kept with each round")
    parser.add_argument("--folder", type=Path, required=True, help="for the rounds; one that is there goes on")
    parser.add_argument("--report", action="store_true", help="play nothing, and only sum up what the folder holds")
    return parser.parse_args()


def read(folder: Path) -> list[dict]:
    """The rounds that were finished; a line that was cut off is none."""
    path = folder / ROUNDS
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True) if path.exists() else []
    return [json.loads(line) for line in lines if line.endswith("\n")]


def append(folder: Path, found: dict) -> None:
    """Adds a round, behind the last whole line."""
    path = folder / ROUNDS
    kept = "".join(json.dumps(one) + "\n" for one in [*read(folder), found])
    path.with_suffix(".new").write_text(kept, encoding="utf-8")
    os.replace(path.with_suffix(".new"), path)


def play(args: argparse.Namespace, number: int, kind: tuple) -> dict:
    name, control, both, first, second, _ = kind
    folder = args.folder / f"{GAMES}-{number:04}"
    shutil.rmtree(folder, ignore_errors=True)
    told = lambda flag, options: [part for one in options for part in (flag, one.format(networks=args.networks))]
    call = [
        sys.executable, str(Path(__file__).with_name("forfeits.py")), "--fastchess", args.fastchess, "--zeitnot", args.zeitnot,
        "--tc", control, "--games", str(args.games), "--concurrency", str(args.concurrency), "--seed", str(number),
        "--folder", str(folder), "--json", str(args.folder / "found.json"),
        *told("--option", both + first), *told("--opponent-option", both + second),
        *(["--openings", str(args.openings)] if args.openings else []),
    ]
    # What it found is in its file; its exit code says only whether there was something.
    done = subprocess.run(call, stdout=subprocess.DEVNULL, check=False)
    if done.returncode not in (0, EXIT_FAILED):
        raise ValueError(f"round {number} ({name}): forfeits.py ended with {done.returncode}")
    found = json.loads((args.folder / "found.json").read_text(encoding="utf-8"))
    load = os.getloadavg()[2]
    return {"round": number, "kind": name, "note": args.note, "load": round(load, 1), **found}


def report(rounds: list[dict]) -> bool:
    """Prints a line for each kind and what went wrong. Returns whether too much did."""
    failed = False
    for name, control, _, _, _, allowed in KINDS:
        mine = [one for one in rounds if one["kind"] == name]
        games = sum(one["games"] for one in mine)
        losses = [loss for one in mine for loss in one["losses"]]
        others = sum((Counter(one["other_failures"]) for one in mine), Counter())
        if games:
            loads = [one["load"] for one in mine]
            print(f"{name} at {control}: {games} games, {len(losses)} lost on time, {sum(others.values())} other failures; "
                  f"load {min(loads)} to {max(loads)}")
        for loss in losses:
            print(f"  loss: {loss['overrun_ms']} ms over, {loss['clock_ms']} ms on the clock at the go, move {loss['move']}")
        for failure, count in others.items():
            print(f"  failure: {failure}, {count} games")
        failed |= bool(others) or len(losses) > (games / allowed if allowed else 0)
    print(f"{sum(one['games'] for one in rounds)} games in all")
    return failed


def main() -> int:
    args = arguments()
    kinds = [kind for kind in KINDS if not args.kinds or kind[0] in args.kinds]
    if not args.report:
        if not args.fastchess:
            raise ValueError("--fastchess is needed to play; tests/games/README.md says how to get it")
        if not args.networks:
            raise ValueError("--networks is needed to play: the folder of maia-1900.pb.gz and t1-256x10.pb.gz")
        runnable(args.fastchess, args.zeitnot)
        args.networks = args.networks.resolve()
        args.folder.mkdir(parents=True, exist_ok=True)
        for _ in range(args.rounds):
            # The kind that has the fewest games is next.
            rounds = read(args.folder)
            counts = Counter()
            for one in rounds:
                counts[one["kind"]] += one["games"]
            kind = min(kinds, key=lambda kind: counts[kind[0]])
            append(args.folder, play(args, len(rounds) + 1, kind))
    return EXIT_FAILED if report(read(args.folder)) else 0


if __name__ == "__main__":
    sys.exit(ended(main))
