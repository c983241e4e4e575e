#!/usr/bin/env python3
"""Lets the engine analyse for hours, one position after another, and checks that its memory stays within the limit.

Every position is analysed for a random time: most follow the line that the engine expects, with what the tree kept, the others begin
another game. Now and then the number of lines and the network change. No move may come before `stop`; after it the move must be legal
and there within `--stop-timeout` seconds, and the memory must stay within RamLimitMb and `--slack-mb` (program, networks, what the
allocator keeps). A run that never comes near the limit has shown nothing, and fails. Each run adds a line to `--results`, however it
ends; give the next one another `--seed`. Linux only: memory comes from /proc. Exit code: 1 where one of these failed.
"""

import argparse
import asyncio
import hashlib
import json
import random
import re
import signal
import sys
import time
from datetime import datetime, timezone
from pathlib import Path

import chess
import chess.engine

import client
import openings
from play import EXIT_FAILED, EXIT_INTERRUPTED, REPOSITORY, _positive, _setting, ended, runnable

SERIES = 20
"""Positions between two changes of network and lines."""
COUNTS = ("hours", "positions", "nodes", "near_limit", "peak_mb", "slowest_ms")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--zeitnot", default=str(REPOSITORY / "target/release/zeitnot"), metavar="PATH")
    parser.add_argument("--hours", type=float, default=0.1, metavar="H", help="default 0.1")
    parser.add_argument("--max-seconds", type=float, default=60, metavar="S", help="of one position (default 60)")
    parser.add_argument("--ram-limit", type=_positive, default=100, metavar="MB", help="RamLimitMb (default 100)")
    parser.add_argument("--slack-mb", type=_positive, default=150, metavar="MB", help="memory beside tree and cache (default 150)")
    parser.add_argument("--stop-timeout", type=float, default=2, metavar="S", help="longest wait for a move after stop (default 2)")
    parser.add_argument("--network", action="append", default=[], metavar="FILE", help="they take turns; default: the built-in one")
    parser.add_argument("--option", type=_setting, action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument("--results", type=Path, metavar="FILE", help="where a line for this run is added")
    return parser.parse_args()


def memory_mb(process: int) -> tuple[float, float]:
    """What is resident, and the most that ever was."""
    text = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    resident, peak = (int(re.search(rf"^{name}:\s+(\d+) kB", text, re.M)[1]) / 1e3 for name in ("VmRSS", "VmHWM"))
    return resident, peak


def next_position(board: chess.Board, line: list[chess.Move], starts: list[chess.Board], chance: random.Random) -> chess.Board:
    """The position after the first moves of the line; or that of another game, where this one is over and a fifth of the time."""
    board = board.copy()
    if line and chance.random() < 0.8:
        for move in line[:2]:
            board.push(move)
        if not board.is_game_over(claim_draw=True):
            return board
    return chance.choice(starts).copy()


async def ended_with(engine: client.RecordingUci) -> int | None:
    """The exit code, where the process has ended."""
    try:
        return await asyncio.wait_for(asyncio.shield(engine.returncode), 1)
    except (TimeoutError, asyncio.TimeoutError):
        return None


async def analyse(args: argparse.Namespace, run: dict) -> None:
    """Analyses until the time is over or something is wrong, and keeps what it saw in `run`."""
    chance, starts, warnings = random.Random(args.seed), openings.built_in(), client.log_warnings()
    engine = await client.launch(args.zeitnot, {**dict(args.option), "RamLimitMb": str(args.ram_limit)})
    process, begin = engine.transport.get_pid(), time.monotonic()
    board, line, lines = chance.choice(starts).copy(), [], 1
    try:
        while time.monotonic() < begin + args.hours * 3600:
            if run["positions"] % SERIES == 0:
                lines = chance.choice((1, 1, 3))
                if args.network:
                    await engine.configure({"WeightsFile": args.network[run["positions"] // SERIES % len(args.network)]})
            board = next_position(board, line, starts, chance)
            analysis = await engine.analysis(board, multipv=lines)
            # Most are short, few are long.
            await asyncio.sleep(min(chance.expovariate(4 / args.max_seconds), args.max_seconds))
            resident, peak = memory_mb(process)
            early, stopped = engine.answers[-1].received is not None, time.monotonic()
            analysis.stop()
            best = (await asyncio.wait_for(analysis.wait(), 5 * args.stop_timeout)).move
            took = time.monotonic() - stopped
            wrong = [
                (early, "a move before stop"),
                # python-chess forgives other spellings.
                (best is None or engine.answers[-1].best != best.uci(), f"{engine.answers[-1].best} is no move here"),
                (took > args.stop_timeout, f"{took:.2f} s from stop to the move"),
                (peak > args.ram_limit + args.slack_mb, f"{peak:.0f} MB"),
            ]
            run["failures"] += [f"{board.fen()}: {what}" for is_so, what in wrong if is_so]
            line = analysis.info.get("pv", [])
            run["positions"] += 1
            run["nodes"] += analysis.info.get("nodes", 0)
            run["near_limit"] += resident > 0.9 * args.ram_limit
            run["peak_mb"] = round(peak)
            run["slowest_ms"] = max(run["slowest_ms"], round(took * 1e3))
            run["hours"] = round((time.monotonic() - begin) / 3600, 3)
            if run["positions"] % (5 * SERIES) == 0:
                print(", ".join(f"{name} {run[name]}" for name in COUNTS), file=sys.stderr, flush=True)
            # The engine plays on with another network, which is not what was asked for.
            if engine.error_lines:
                break
    except (chess.engine.EngineError, OSError, TimeoutError, asyncio.TimeoutError) as error:
        # An illegal move is none to python-chess, which then waits for another.
        run["failures"].append(f"{board.fen()}: {error!r}; answered: {engine.answers[-1].best if engine.answers else None}")
        if (code := await ended_with(engine)) is not None:
            run["failures"].append(f"the engine ended with {code}")
    finally:
        run["failures"] += engine.error_lines + engine.stderr_lines + engine.oddities + warnings.lines
        await engine.end()


def main() -> int:
    args = arguments()
    runnable(args.zeitnot)
    run = {
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "program": hashlib.sha256(Path(args.zeitnot).read_bytes()).hexdigest(),
        "asked": {name: value for name, value in vars(args).items() if name not in ("zeitnot", "results")},
        **dict.fromkeys(COUNTS, 0), "failures": [],
    }
    # As Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        asyncio.run(analyse(args, run))
        if not run["near_limit"]:
            run["failures"].append(f"the memory never came near {args.ram_limit} MB: a smaller --ram-limit shows more")
    except KeyboardInterrupt:
        run["interrupted"] = True
    print(json.dumps(run, indent=1))
    if args.results:
        with args.results.open("a", encoding="utf-8") as results:
            results.write(json.dumps(run) + "\n")
    return EXIT_FAILED if run["failures"] else EXIT_INTERRUPTED if "interrupted" in run else 0


if __name__ == "__main__":
    sys.exit(ended(main))
