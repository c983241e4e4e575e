#!/usr/bin/env python3
"""Plays Zeitnot against another UCI engine on real clocks and fails where it forfeits, errs or crashes.

See README.md beside this file.
"""

import argparse
import asyncio
import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import chess

import client
import openings
import referee
import summary

REPOSITORY = Path(__file__).resolve().parents[2]
DEBIAN_STOCKFISH = "/usr/games/stockfish"
EXIT_FAILED, EXIT_USAGE, EXIT_INTERRUPTED = 1, 2, 130


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--zeitnot", default=str(REPOSITORY / "target/release/zeitnot"), metavar="PATH")
    parser.add_argument("--opponent", metavar="PATH", help="default: the stockfish on PATH, or Debian's")
    parser.add_argument("--games", type=_positive, default=2, metavar="N")
    parser.add_argument("--tc", default="10+0.1", metavar="[MOVES/]SECONDS[+INCREMENT]")
    parser.add_argument("--concurrency", type=_positive, default=1, metavar="N", help="games at once; 1 measures best")
    parser.add_argument("--option", type=_setting, action="append", default=[], metavar="NAME=VALUE", help="of Zeitnot")
    parser.add_argument("--opponent-option", type=_setting, action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--openings", type=Path, metavar="FILE", help="PGN or EPD; default: a built-in list")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the order of the openings")
    parser.add_argument("--pgn", type=Path, metavar="FILE", help="where the games go")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where the report goes")
    return parser.parse_args()


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1")
    return int(text)


def _even(text: str) -> int:
    if _positive(text) % 2:
        raise argparse.ArgumentTypeError(f"{text} is odd, and everybody is to have both colours equally often")
    return int(text)


