#!/usr/bin/env python3
"""Plays the time managers against each other on real clocks, and says how each of them spent its time.

Every manager meets every other one, with both colours; each has `--games` games under each control. A line of
`--results` is a finished game, and a run with the same file goes on where it stopped. See README.md beside this file.
"""

import argparse
import asyncio
import hashlib
import json
import os
import random
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import chess

import client
import openings
import referee
from play import EXIT_FAILED, REPOSITORY, _positive, _setting, ended, finished, of_one_setting, runnable, write_whole
from summary import percentile

MANAGERS = (
    "smooth", "smooth(preset=pr1195)", "smooth(preset=lc0)", "legacy", "simple", "alphazero", "adaptive", "complexity",
    "soft-hard",
)
CONTROLS = ("1+0.01", "2+0", "40/5", "10+0.1", "60+0.6")
NEEDED = ("tc", "number", "white", "black", "opening", "result", "reason", "failed", "seats")
"""What the report, and a run that goes on, read of a game."""
PHASES = ("Opening", "EarlyMiddlegame", "LateMiddlegame", "Endgame")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--zeitnot", default=str(REPOSITORY / "target/release/zeitnot"), metavar="PATH")
    parser.add_argument("--manager", action="append", metavar="SPEC", help="default: all that there are")
    parser.add_argument("--tc", action="append", metavar="[MOVES/]SECONDS[+INCREMENT]", help=f"default: {CONTROLS}")
    parser.add_argument("--games", type=_even, default=30, metavar="N", help="of each manager under each control")
    parser.add_argument("--concurrency", type=_positive, default=1, metavar="N", help="games at once")
    parser.add_argument(
        "--option", type=_setting, action="append", default=[], metavar="NAME=VALUE", help="of all of them")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the choice of openings")
    parser.add_argument("--results", type=Path, required=True, metavar="FILE", help="a line of JSON for each game")
    parser.add_argument("--report", action="store_true", help="play nothing, and only say what the file holds")
    return parser.parse_args()


