#!/usr/bin/env python3
"""Counts losses on time under a referee that others use: runs fastchess and sums up its games.

fastchess is not part of this repository: `--fastchess` says where it is. Each opening is played with both colours. Exit
code: 1 where Zeitnot lost on time more often than `--losses-allowed`, or with more on its clock than `--clock-allowed`,
played an illegal move, stalled or crashed. See README.md beside this file.
"""

import argparse
import asyncio
import json
import re
import shlex
import subprocess
import sys
from collections import Counter
from pathlib import Path

import chess
import chess.pgn

import client
import openings
import referee
from play import EXIT_FAILED, REPOSITORY, _even, _positive, _setting, ended, runnable

ZEITNOT, OPPONENT = "zeitnot", "opponent"
"""The names under which they play."""
GAMES, LOG, OUTPUT, BOOK = "games.pgn", "warnings.log", "output.txt", "openings.epd"
"""Files of the folder of a run."""

LOSS = re.compile(r"(White|Black) loses on time \((\d+)ms overrun\)")
TOOK = re.compile(r"(?:^|\s)(\d+(?:\.\d+)?)s(?:,|$|\s)")
WARNING = re.compile(r"Warning; (.*?)(?: - .*|: .*)?$")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fastchess", metavar="PATH")
    parser.add_argument("--zeitnot", default=str(REPOSITORY / "target/release/zeitnot"), metavar="PATH")
    parser.add_argument("--opponent", metavar="PATH", help="default: Zeitnot itself, whose losses then count, too")
    parser.add_argument("--option", type=_setting, action="append", default=[], metavar="NAME=VALUE", help="of Zeitnot")
    parser.add_argument("--opponent-option", type=_setting, action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--tc", default="1+0.01", metavar="[MOVES/]SECONDS[+INCREMENT]")
    parser.add_argument("--games", type=_even, default=100, metavar="N", help="default: 100")
    parser.add_argument("--concurrency", type=_positive, default=1, metavar="N", help="games at once")
    parser.add_argument("--openings", type=Path, metavar="FILE", help="PGN or EPD; default: a built-in list")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the choice of openings")
    parser.add_argument("--folder", type=Path, required=True, help="a new one, for the games and the warnings")
    parser.add_argument("--losses-allowed", type=int, default=0, metavar="N", help="of Zeitnot, on time (default 0)")
    parser.add_argument(
        "--clock-allowed", type=float, default=float("inf"), metavar="MS", help="at the `go` of a loss on time")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where the summary goes")
    parser.add_argument("--report", action="store_true", help="play nothing, and only sum up what the folder holds")
    return parser.parse_args()


def command(args: argparse.Namespace) -> list[str]:
    """The call of fastchess; it runs in the folder, so that nothing that it writes lies elsewhere."""

    def engine(name: str, path: str, options: list[tuple[str, str]]) -> list[str]:
        # A file that an option names is looked for from here.
        told = [(key, str(Path(value).resolve()) if Path(value).is_file() else value) for key, value in options]
        return ["-engine", f"cmd={Path(path).resolve()}", f"name={name}", *(f"option.{key}={value}" for key, value in told)]

    return [
        str(Path(args.fastchess).resolve()),
        *engine(ZEITNOT, args.zeitnot, args.option),
        *engine(OPPONENT, args.opponent or args.zeitnot, args.opponent_option),
        "-each", f"tc={args.tc}",
        "-openings", f"file={BOOK}", "format=epd", "order=sequential",
        "-rounds", str(args.games // 2), "-games", "2", "-concurrency", str(args.concurrency), "-recover",
        "-pgnout", f"file={GAMES}", "append=false", "timeleft=true", "latency=true", "nodes=true",
        "-log", f"file={LOG}", "level=warn", "append=false",
        "-config", "outname=config.json", "-autosaveinterval", "0", "-ratinginterval", "0",
    ]


async def ready(path: str, options: list[tuple[str, str]]) -> None:
    """client.EngineTrouble where an engine says an error once it has its options: a network that is not there, for one. fastchess
    does not show it, and the engine would play on with another network."""
    engine = await client.launch(path, dict(options))
    await engine.end()


def run(args: argparse.Namespace) -> None:
    asyncio.run(ready(args.zeitnot, args.option))
    asyncio.run(ready(args.opponent or args.zeitnot, args.opponent_option))
    boards = openings.read(args.openings) if args.openings else openings.built_in()
    chosen = [board for board, _ in openings.schedule(boards, args.games, args.seed)[::2]]
    args.folder.mkdir(parents=True, exist_ok=True)
    if (args.folder / GAMES).exists():
        raise ValueError(f"{args.folder / GAMES} is there already: take another folder, or --report")
    (args.folder / BOOK).write_text("".join(board.fen() + "\n" for board in chosen), encoding="utf-8")
    call = command(args)
    print(shlex.join(call), flush=True)
    with (args.folder / OUTPUT).open("w", encoding="utf-8") as output:
        done = subprocess.run(call, cwd=args.folder, stdout=output, stderr=subprocess.STDOUT, check=False)
    if done.returncode:
        last = (args.folder / OUTPUT).read_text(encoding="utf-8", errors="replace").strip().splitlines()[-1:]
        raise ValueError(f"fastchess ended with {done.returncode}: {' '.join(last)}")


def read(path: Path) -> list[chess.pgn.Game]:
    with path.open(encoding="utf-8", errors="replace") as file:
        return list(iter(lambda: chess.pgn.read_game(file), None))


def times(game: chess.pgn.Game, side: chess.Color) -> list[float]:
    """Milliseconds that each move of a side took, those of a book left out."""
    moves = [node for node in game.mainline() if node.turn() != side]
    found = [TOOK.search(node.comment) for node in moves]
    return [float(match[1]) * 1e3 for match in found if match]


def loss(game: chess.pgn.Game) -> dict | None:
    """Who lost on time, by how much, and what was on the clock at the `go`; `None` of another game."""
    last = game.end().comment
    match = LOSS.search(last)
    if not match:
        return None
    side = match[1] == "White"
    control = referee.TimeControl.parse(game.headers["TimeControl"])
    used = times(game, side)
    # A move that came too late is the last of the game; one that never came is not there.
    late = game.end().turn() != side and bool(used)
    made = used[:-1] if late else used
    # fastchess begins with an increment on the clock.
    clock = (control.base_s + control.increment_s) * 1e3
    for number, took in enumerate(made, 1):
        clock += control.increment_s * 1e3 - took
        if control.moves and number % control.moves == 0:
            clock += control.base_s * 1e3
    overrun = int(match[2])
    return {
        "loser": game.headers[match[1]], "colour": chess.COLOR_NAMES[side], "overrun_ms": overrun,
        "clock_ms": round(clock), "used_ms": round(used[-1] if late else clock + overrun), "move": len(made) + 1,
        "answered": late,
    }


def summarize(games: list[chess.pgn.Game], log: str) -> dict:
    losses = [{"game": number, **found} for number, game in enumerate(games, 1) if (found := loss(game))]
    others = Counter()
    for game in games:
        termination = game.headers.get("Termination", "")
        if termination not in ("normal", "adjudication", "time forfeit"):
            # Who is at fault has lost.
            loser = {"1-0": "Black", "0-1": "White"}.get(game.headers["Result"])
            others[f"{game.headers.get(loser or '', 'nobody')}: {termination or 'no termination'}"] += 1
    warnings = Counter(match[1] for line in log.splitlines() if (match := WARNING.search(line)))
    return {
        "games": len(games),
        "controls": sorted({game.headers.get("TimeControl", "-") for game in games}),
        "results": dict(Counter(_score(game) for game in games)),
        "losses_on_time": {name: sum(lost["loser"] == name for lost in losses) for name in (ZEITNOT, OPPONENT)},
        "losses": losses,
        "other_failures": dict(others),
        "warnings": dict(warnings),
    }


def _score(game: chess.pgn.Game) -> str:
    winner = {"1-0": "White", "0-1": "Black"}.get(game.headers["Result"])
    return "draw" if winner is None else f"{game.headers[winner]} won"


def report(args: argparse.Namespace, found: dict) -> bool:
    """Prints the summary. Returns whether Zeitnot failed."""
    names = (ZEITNOT,) if args.opponent else (ZEITNOT, OPPONENT)
    lost = found["losses_on_time"]
    print(f"{found['games']} games at {', '.join(found['controls'])}: {found['results']}")
    print(f"lost on time: {ZEITNOT} {lost[ZEITNOT]}, {OPPONENT} {lost[OPPONENT]}")
    for item in found["losses"]:
        answer = f"used {item['used_ms']} ms" if item["answered"] else "no answer"
        print(
            f"loss: game {item['game']}, {item['loser']} ({item['colour']}), move {item['move']}: {item['overrun_ms']} ms "
            f"over; clock at the go {item['clock_ms']} ms, {answer}"
        )
    for failure, count in found["other_failures"].items():
        print(f"failure: {failure}, {count} games")
    for warning, count in found["warnings"].items():
        print(f"warning: {count} times: {warning}")
    mine = [item for item in found["losses"] if item["loser"] in names]
    wrong = [failure for failure in found["other_failures"] if failure.split(":")[0] in (*names, "nobody")]
    if len(mine) > args.losses_allowed:
        wrong.append(f"{len(mine)} losses on time, {args.losses_allowed} allowed")
    if rich := [item["clock_ms"] for item in mine if item["clock_ms"] > args.clock_allowed]:
        wrong.append(f"losses with {', '.join(map(str, rich))} ms on the clock, {args.clock_allowed:g} allowed")
    if not args.report and found["games"] != args.games:
        wrong.append(f"{found['games']} games of {args.games} are there")
    for line in wrong:
        print(f"FAILED: {line}")
    return bool(wrong)


def main() -> int:
    args = arguments()
    referee.TimeControl.parse(args.tc)
    if not args.report:
        if not args.fastchess:
            raise ValueError("--fastchess is needed to play; tests/games/README.md says how to get it")
        runnable(args.fastchess, args.zeitnot, args.opponent or args.zeitnot)
        run(args)
    log = args.folder / LOG
    found = summarize(read(args.folder / GAMES), log.read_text(encoding="utf-8") if log.exists() else "")
    if args.json:
        args.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return EXIT_FAILED if report(args, found) else 0


if __name__ == "__main__":
    sys.exit(ended(main))