def _setting(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign or not name:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    return name, value


class Table:
    """Where one game after another is played, with engines that live on from game to game as under a match runner."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.commands = {
            True: (args.zeitnot, dict(args.option)),
            False: (args.opponent, dict(args.opponent_option)),
        }
        self.engines: dict[bool, client.RecordingUci] = {}
        self.retired: dict[bool, list[client.RecordingUci]] = {True: [], False: []}
        """Every process that has ended, Zeitnot's and the opponent's."""

    async def play(self, number: int, opening: chess.Board, zeitnot_is: chess.Color, control) -> referee.Game:
        for is_zeitnot, (path, options) in self.commands.items():
            if is_zeitnot not in self.engines:
                self.engines[is_zeitnot] = await client.launch(path, options)
        seats = {zeitnot_is: self.engines[True], not zeitnot_is: self.engines[False]}
        game = await referee.play(number, seats, zeitnot_is, opening, control)
        self.names = {side: engine.name for side, engine in seats.items()}
        if game.failure is not None:
            # What state it is in is anybody's guess.
            await self._retire(game.failed == zeitnot_is)
        return game

    async def _retire(self, is_zeitnot: bool) -> None:
        engine = self.engines.pop(is_zeitnot)
        await engine.end()
        self.retired[is_zeitnot].append(engine)

    async def close(self) -> None:
        for is_zeitnot in list(self.engines):
            await self._retire(is_zeitnot)


async def run(args: argparse.Namespace, control: referee.TimeControl, boards: list[chess.Board]) -> dict:
    log = client.log_warnings()
    waiting = list(enumerate(openings.schedule(boards, args.games, args.seed), 1))[::-1]
    games: list[referee.Game] = []
    tables = [Table(args) for _ in range(min(args.concurrency, args.games))]

    async def host(table: Table) -> None:
        try:
            while waiting:
                number, (opening, zeitnot_is) = waiting.pop()
                game = await table.play(number, opening, zeitnot_is, control)
                games.append(game)
                announce(game)
                if args.pgn:
                    with args.pgn.open("a", encoding="utf-8") as file:
                        print(referee.to_pgn(game, table.names, control), end="\n\n", file=file)
        finally:
            await table.close()

    await asyncio.gather(*(host(table) for table in tables))
    games.sort(key=lambda game: game.number)
    processes = [engine for table in tables for engine in table.retired[True]]
    report = summary.summarize(games)
    report["time_control"], report["seed"], report["concurrency"] = control.text, args.seed, args.concurrency
    report["zeitnot_options"], report["opponent_options"] = dict(args.option), dict(args.opponent_option)
    report["error_lines"] = [line for engine in processes for line in engine.error_lines]
    report["stderr_lines"] = [line for engine in processes for line in engine.stderr_lines]
    report["oddities"] = [line for engine in processes for line in engine.oddities]
    report["client_warnings"] = log.lines
    return report


def announce(game: referee.Game) -> None:
    overshoots = [
        answer.overshoot_ms
        for side, answer, _ in game.answers
        if side == game.zeitnot_is and answer.overshoot_ms is not None
    ]
    worst = f"{max(overshoots):+.1f} ms" if overshoots else "no plan seen"
    colour = chess.COLOR_NAMES[game.zeitnot_is]
    left = game.clocks_s[game.zeitnot_is]
    print(
        f"game {game.number}: Zeitnot {colour}, {game.result} ({game.reason}), {len(game.board.move_stack)} plies, "
        f"clock left {left:.2f} s, worst overshoot {worst}",
        flush=True,
    )


def print_summary(report: dict) -> None:
    results, opponent = report["results"], report["opponent"]
    print(
        f"{report['games']} games at {report['time_control']}: +{results['wins']} ={results['draws']} "
        f"-{results['losses']}; {report['moves']} moves of Zeitnot\n"
        f"Zeitnot: {report['forfeits']} forfeits, {report['illegal']} illegal moves, {report['crashes']} crashes; "
        f"opponent: {opponent['forfeits']}, {opponent['illegal']}, {opponent['crashes']}\n"
        f"overshoot of the hard limit: max {report['max_overshoot_ms']} ms, p99 {report['p99_overshoot_ms']} ms; "
        f"{report['moves_beyond_hard_limit']} moves beyond it\n"
        f"  by the engine's own clock: max {report['max_engine_overshoot_ms']} ms\n"
        f"between the engine's own time and the client's: max {report['max_client_lag_ms']} ms, "
        f"p99 {report['p99_client_lag_ms']} ms\n"
        f"clock: {report['average_clock_left_s']} s left on average, {report['lowest_clock_s']} s at the lowest"
    )
    if report["worst_moves"]:
        worst = report["worst_moves"][0]
        print(f"worst: game {worst['game']}, ply {worst['ply']}, {worst['move']} in {worst['fen']}\n  {worst['plan']}")
    for kind in ("moves_without_plan", "moves_with_late_plan"):
        if report[kind]:
            print(f"finding: {report[kind]} {kind.replace('_', ' ')}")
    for kind in ("error_lines", "stderr_lines", "oddities", "analysis_faults", "client_warnings"):
        for line in report[kind]:
            print(f"finding: {kind}: {line}")


def ended(main: Callable[[], int]) -> int:
    """Runs a script and returns its exit status; what can be expected to go wrong becomes one line."""
    try:
        return main()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return EXIT_INTERRUPTED
    except (ValueError, OSError, client.EngineTrouble) as error:
        print(f"error: {error}", file=sys.stderr)
        return EXIT_USAGE


def runnable(*programs: str) -> None:
    """ValueError for the first that is no program."""
    for path in programs:
        if not os.access(path, os.X_OK):
            raise ValueError(f"{path} is no program that can be run (see --zeitnot and --opponent)")


def main() -> int:
    args = arguments()
    if args.opponent is None:
        args.opponent = shutil.which("stockfish") or DEBIAN_STOCKFISH
    runnable(args.zeitnot, args.opponent)
    control = referee.TimeControl.parse(args.tc)
    boards = openings.read(args.openings) if args.openings else openings.built_in()
    for path in filter(None, (args.pgn, args.json)):
        path.write_text("", encoding="utf-8")
    report = asyncio.run(run(args, control, boards))
    if args.json:
        args.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    print_summary(report)
    return EXIT_FAILED if summary.failed(report) else 0


if __name__ == "__main__":
    sys.exit(ended(main))