def pairings(count: int, games: int) -> list[tuple[int, int, int]]:
    """White, black and the number of the opening, so that each of `count` players has `games` games, half of them with
    either colour. Two games with colours reversed begin alike. In `2 (count - 1)` games everybody meets everybody."""
    distances = list(range(1, count)) or [0]
    pairs = []
    for turn in range(games // 2):
        distance = distances[turn % len(distances)]
        for player in range(count):
            other = (player + distance) % count
            lap = turn // len(distances)
            opening = (lap * count + min(player, other)) * count + max(player, other)
            pairs.append((player, other, opening))
    return pairs


def _even(text: str) -> int:
    if _positive(text) % 2:
        raise argparse.ArgumentTypeError(f"{text} is odd, and everybody is to have both colours equally often")
    return int(text)


async def play_one(args: argparse.Namespace, job: dict, opening: chess.Board) -> dict:
    """Plays a game with two new processes, and says what came of it."""
    seats = {chess.WHITE: job["white"], chess.BLACK: job["black"]}
    engines: dict[chess.Color, client.RecordingUci] = {}
    try:
        for side, manager in seats.items():
            options = {"TimeManagerLog": "true", **dict(args.option), "TimeManager": manager}
            engines[side] = await client.launch(args.zeitnot, options)
        game = await referee.play(job["number"], engines, chess.WHITE, opening, referee.TimeControl.parse(job["tc"]))
    finally:
        for engine in engines.values():
            await engine.end()
    failed = game.failed is not None and chess.COLOR_NAMES[game.failed]
    found = {name: spent(game, side, engines[side]) for side, name in ((True, "white"), (False, "black"))}
    plies = len(game.board.move_stack)
    return {
        **job, "setting": setting(args), "engine": args.engine, "concurrency": args.concurrency, "result": game.result,
        "reason": game.reason, "plies": plies, "failed": failed, "seats": found,
    }


def setting(args: argparse.Namespace) -> dict:
    """What games must have in common to be counted together: the program, what it is told, and the openings."""
    return {"sha256": args.engine["sha256"], "options": dict(args.option), "seed": args.seed}


def identity(path: str) -> dict:
    """Which program it is: what it calls itself, the hash of its file, and the revision of the sources beside this
    script (`+` where they were changed since)."""

    def output(*command: str, input: str = "") -> str:
        done = subprocess.run(
            command, input=input, capture_output=True, text=True, cwd=REPOSITORY, check=False, timeout=client.STARTUP_S
        )
        return done.stdout.strip()

    name = re.search(r"^id name (.*)$", output(os.path.abspath(path), input="uci\nquit\n"), re.MULTILINE)
    revision = output("git", "rev-parse", "--short=12", "HEAD")
    changed = output("git", "status", "--porcelain", "--untracked-files=no")
    digest = hashlib.sha256(Path(path).read_bytes()).hexdigest()[:16]
    return {"name": name[1] if name else None, "sha256": digest, "revision": revision + "+" * bool(changed)}


def spent(game: referee.Game, side: chess.Color, engine: client.RecordingUci) -> dict:
    """What one player did with its time."""
    mine = [answer for who, answer, _ in game.answers if who == side]
    by_phase = dict.fromkeys(PHASES, 0.0)
    for answer in mine:
        if answer.phase in by_phase:
            by_phase[answer.phase] += answer.elapsed_s * 1e3
    timed = [answer for answer in mine if answer.due_ms is not None and answer.stopped_by == "time"]
    aimed = [answer for answer in mine if answer.target_nodes]
    overshoots = [round(answer.overshoot_ms, 2) for answer in mine if answer.overshoot_ms is not None]
    return {
        "left_ms": round(game.clocks_s[side] * 1e3, 1),
        "moves": len(mine),
        "overshoot_ms": max(overshoots, default=None),
        "phase_ms": {phase: round(ms, 1) for phase, ms in by_phase.items()},
        "late_ms": [round(answer.elapsed_s * 1e3 - answer.due_ms, 1) for answer in timed],
        "node_ratio": [round(answer.nodes / answer.target_nodes, 4) for answer in aimed],
        "trouble": engine.error_lines + engine.stderr_lines + engine.oddities,
    }


async def play_all(args: argparse.Namespace, jobs: list[dict]) -> None:
    boards = openings.built_in()
    waiting = jobs[::-1]

    async def host() -> None:
        while waiting:
            job = waiting.pop()
            opening = random.Random(f"{args.seed} {job['opening']}").choice(boards)
            done = await play_one(args, job, opening)
            with args.results.open("a", encoding="utf-8") as file:
                print(json.dumps(done), file=file)
            names = f"{job['white']} - {job['black']}"
            print(f"{job['tc']} game {job['number']}: {names} {done['result']} ({done['reason']})", flush=True)

    await asyncio.gather(*(host() for _ in range(args.concurrency)))


def report(games: list[dict]) -> bool:
    """Prints the tables. Returns whether somebody forfeited, erred or crashed."""
    players: dict[tuple[str, str], list[dict]] = {}
    failures: Counter[tuple[str, str]] = Counter()
    results: dict[tuple[str, str], Counter[str]] = {}
    for game in games:
        for side, wins, losses in (("white", "1-0", "0-1"), ("black", "0-1", "1-0")):
            player = game["tc"], game[side]
            players.setdefault(player, []).append(game["seats"][side])
            failures[player] += game["failed"] == side
            sign = {wins: "+", "1/2-1/2": "=", losses: "-"}[game["result"]]
            results.setdefault(player, Counter())[sign] += 1
    print("| control | manager | games | failures | result | clock left s, p5 / p50 / p95 | largest overshoot ms "
          "| stop late ms, p50 / p99 | nodes / target, quartiles | time by phase % |")
    print(10 * "|---" + "|")
    for (control, manager), seats in players.items():
        left = [seat["left_ms"] / 1e3 for seat in seats]
        overshoots = [seat["overshoot_ms"] for seat in seats if seat["overshoot_ms"] is not None]
        late = [ms for seat in seats for ms in seat["late_ms"]]
        ratios = [ratio for seat in seats for ratio in seat["node_ratio"]]
        by_phase = [sum(seat["phase_ms"][phase] for seat in seats) for phase in PHASES]
        shares = " / ".join(f"{100 * ms / sum(by_phase):.0f}" for ms in by_phase) if sum(by_phase) else ""
        result = " ".join(f"{sign}{results[control, manager][sign]}" for sign in "+=-")
        print(f"| {control} | `{manager}` | {len(seats)} | {failures[control, manager]} | {result} "
              f"| {percentiles(left, 0.05, 0.5, 0.95)} | {max(overshoots, default=0.0):.1f} "
              f"| {percentiles(late, 0.5, 0.99)} | {percentiles(ratios, 0.25, 0.5, 0.75)} | {shares} |")
    for game in games:
        for side in ("white", "black"):
            for line in game["seats"][side]["trouble"]:
                print(f"finding: {game['tc']} game {game['number']}, {game[side]}: {line}")
        if game["failed"]:
            print(f"FAILED: {game['tc']} game {game['number']}, {game[game['failed']]}: {game['reason']}")
    return any(failures.values())


def percentiles(values: list[float], *shares: float) -> str:
    return " / ".join(f"{percentile(values, share):.2f}" for share in shares) if values else ""


def main() -> int:
    args = arguments()
    managers, controls = args.manager or MANAGERS, args.tc or CONTROLS
    client.log_warnings()
    runnable(args.zeitnot)
    args.engine = identity(args.zeitnot)
    for control in controls:
        referee.TimeControl.parse(control)
    games = finished(args.results, *NEEDED) if args.report or args.results.exists() else []
    of_one_setting(args.results, games, None if args.report else setting(args))
    if not args.report:
        jobs = [
            {"tc": control, "number": number, "white": managers[white], "black": managers[black], "opening": opening}
            for control in controls
            for number, (white, black, opening) in enumerate(pairings(len(managers), args.games), 1)
        ]
        known = [{key: game[key] for key in jobs[0]} for game in games]
        write_whole(args.results, games)
        asyncio.run(play_all(args, [job for job in jobs if job not in known]))
        games = finished(args.results, *NEEDED)
    return EXIT_FAILED if report(games) else 0


if __name__ == "__main__":
    sys.exit(ended(main))
