#!/usr/bin/env python3
"""Measures how strong Zeitnot is beside another engine, or with one network beside another: Elo with its error.

Every opening is played twice with colours reversed. A line of `--results` is a finished game, and a run with the same
file goes on where it stopped. See README.md beside this file.
"""

import argparse
import asyncio
import hashlib
import json
import math
import sys
from collections import Counter
from pathlib import Path

import chess

import client
import openings
import referee
from managers import _even, identity
from play import (
    EXIT_FAILED, REPOSITORY, Table, _positive, _setting, ended, finished, of_one_setting, runnable, write_whole,
)

NEEDED = ("number", "score", "failed", "trouble")
"""What the report, and a run that goes on, read of a game."""
NORMAL_95 = 1.96
"""Standard errors on either side within which a normal variable lies in 95 of 100 cases."""
STUDENT_95 = (12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26)
"""The same by Student's distribution, where the error itself is estimated: with 1, 2, ... 9 degrees of freedom."""


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--zeitnot", default=str(REPOSITORY / "target/release/zeitnot"), metavar="PATH")
    parser.add_argument("--opponent", metavar="PATH", help="default: Zeitnot itself, with the options of the opponent")
    parser.add_argument("--games", type=_even, default=80, metavar="N", help="at most two of each opening (default 80)")
    limit = parser.add_mutually_exclusive_group()
    limit.add_argument("--tc", metavar="[MOVES/]SECONDS[+INCREMENT]", help="default: 10+0.1")
    limit.add_argument("--nodes", type=_positive, metavar="N", help="nodes a move, and no clock")
    parser.add_argument("--concurrency", type=_positive, default=1, metavar="N", help="games at once")
    parser.add_argument("--option", type=_setting, action="append", default=[], metavar="NAME=VALUE", help="of Zeitnot")
    parser.add_argument("--opponent-option", type=_setting, action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--openings", type=Path, metavar="FILE", help="PGN or EPD; default: a built-in list")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the choice of openings")
    parser.add_argument("--results", type=Path, required=True, metavar="FILE", help="a line of JSON for each game")
    parser.add_argument("--report", action="store_true", help="play nothing, and only say what the file holds")
    return parser.parse_args()


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def setting(args: argparse.Namespace, control: referee.TimeControl) -> dict:
    """What games must have in common to be counted together. What lies in files is known by its hash."""

    def told(options: list[tuple[str, str]]) -> dict[str, str]:
        files = {name: digest(Path(value)) for name, value in options if Path(value).is_file()}
        return {name: f"{Path(value).name} {files[name]}" if name in files else value for name, value in options}

    engines = {
        name: {**{key: who[key] for key in ("name", "sha256")}, "options": told(options)}
        for name, who, options in (
            ("zeitnot", identity(args.zeitnot), args.option),
            ("opponent", identity(args.opponent), args.opponent_option),
        )
    }
    book = f"{args.openings.name} {digest(args.openings)}" if args.openings else "built-in"
    return {**engines, "control": control.text, "openings": book, "seed": args.seed, "concurrency": args.concurrency}


def trouble(table: Table) -> dict[str, list[str]]:
    """What the engines of a table said of trouble since they were asked last."""

    def drained(engines: list[client.RecordingUci]) -> list[str]:
        lists = [lines for engine in engines for lines in (engine.error_lines, engine.stderr_lines, engine.oddities)]
        lines = [line for some in lists for line in some]
        for some in lists:
            some.clear()
        return lines

    def processes(is_zeitnot: bool) -> list[client.RecordingUci]:
        playing = table.engines.get(is_zeitnot)
        return table.retired[is_zeitnot] + ([playing] if playing else [])

    return {"zeitnot": drained(processes(True)), "opponent": drained(processes(False))}


