#!/usr/bin/env python3
"""Steps through games as En Croissant does, and checks that its analysis is shown soon after every step.

En Croissant (src-tauri/src/chess.rs, read in November 2026) takes the lines of analysis one after the other. It shows a block when the
last of its lines has come, if all have the same depth, none of the blocks shown in this search was deeper, and the blocks before were
not too many: five at once, and then one every 200 ms. A step is `stop`, 50 ms, `position` and `go infinite`. It does not wait for the move, and a line
that is no line of the position is left out.

The games begin with the built-in openings. They follow the line that is shown, or another move in a third of the cases, and go a
step back now and then. Exit code: 1 where a step showed nothing within `--limit` seconds.
"""

import argparse
import queue
import random
import subprocess
import sys
import threading
import time

import chess

import openings
from play import EXIT_FAILED, REPOSITORY, _positive, _setting, ended, runnable

PAUSE_S = 0.05
"""Between `stop` and the next position."""
BLOCK_S = 0.2
BLOCKS_AT_ONCE = 5


class Allowance:
    """Number of blocks that En Croissant shows: some at once, then one now and then."""

    def __init__(self) -> None:
        self.free_at = 0.0

    def takes(self, now: float) -> bool:
        """Whether one more may be shown now."""
        if self.free_at > now + (BLOCKS_AT_ONCE - 1) * BLOCK_S:
            return False
        self.free_at = max(self.free_at, now) + BLOCK_S
        return True


class Display:
    """Lines of one step as En Croissant shows them."""

    def __init__(self, board: chess.Board, lines: int, began: float) -> None:
        self.board = board
        self.lines = min(lines, board.legal_moves.count())
        self.began = began
        self.block: list[int] = []
        self.first_move: chess.Move | None = None
        self.depth = 0
        self.hidden = 0
        self.shown: list[float] = []
        self.best: chess.Move | None = None

    def take(self, line: str, now: float, allowance: Allowance) -> None:
        """A line of the engine."""
        words = line.split()
        if words[:1] != ["info"] or "pv" not in words or "string" in words:
            return
        board = self.board.copy(stack=False)
        try:
            moves = [board.push_uci(word) for word in words[words.index("pv") + 1:]]
        except ValueError:
            return
        number = int(words[words.index("multipv") + 1]) if "multipv" in words else 1
        if number != len(self.block) + 1 or not moves:
            return
        self.block.append(int(words[words.index("depth") + 1]))
        if number == 1:
            self.first_move = moves[0]
        if number < self.lines:
            return
        depth = self.block[-1]
        if any(other != depth for other in self.block) or depth < self.depth:
            self.hidden += 1
        elif allowance.takes(now):
            self.depth, self.best = depth, self.first_move
            self.shown.append(now)
        self.block = []


class Engine:
    """The process, and its lines with the times at which they came."""

    def __init__(self, path: str, options: list[tuple[str, str]]) -> None:
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.lines: queue.Queue[tuple[float, str]] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        self.send("uci\nisready")
        while self.lines.get(timeout=60)[1] != "readyok":
            pass
        for name, value in options:
            self.send(f"setoption name {name} value {value}")

    def _read(self) -> None:
        for line in self.process.stdout:
            self.lines.put((time.monotonic(), line.rstrip("\n")))

    def send(self, text: str) -> None:
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()

    def listen(self, until: float, display: Display, allowance: Allowance) -> None:
        """Shows what comes until that time."""
        while (left := until - time.monotonic()) > 0:
            try:
                now, line = self.lines.get(timeout=left)
            except queue.Empty:
                return
            display.take(line, now, allowance)


def next_board(board: chess.Board, best: chess.Move | None, chance: random.Random) -> chess.Board:
    board = board.copy()
    if len(board.move_stack) > 8 and chance.random() < 0.15:
        board.pop()
        return board
    board.push(best if best and chance.random() < 0.67 else chance.choice(list(board.legal_moves)))
    return board


def step_through(engine: Engine, start: chess.Board, lines: int, args: argparse.Namespace, chance: random.Random) -> list[Display]:
    """One game; what every step showed."""
    engine.send(f"setoption name MultiPV value {lines}")
    board, displays, allowance = start, [], Allowance()
    for _ in range(args.steps):
        if board.is_game_over():
            break
        moves = " ".join(move.uci() for move in board.move_stack)
        engine.send(f"position fen {chess.STARTING_FEN}" + (f" moves {moves}" if moves else ""))
        engine.send("go infinite")
        display = Display(board, lines, time.monotonic())
        engine.listen(display.began + args.dwell, display, allowance)
        while not display.shown and time.monotonic() < display.began + 3 * args.limit:
            engine.listen(time.monotonic() + 0.01, display, allowance)
        displays.append(display)
        engine.send("stop")
        engine.listen(time.monotonic() + PAUSE_S, display, allowance)
        board = next_board(board, display.best, chance)
    return displays


def report(displays: list[Display], lines: int, limit: float) -> int:
    """Prints what was seen; returns how many steps were late."""
    waits = sorted(display.shown[0] - display.began if display.shown else float("inf") for display in displays)
    late = sum(wait > limit for wait in waits)
    blocks, hidden = (sum(counts) for counts in zip(*((len(display.shown), display.hidden) for display in displays)))
    print(
        f"{lines} lines: {len(waits)} steps; first block after {waits[len(waits) // 2] * 1e3:.0f} ms (median), "
        f"{waits[len(waits) * 99 // 100] * 1e3:.0f} ms (99 %), {waits[-1] * 1e3:.0f} ms (worst); {late} after {limit:g} s; "
        f"{blocks} blocks shown, {hidden} hidden",
        flush=True,
    )
    for display in displays:
        if not display.shown or display.shown[0] - display.began > limit:
            print(f"  late: {display.board.fen()} after {' '.join(move.uci() for move in display.board.move_stack[-4:])}")
    return late


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--zeitnot", default=str(REPOSITORY / "target/release/zeitnot"), metavar="PATH")
    parser.add_argument("--games", type=_positive, default=20, metavar="N", help="default: 20")
    parser.add_argument("--steps", type=_positive, default=40, metavar="N", help="of a game (default 40)")
    parser.add_argument("--dwell", type=float, default=0.5, metavar="S", help="at each step, at least (default 0.5)")
    parser.add_argument("--limit", type=float, default=1, metavar="S", help="for the first block of a step (default 1)")
    parser.add_argument("--lines", type=_positive, action="append", metavar="N", help="MultiPV; default: 1 and 3")
    parser.add_argument("--option", type=_setting, action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    args = parser.parse_args()
    runnable(args.zeitnot)
    late = 0
    for lines in args.lines or [1, 3]:
        engine, chance = Engine(args.zeitnot, args.option), random.Random(args.seed)
        starts = [board for board, _ in openings.schedule(openings.built_in(), 2 * args.games, args.seed)[::2]]
        displays = [display for start in starts for display in step_through(engine, start, lines, args, chance)]
        late += report(displays, lines, args.limit)
        engine.send("quit")
        engine.process.wait(10)
    return EXIT_FAILED if late else 0


if __name__ == "__main__":
    sys.exit(ended(main))
