#!/usr/bin/env python3
"""Games of Zeitnot against itself in which both sides think on the opponent's time.

python-chess speaks the protocol (`go ponder`, `ponderhit`, `stop`); the clocks are the script's. Exit code 1: a clock ran
out, a move came although neither `ponderhit` nor `stop` was said, an error line came, python-chess warned of something
(a line that it did not expect, anything on stderr), or nothing was ever pondered.

With `--engine` more than once the programs play in turns, each against itself, so that both meet the same load; `--burners`
makes one. The last lines tell how many games of each were lost on time.
"""

import argparse
import asyncio
import contextlib
import subprocess
import sys
import time

import chess
import chess.engine

from client import Console, log_warnings, typed
from referee import TimeControl


class PonderingUci(chess.engine.UciProtocol):
    """An engine that is watched while it ponders."""

    def __init__(self) -> None:
        super().__init__()
        self.pondering = False
        self.hits = self.misses = 0
        self.late = 0
        self.trouble: list[str] = []
        self.console = Console()

    def send_line(self, line: str) -> None:
        if line.startswith("go ponder"):
            self.pondering = True
        elif line == "ponderhit":
            self.hits += 1
            self.pondering = False
        elif line == "stop" and self.pondering:
            self.misses += 1
            self.pondering = False
        elif line == "quit":
            self.pondering = False
        super().send_line(line)

    def error_line_received(self, line: str) -> None:
        self.console.error(line)

    def line_received(self, line: str) -> None:
        self.console.output(line)
        if line.startswith("bestmove") and self.pondering:
            self.trouble.append(f"a move while pondering: {line}")
        elif line.startswith("info string ERROR"):
            self.trouble.append(line)
        super().line_received(line)


async def play(engines: list[PonderingUci], base_s: float, increment_s: float) -> tuple[str, int]:
    """One game; its result and its plies."""
    board = chess.Board()
    clocks = [base_s, base_s]
    game = object()
    while (outcome := board.outcome()) is None and not board.is_repetition(3) and board.halfmove_clock < 100:
        side = 0 if board.turn == chess.WHITE else 1
        limit = chess.engine.Limit(
            white_clock=clocks[0], black_clock=clocks[1], white_inc=increment_s, black_inc=increment_s
        )
        began = time.monotonic()
        answer = await engines[side].play(board, limit, game=game, ponder=True)
        clocks[side] -= time.monotonic() - began
        if clocks[side] < 0:
            engines[side].late += 1
            engines[side].trouble.append(f"out of time after {board.fullmove_number} moves by {-clocks[side]:.3f} s")
            return ("0-1", "1-0")[side], board.ply()
        clocks[side] += increment_s
        board.push(answer.move)
    return outcome.result() if outcome else "1/2-1/2", board.ply()


async def start(path: str, options: list[str]) -> PonderingUci:
    _, engine = await PonderingUci.popen(path)
    await engine.initialize()
    # A value of the wrong type would look changed at every move to python-chess, which then never says `ponderhit`.
    pairs = dict(option.split("=", 1) for option in options)
    await engine.configure({name: typed(engine, name, value) for name, value in pairs.items()})
    await engine.ping()
    return engine


@contextlib.contextmanager
def load(burners: int):
    """Processes that compute all the time."""
    processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(burners)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()


async def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", action="append", metavar="PATH", help="default: target/release/zeitnot")
    parser.add_argument("--games", type=int, default=2, help="of each engine")
    parser.add_argument("--burners", type=int, default=0, metavar="N", help="processes that compute beside them")
    parser.add_argument("--tc", default="10+0.1", metavar="SECONDS+INCREMENT")
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE")
    args = parser.parse_args()
    if wrong := [option for option in args.option if "=" not in option]:
        parser.error(f"{wrong[0]!r} is not NAME=VALUE")
    try:
        control = TimeControl.parse(args.tc)
    except ValueError as error:
        parser.error(str(error))
    if control.moves:
        parser.error("a number of moves is not supported here: --tc SECONDS+INCREMENT")
    warnings = log_warnings(unexpected_output=True)
    paths = args.engine or ["target/release/zeitnot"]
    pairs = [[await start(path, args.option) for _ in range(2)] for path in paths]
    with load(args.burners):
        for number in range(args.games):
            for path, engines in zip(paths, pairs):
                result, plies = await play(engines, control.base_s, control.increment_s)
                late = sum(engine.late for engine in engines)
                print(f"game {number + 1} of {path}: {result} after {plies} plies; {late} lost on time so far", flush=True)
    engines = [engine for pair in pairs for engine in pair]
    for engine in engines:
        await engine.quit()
    hits, misses = (sum(getattr(engine, name) for engine in engines) for name in ("hits", "misses"))
    # An engine may say what plays at any time; python-chess expects that only in a search.
    unexpected = [line for line in warnings.lines if "info string" not in line or "info string ERROR" in line]
    trouble = [line for engine in engines for line in engine.trouble + engine.console.trouble()] + unexpected
    print(f"{hits} ponder hits, {misses} misses, {len(trouble)} troubles")
    for line in trouble:
        print(line)
    for path, pair in zip(paths, pairs):
        print(f"{path}: {sum(engine.late for engine in pair)} of {args.games} games lost on time")
    return 1 if trouble or not hits or not misses else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