async def play_all(args: argparse.Namespace, control: referee.TimeControl, what: dict, known: set[int]) -> None:
    boards = openings.read(args.openings) if args.openings else openings.built_in()
    if args.games > 2 * len(boards):
        # A second game from the same opening with the same colours may be the same game.
        raise ValueError(f"--games {args.games}: {len(boards)} openings give {2 * len(boards)} games at most")
    schedule = list(enumerate(openings.schedule(boards, args.games, args.seed), 1))
    waiting = [item for item in schedule if item[0] not in known][::-1]

    async def host(table: Table) -> None:
        try:
            while waiting:
                number, (opening, zeitnot_is) = waiting.pop()
                game = await table.play(number, opening, zeitnot_is, control)
                done = {
                    "setting": what, "number": number, "fen": opening.root().fen(), "score": game.zeitnot_score,
                    "zeitnot": chess.COLOR_NAMES[zeitnot_is], "result": game.result, "reason": game.reason,
                    "failed": game.failed is not None and ("zeitnot" if game.failed == zeitnot_is else "opponent"),
                    "moves": " ".join(move.uci() for move in game.board.move_stack), "trouble": trouble(table),
                }
                with args.results.open("a", encoding="utf-8") as file:
                    print(json.dumps(done), file=file)
                print(f"game {number}: Zeitnot {done['zeitnot']}, {game.result} ({game.reason})", flush=True)
        finally:
            await table.close()

    await asyncio.gather(*(host(Table(args)) for _ in range(min(args.concurrency, args.games))))


def elo(score: float) -> float:
    """The difference in Elo at which this share of the points is expected; infinite for all of them and for none."""
    if score <= 0 or score >= 1:
        return math.copysign(math.inf, score - 0.5)
    return 400 * math.log10(score / (1 - score))


def errors_95(freedom: int) -> float:
    """Standard errors on either side of a mean that hold 95 of 100 cases, with so many degrees of freedom."""
    return STUDENT_95[freedom - 1] if freedom <= len(STUDENT_95) else NORMAL_95 + 2.5 / freedom


def estimate(scores: dict[int, float]) -> tuple[list[int], float, float, float]:
    """Of the scores of games by their numbers, the games 2n - 1 and 2n being a pair: how many pairs have 0, 1/2, ... 2
    points, the difference in Elo, and the ends of its interval of 95 %.

    Games of a pair are not independent of each other (the opening favours one side): the error is that of pairs.
    """
    pairs = [scores[first] + scores[first + 1] for first in scores if first % 2 and first + 1 in scores]
    counts = [sum(points == halves / 2 for points in pairs) for halves in range(5)]
    if not pairs:
        return counts, math.nan, -math.inf, math.inf
    mean = sum(pairs) / len(pairs) / 2
    variance = sum((points / 2 - mean) ** 2 for points in pairs) / max(1, len(pairs) - 1)
    if variance == 0:
        # So few pairs, or so much alike, tell nothing of their error.
        return counts, elo(mean), -math.inf, math.inf
    error = errors_95(len(pairs) - 1) * math.sqrt(variance / len(pairs))
    return counts, elo(mean), elo(mean - error), elo(mean + error)


def counted(path: Path, what: dict | None = None) -> list[dict]:
    """The games of a file of results; ValueError if they cannot count together, all of this setting or of one."""
    games = finished(path, *NEEDED)
    of_one_setting(path, games, what)
    times = Counter(game["number"] for game in games)
    if twice := [number for number in times if times[number] > 1]:
        raise ValueError(f"{path}: game {twice[0]} is there {times[twice[0]]} times: are these two runs' results?")
    return games


def report(games: list[dict]) -> bool:
    """Prints what the games come to. Returns whether Zeitnot forfeited, erred or crashed."""
    scores = {game["number"]: game["score"] for game in games}
    points = list(scores.values())
    counts, difference, low, high = estimate(scores)
    failures = {who: sum(game["failed"] == who for game in games) for who in ("zeitnot", "opponent")}
    print(f"{len(points)} games: +{points.count(1.0)} ={points.count(0.5)} -{points.count(0.0)}; "
          f"pairs with 0, 1/2, ... 2 points {counts}; Elo {difference:+.0f} [{low:+.0f}, {high:+.0f}]; "
          f"failures of Zeitnot {failures['zeitnot']}, of the opponent {failures['opponent']}")
    for game in games:
        for who, lines in game["trouble"].items():
            for line in lines:
                print(f"finding: game {game['number']}, {who}: {line}")
    return failures["zeitnot"] > 0


def main() -> int:
    args = arguments()
    args.opponent = args.opponent or args.zeitnot
    client.log_warnings()
    what = None
    if not args.report:
        runnable(args.zeitnot, args.opponent)
        parse, of_nodes = referee.TimeControl.parse, referee.TimeControl.of_nodes
        control = of_nodes(args.nodes) if args.nodes else parse(args.tc or "10+0.1")
        what = setting(args, control)
        games = counted(args.results, what) if args.results.exists() else []
        write_whole(args.results, games)
        asyncio.run(play_all(args, control, what, {game["number"] for game in games}))
    return EXIT_FAILED if report(counted(args.results, what)) else 0


if __name__ == "__main__":
    sys.exit(ended(main))
