#!/usr/bin/env python3
"""Measures how late Zeitnot answers on a short clock: the time used less the hard limit of its plan, with a warm tree.

For each search a game of its own: `go wtime 1` without a tree, `go nodes` until the tree has `--nodes`, `go wtime CLOCK`
(no increment), and `go wtime 1` with the tree; a pause before each. Exit code: 1 where a `--...-bar` was missed. See
README.md beside this file.
"""

import argparse
import asyncio
import json
import re
import statistics
import sys
from pathlib import Path

import chess
import chess.engine

import client
import openings
from play import EXIT_FAILED, REPOSITORY, _positive, _setting, ended, runnable

PAUSE_S = 0.5
"""Before each search, so that the batches of the one before have come to their end."""

ATTEMPTS = 6
"""Searches for a tree of the size that is wanted; each asks for twice as many nodes as the one before."""

PATIENCE_S = 120.0
"""The longest wait for any move, the warming of a large network among them."""

NODES = re.compile(r"\bnodes (\d+)")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--zeitnot", default=str(REPOSITORY / "target/release/zeitnot"), metavar="PATH")
    parser.add_argument("--option", type=_setting, action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--searches", type=_positive, default=30, metavar="N")
    parser.add_argument("--nodes", type=_positive, default=300, metavar="N", help="of the tree, at least (default 300)")
    parser.add_argument(
        "--clock", type=_positive, action="append", metavar="MS", help="taken in turn; default: 400, 500, ... 1000")
    parser.add_argument("--openings", type=Path, metavar="FILE", help="PGN or EPD; default: a built-in list")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the choice of openings")
    parser.add_argument("--median-bar", type=float, metavar="MS", help="of the time beyond the hard limit")
    parser.add_argument("--largest-bar", type=float, metavar="MS", help="of the time beyond the hard limit")
    parser.add_argument("--one-ms-bar", type=float, metavar="MS", help="of the median of `go wtime 1` with a tree")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where the figures go")
    return parser.parse_args()


async def ask(
    engine: client.RecordingUci, board: chess.Board, limit: chess.engine.Limit, game: object
) -> client.Answer:
    """The answer to one `go`, after a pause."""
    await asyncio.sleep(PAUSE_S)
    try:
        await asyncio.wait_for(engine.play(board, limit, game=game), PATIENCE_S)
    except (TimeoutError, asyncio.TimeoutError) as error:
        raise client.EngineTrouble(f"no move within {PATIENCE_S:g} s of {engine.answers[-1].go}") from error
    except chess.engine.EngineError as error:
        stderr = "; ".join(engine.stderr_lines[-3:])
        raise client.EngineTrouble(f"{error}" + (f" ({stderr})" if stderr else "")) from error
    return engine.answers[-1]


def clock(milliseconds: int) -> chess.engine.Limit:
    return chess.engine.Limit(white_clock=milliseconds / 1e3, black_clock=milliseconds / 1e3)


async def warm(engine: client.RecordingUci, board: chess.Board, nodes: int, game: object) -> int:
    """Makes a tree of this many nodes at least and returns its size. The search is asked for more than that: smart pruning
    may end it early."""
    grown = 0
    for attempt in range(1, ATTEMPTS + 1):
        answer = await ask(engine, board, chess.engine.Limit(nodes=nodes * 2**attempt), game)
        match = NODES.search(answer.info or "")
        grown = int(match[1]) if match else 0
        if grown >= nodes:
            return grown
    raise client.EngineTrouble(f"no tree of {nodes} nodes, but one of {grown}, after {board.fen()}")


async def measure(args: argparse.Namespace, boards: list[chess.Board]) -> list[dict]:
    clocks = args.clock or list(range(400, 1001, 100))
    engine = await client.launch(args.zeitnot, dict(args.option))
    searches = []
    try:
        for number, (board, _) in enumerate(openings.schedule(boards, 2 * args.searches, args.seed)[::2], 1):
            game = object()
            cold = await ask(engine, board, clock(1), game)
            nodes = await warm(engine, board, args.nodes, game)
            answer = await ask(engine, board, clock(clocks[(number - 1) % len(clocks)]), game)
            one = await ask(engine, board, clock(1), game)
            if answer.overshoot_ms is None:
                raise client.EngineTrouble(f"no plan with a hard limit before the move of {answer.go}")
            search = {
                "number": number, "fen": board.fen(), "clock_ms": answer.clock_ms, "tree_nodes": nodes,
                "hard_limit_ms": answer.hard_limit_ms, "used_ms": round(answer.elapsed_s * 1e3, 2),
                "engine_ms": answer.engine_ms, "beyond_ms": round(answer.overshoot_ms, 2),
                "one_ms_warm": round(one.elapsed_s * 1e3, 2), "one_ms_cold": round(cold.elapsed_s * 1e3, 2),
            }
            searches.append(search)
            print(
                f"search {number}: clock {search['clock_ms']} ms, tree {nodes} nodes, hard limit "
                f"{search['hard_limit_ms']:g} ms, used {search['used_ms']} ms, beyond {search['beyond_ms']:+.1f} ms; "
                f"go wtime 1: {search['one_ms_warm']} ms, without a tree {search['one_ms_cold']} ms",
                flush=True,
            )
    finally:
        await engine.end()
    for line in engine.error_lines + engine.stderr_lines + engine.oddities:
        print(f"finding: {line}")
    return searches


def report(args: argparse.Namespace, searches: list[dict]) -> bool:
    """Prints the figures. Returns whether a bar was missed."""
    missed = []

    def figure(name: str, key: str, median_bar: float | None, largest_bar: float | None) -> None:
        values = [search[key] for search in searches]
        median, largest = statistics.median(values), max(values)
        print(f"{name}: median {median:.1f} ms, largest {largest:.1f} ms, of {len(values)}")
        for text, value, bar in (("median", median, median_bar), ("largest", largest, largest_bar)):
            if bar is not None and value > bar:
                missed.append(f"{name}: the {text} is {value:.1f} ms, more than {bar:g} ms")

    figure("beyond the hard limit", "beyond_ms", args.median_bar, args.largest_bar)
    figure("go wtime 1 with a tree", "one_ms_warm", args.one_ms_bar, None)
    figure("go wtime 1 without a tree", "one_ms_cold", None, None)
    for line in missed:
        print(f"MISSED: {line}")
    return bool(missed)


def main() -> int:
    args = arguments()
    client.log_warnings()
    runnable(args.zeitnot)
    boards = openings.read(args.openings) if args.openings else openings.built_in()
    searches = asyncio.run(measure(args, boards))
    if args.json:
        args.json.write_text(json.dumps(searches, indent=1) + "\n", encoding="utf-8")
    return EXIT_FAILED if report(args, searches) else 0


if __name__ == "__main__":
    sys.exit(ended(main))
