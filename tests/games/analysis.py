#!/usr/bin/env python3
"""Lets the engine analyse for hours, one position after another, and checks that its memory stays within the limit.

Every position is analysed for a random time: the next of its game, with what the tree kept, or one of another game. Now and then
MultiPV and the network change. After each `stop` the move must be legal, there within `--answer` seconds, and the resident memory
within RamLimitMb and `--beside` (program, network, what the allocator keeps). Each run adds a line to `--results`, so that runs add
up. Linux only: memory comes from /proc. Exit code: 1 where one of these failed.
"""

import argparse
import asyncio
import json
import os
import random
import sys
import time
from pathlib import Path

import chess
import chess.engine

import client
import openings
from play import EXIT_FAILED, REPOSITORY, _positive, _setting, ended, runnable


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--zeitnot", default=str(REPOSITORY / "target/release/zeitnot"), metavar="PATH")
    parser.add_argument("--hours", type=float, default=0.1, metavar="H", help="default 0.1")
    parser.add_argument("--longest", type=float, default=60, metavar="S", help="of one position (default 60)")
    parser.add_argument("--ram-limit", type=_positive, default=500, metavar="MB", help="RamLimitMb (default 500)")
    parser.add_argument("--beside", type=_positive, default=250, metavar="MB", help="memory beside tree and cache (default 250)")
    parser.add_argument("--answer", type=float, default=2, metavar="S", help="longest wait for a move after stop (default 2)")
    parser.add_argument("--network", action="append", default=[], metavar="FILE", help="they take turns; default: the built-in one")
    parser.add_argument("--option", type=_setting, action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument("--results", type=Path, metavar="FILE", help="where a line for this run is added")
    return parser.parse_args()


def resident_mb(process: int) -> float:
    pages = int(Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def next_position(board: chess.Board, starts: list[chess.Board], chance: random.Random) -> chess.Board:
    """Two plies on in the same game, or another one where that is over or a quarter of the time."""
    board = board.copy()
    if chance.random() < 0.75:
        for _ in range(2):
            if moves := list(board.legal_moves):
                board.push(chance.choice(moves))
        if not board.is_game_over(claim_draw=True):
            return board
    return chance.choice(starts).copy()


async def analyse(args: argparse.Namespace) -> dict:
    chance, starts = random.Random(args.seed), openings.built_in()
    options = {**dict(args.option), "RamLimitMb": str(args.ram_limit)}
    engine = await client.launch(args.zeitnot, options)
    process = engine.transport.get_pid()
    board, failures, largest, slowest, positions, nodes = starts[0], [], [], 0.0, 0, 0
    begin = time.monotonic()
    while (now := time.monotonic()) < begin + args.hours * 3600:
        if positions % 20 == 0:
            changed = {"MultiPV": chance.choice((1, 1, 3))}
            if args.network:
                changed["WeightsFile"] = args.network[positions // 20 % len(args.network)]
            # python-chess keeps MultiPV to itself, and gives it with the analysis.
            several = changed.pop("MultiPV")
            await engine.configure(changed)
        board = next_position(board, starts, chance)
        # Most are short, few are long.
        pause = min(chance.expovariate(4 / args.longest), args.longest)
        analysis = await engine.analysis(board, multipv=several)
        await asyncio.sleep(pause)
        memory = resident_mb(process)
        stopped = time.monotonic()
        analysis.stop()
        try:
            best = (await asyncio.wait_for(analysis.wait(), 60)).move
        except (asyncio.TimeoutError, chess.engine.EngineError) as error:
            failures.append(f"position {positions}, {board.fen()}: {error!r}")
            break
        took = time.monotonic() - stopped
        slowest, positions = max(slowest, took), positions + 1
        nodes += analysis.info.get("nodes", 0) if several == 1 else 0
        largest.append((now - begin, memory))
        if best not in board.legal_moves:
            failures.append(f"{board.fen()}: {best} is not legal")
        if took > args.answer:
            failures.append(f"{board.fen()}: {took:.2f} s from stop to the move")
        if memory > args.ram_limit + args.beside:
            failures.append(f"{board.fen()}: {memory:.0f} MB resident")
    hours = (time.monotonic() - begin) / 3600
    failures += engine.error_lines + engine.stderr_lines + engine.oddities
    await engine.end()
    halves = [[mb for at, mb in largest if (at < hours * 1800) == first] for first in (True, False)]
    return {
        "hours": round(hours, 3), "positions": positions, "nodes_told": nodes, "ram_limit_mb": args.ram_limit,
        "largest_mb_by_halves": [round(max(half, default=0)) for half in halves],
        "slowest_answer_ms": round(slowest * 1e3), "options": dict(args.option), "networks": args.network, "seed": args.seed,
        "failures": failures,
    }


def main() -> int:
    args = arguments()
    runnable(args.zeitnot)
    found = asyncio.run(analyse(args))
    print(json.dumps(found, indent=1))
    if args.results:
        with args.results.open("a", encoding="utf-8") as results:
            results.write(json.dumps(found) + "\n")
    return EXIT_FAILED if found["failures"] else 0


if __name__ == "__main__":
    sys.exit(ended(main))
