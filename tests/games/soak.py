#!/usr/bin/env python3
"""Plays thousands of games under fastchess in rounds that add up, and sums up what was lost on time, crashed or illegal.

Each round is one run of `forfeits.py` with the next kind of game of the table below and a seed of its own. What it found becomes a line
of `rounds.jsonl` in the folder. A round that was cut off counts with the games that it finished. Exit code: 1 where a game crashed or had
an illegal move, or where more were lost on time than the kind of game allows. See README.md beside this file.
"""

import argparse
import fcntl
import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from play import EXIT_FAILED, REPOSITORY, _even, _positive, ended, runnable

SMALL, MAIA, T1 = ("WeightsFile=" + name for name in ("zeitnot-small", "maia-1900.pb.gz", "t1-256x10.pb.gz"))
ONE = "Threads=1"
ROUNDS, STARTED, FOUND, OUTPUT = "rounds.jsonl", "started.json", "found.json", "forfeits.txt"


class Kind(NamedTuple):
    """Games of one kind."""

    name: str
    control: str
    both: tuple[str, ...]
    first: tuple[str, ...] = ()
    second: tuple[str, ...] = ()
    games_a_loss: int = 0
    """In so many games one loss on time is allowed; 0: none."""

    def options(self, networks: Path | None) -> tuple[list[str], list[str]]:
        """Those of either side; a network that is a file is looked for in `networks`."""

        def found(option: str) -> str:
            name, value = option.split("=")
            return f"{name}={networks / value}" if networks and value.endswith(".pb.gz") else option

        return tuple([found(option) for option in self.both + own] for own in (self.first, self.second))


KINDS = [
    Kind("small-maia-200", "1+0.01", (ONE, "Move Overhead=200"), (SMALL,), (MAIA,)),
    Kind("small-maia-30", "1+0.01", (ONE, "Move Overhead=30"), (SMALL,), (MAIA,)),
    # With as many threads as suit the network.
    Kind("legacy-simple", "1+0.01", (SMALL,), ("TimeManager=legacy",), ("TimeManager=simple",)),
    Kind("smooth-alphazero", "1+0.01", (SMALL, ONE), (), ("TimeManager=alphazero",)),
    Kind("moves-in-time", "40/4", (SMALL, ONE), ("Move Overhead=30",), ("TimeManager=legacy",)),
    Kind("sudden-death", "4", (SMALL, ONE), ("Move Overhead=30",), ("TimeManager=simple",)),
    Kind("t1", "2+0.02", (T1, ONE), (), ("Move Overhead=30",), games_a_loss=1000),
    Kind("longer", "10+0.1", (ONE,), (SMALL,), (MAIA,)),
]


def arguments() -> argparse.Namespace:
    names = [kind.name for kind in KINDS]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fastchess", metavar="PATH")
    parser.add_argument("--zeitnot", default=str(REPOSITORY / "target/release/zeitnot"), metavar="PATH")
    parser.add_argument("--networks", type=Path, metavar="FOLDER", help="has maia-1900.pb.gz and t1-256x10.pb.gz")
    parser.add_argument(
        "--kinds", nargs="+", choices=names, default=names, metavar="KIND", help=f"default: all ({', '.join(names)})")
    parser.add_argument("--rounds", type=_positive, default=len(KINDS), metavar="N", help=f"to play now (default {len(KINDS)})")
    parser.add_argument("--games", type=_even, default=100, metavar="N", help="of a round (default 100)")
    parser.add_argument("--concurrency", type=_positive, default=1, metavar="N", help="games at once")
    parser.add_argument("--openings", type=Path, metavar="FILE", help="PGN or EPD; default: a built-in list")
    parser.add_argument("--note", default="", metavar="TEXT", help="what else the machine does, kept with each round")
    parser.add_argument("--folder", type=Path, required=True, help="for the rounds; one that is there goes on")
    parser.add_argument("--report", action="store_true", help="play nothing, and only sum up what the folder holds")
    return parser.parse_args()


def read(folder: Path) -> list[dict]:
    path = folder / ROUNDS
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def add(folder: Path, found: dict) -> None:
    new = folder / (ROUNDS + ".new")
    new.write_text("".join(json.dumps(one) + "\n" for one in [*read(folder), found]), encoding="utf-8")
    os.replace(new, folder / ROUNDS)


def forfeits(folder: Path, call: list[str]) -> dict:
    """Runs `forfeits.py` on the folder of a round, and returns what it found. Its exit code says only whether that is bad."""
    script = Path(__file__).with_name("forfeits.py")
    call = [sys.executable, str(script), "--folder", str(folder), "--json", str(folder / FOUND), *call]
    with (folder / OUTPUT).open("w", encoding="utf-8") as output:
        # With all that it starts it ends when this script does, or a round would be played beside its repetition.
        with subprocess.Popen(call, stdout=output, stderr=subprocess.STDOUT, start_new_session=True) as process:
            try:
                process.wait()
            finally:
                try:
                    os.killpg(process.pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
    if not (folder / FOUND).exists():
        last = (folder / OUTPUT).read_text(encoding="utf-8", errors="replace").strip().splitlines()[-1:]
        raise ValueError(f"{folder}: forfeits.py ended with {process.returncode}: {' '.join(last)}")
    return json.loads((folder / FOUND).read_text(encoding="utf-8"))


def play(args: argparse.Namespace, number: int, kind: Kind) -> dict:
    folder = args.folder / f"round-{number:04}"
    folder.mkdir()
    first, second = kind.options(args.networks)
    started = {
        "round": number, "kind": kind.name, "note": args.note, "options": [first, second],
        "program": hashlib.sha256(Path(args.zeitnot).read_bytes()).hexdigest(), "load": [round(os.getloadavg()[0], 1)],
    }
    (folder / STARTED).write_text(json.dumps(started), encoding="utf-8")
    begin = time.monotonic()
    found = forfeits(folder, [
        "--fastchess", args.fastchess, "--zeitnot", args.zeitnot, "--tc", kind.control, "--games", str(args.games),
        "--concurrency", str(args.concurrency), "--seed", str(number),
        *(part for option in first for part in ("--option", option)),
        *(part for option in second for part in ("--opponent-option", option)),
        *(["--openings", str(args.openings)] if args.openings else []),
    ])
    if found["games"] != args.games:
        raise ValueError(f"{folder}: {found['games']} games of {args.games} were played")
    started["load"].append(round(os.getloadavg()[0], 1))
    return {**started, "minutes": round((time.monotonic() - begin) / 60, 1), **found}


def count_cut_off(folder: Path) -> None:
    """Adds what the rounds that were cut off finished."""
    known = {one["round"] for one in read(folder)}
    for path in sorted(folder.glob("round-*")):
        if int(path.name.removeprefix("round-")) not in known and (path / STARTED).exists():
            started = json.loads((path / STARTED).read_text(encoding="utf-8"))
            found = forfeits(path, ["--report"]) if (path / "games.pgn").exists() else {"games": 0, "losses": [], "other_failures": {}}
            add(folder, {**started, "cut_off": True, **found})


def report(rounds: list[dict], names: list[str]) -> bool:
    """Prints a line for each kind of game and what went wrong in it. Returns whether too much did."""
    failed = False
    allowance = {kind.name: kind.games_a_loss for kind in KINDS}
    rounds = [one for one in rounds if one["kind"] in names]
    if not rounds:
        raise ValueError("the folder has no round of these kinds")
    for name in dict.fromkeys(one["kind"] for one in rounds):
        mine = [one for one in rounds if one["kind"] == name]
        games = sum(one["games"] for one in mine)
        losses = [loss for one in mine for loss in one["losses"]]
        # fastchess has not finished the game that an interruption cut off.
        others = sum((Counter(one["other_failures"]) for one in mine if not one.get("cut_off")), Counter())
        loads = [load for one in mine for load in one["load"]]
        print(
            f"{name}: {games} games in {len(mine)} rounds, {len(losses)} lost on time, {sum(others.values())} other failures; "
            f"load {min(loads)} to {max(loads)}; {len({one['program'] for one in mine})} programs"
        )
        for loss in losses:
            print(f"  loss: {loss['overrun_ms']} ms over, {loss['clock_ms']} ms on the clock at the go, move {loss['move']}")
        for failure, count in others.items():
            print(f"  failure: {failure}, {count} games")
        allowed = max(1, games // allowance[name]) if allowance.get(name) else 0
        failed |= bool(others) or len(losses) > allowed
    print(f"{sum(one['games'] for one in rounds)} games in all")
    return failed


def soak(args: argparse.Namespace) -> None:
    kinds = [kind for kind in KINDS if kind.name in args.kinds]
    if not args.fastchess:
        raise ValueError("--fastchess is needed to play; tests/games/README.md says how to get it")
    runnable(args.fastchess, args.zeitnot)
    for option in {option for kind in kinds for side in kind.options(args.networks) for option in side}:
        value = option.split("=")[1]
        # The engine would play on with its built-in network.
        if value.endswith(".pb.gz") and not Path(value).is_file():
            raise ValueError(f"there is no {value} (--networks is the folder of the networks)")
    args.folder.mkdir(parents=True, exist_ok=True)
    with (args.folder / "lock").open("w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise ValueError(f"another soak plays in {args.folder}") from error
        count_cut_off(args.folder)
        for _ in range(args.rounds):
            rounds = read(args.folder)
            played = Counter()
            for one in rounds:
                played[one["kind"]] += one["games"]
            # The kind that has the fewest games is next.
            kind = min(kinds, key=lambda kind: played[kind.name])
            add(args.folder, play(args, max((one["round"] for one in rounds), default=0) + 1, kind))


def main() -> int:
    args = arguments()
    # As Ctrl-C, so that nothing goes on without this script.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if not args.report:
        soak(args)
    return EXIT_FAILED if report(read(args.folder), args.kinds) else 0


if __name__ == "__main__":
    sys.exit(ended(main))
