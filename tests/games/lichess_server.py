#!/usr/bin/env python3
"""Hosts a bot as docs/bots.md says, and is lichess for it: challenges it, plays a game and keeps the clocks.

The configuration is a profile of examples/lichess-bot, unchanged but for the address of this server and the engine's folder.
lichess-bot itself runs, from a checkout of https://github.com/lichess-bot-devs/lichess-bot and by the Python that runs this script. Or
`--command` starts it, such as a container; `{config}` in it stands for the folder with the configuration.

Exit code: 0 all is well; 1 the game was lost on time or not finished, the bot's moves took less than --mean-at-least, or its console has an error.
"""

import argparse
import json
import os
import re
import shlex
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import chess
import chess.engine

from referee import TimeControl

REPOSITORY = Path(__file__).resolve().parents[2]
PROFILES = REPOSITORY / "examples/lichess-bot"
BOT, OPPONENT, GAME = "zeitnot", "someone", "testgame"
START_S = 120
"""Longest wait for the bot to accept the challenge."""

PING_S = 5
"""Lichess sends an empty line as often on a silent stream."""

WINNERS = {chess.WHITE: "white", chess.BLACK: "black"}


class Game:
    """The one game of the server. The bot has White."""

    def __init__(self, control: TimeControl) -> None:
        self.control = control
        self.board = chess.Board()
        self.clocks_s = {color: control.base_s for color in chess.COLORS}
        self.status, self.winner = "started", None
        self.changed = threading.Condition()
        self.accepted = threading.Event()
        self.since = time.monotonic()
        self.times_s: list[float] = []
        """Of the bot's moves on the clock."""

    def state(self) -> dict:
        ms = {name: round(max(self.clocks_s[color], 0) * 1e3) for name, color in (("wtime", chess.WHITE), ("btime", chess.BLACK))}
        increment = round(self.control.increment_s * 1e3)
        moves = " ".join(move.uci() for move in self.board.move_stack)
        winner = {} if self.winner is None else {"winner": WINNERS[self.winner]}
        return {"type": "gameState", "moves": moves, "winc": increment, "binc": increment, "status": self.status} | ms | winner

    def description(self) -> dict:
        clock = {"initial": self.control.base_s * 1e3, "increment": self.control.increment_s * 1e3}
        return {
            "type": "gameFull", "id": GAME, "variant": {"key": "standard", "name": "Standard"}, "speed": "blitz", "perf": {"name": "Blitz"},
            "clock": clock, "rated": False, "createdAt": int(time.time() * 1e3), "initialFen": "startpos", "state": self.state(),
            "white": {"id": BOT, "name": BOT, "title": "BOT", "rating": 1500}, "black": {"id": OPPONENT, "name": OPPONENT, "rating": 1500},
        }

    def play(self, uci: str) -> None:
        """A move of the side to move; its clock runs from the third ply on."""
        with self.changed:
            move, color, now = self.board.parse_uci(uci), self.board.turn, time.monotonic()
            if self.board.ply() >= 2:
                self.clocks_s[color] -= now - self.since
                if color == chess.WHITE:
                    self.times_s.append(now - self.since)
            if self.clocks_s[color] < 0:
                self.status, self.winner = "outoftime", not color
            else:
                self.clocks_s[color] += self.control.increment_s if self.board.ply() >= 2 else 0
                self.board.push(move)
                if outcome := self.board.outcome(claim_draw=True):
                    self.status, self.winner = "draw" if outcome.winner is None else "mate", outcome.winner
            self.since = now
            self.changed.notify_all()

    def end(self, status: str) -> None:
        with self.changed:
            self.status, self.winner = status, chess.BLACK if status != "aborted" else None
            self.changed.notify_all()


class Lichess(BaseHTTPRequestHandler):
    """What lichess-bot asks for, of lichess.org/api."""

    protocol_version = "HTTP/1.1"
    game: Game

    def answer(self, value: object) -> None:
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def open_stream(self) -> None:
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def send_line(self, value: object = None) -> None:
        line = b"\n" if value is None else json.dumps(value).encode() + b"\n"
        self.wfile.write(b"%x\r\n%b\r\n" % (len(line), line))

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        if self.path == "/api/token/test":
            return self.answer({body: {"userId": BOT, "scopes": "bot:play", "expires": None}})
        if self.path.endswith("/accept"):
            self.game.accepted.set()
        elif found := re.search(r"/move/(\w+)", self.path):
            self.game.play(found[1])
        elif found := re.search(r"/(resign|abort)$", self.path):
            self.game.end({"resign": "resign", "abort": "aborted"}[found[1]])
        return self.answer({"ok": True})

    def do_GET(self) -> None:
        if self.path == "/api/stream/event":
            return self.events()
        if self.path.startswith("/api/bot/game/stream/"):
            return self.moves()
        profile = {"id": BOT, "username": BOT, "title": "BOT", "perfs": {}}
        return self.answer({"/api/account": profile, "/api/account/playing": {"nowPlaying": []}}.get(self.path, {}))

    def events(self) -> None:
        self.open_stream()
        control = self.game.control
        self.send_line({"type": "challenge", "challenge": {
            "id": GAME, "rated": False, "variant": {"key": "standard"}, "perf": {"name": "Blitz"}, "speed": "blitz", "color": "black",
            "timeControl": {"type": "clock", "limit": control.base_s, "increment": control.increment_s},
            "challenger": {"id": OPPONENT, "name": OPPONENT, "rating": 1500}, "destUser": {"id": BOT, "name": BOT, "title": "BOT"},
        }})
        self.game.accepted.wait(START_S)
        self.send_line({"type": "gameStart", "game": {
            "id": GAME, "gameId": GAME, "speed": "blitz", "opponent": {"id": OPPONENT, "username": OPPONENT, "rating": 1500}}})
        while True:
            time.sleep(PING_S)
            self.send_line()

    def moves(self) -> None:
        game = self.game
        self.open_stream()
        with game.changed:
            self.send_line(game.description())
            while game.status == "started":
                self.send_line(game.state() if game.changed.wait(PING_S) else None)
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, *_: object) -> None:
        """Nothing: the bot's console says enough."""


def write_configuration(args: argparse.Namespace, folder: Path) -> None:
    """The profiles for this server, and lichess-bot's `config.yml` of the one that is played."""
    for file in PROFILES.iterdir():
        text = file.read_text().replace("https://lichess.org/", f"http://127.0.0.1:{args.port}/")
        if args.command is None:
            text = text.replace('dir: "/usr/local/bin"', f'dir: "{args.engine.parent}"').replace('name: "zeitnot"', f'name: "{args.engine.name}"')
        (folder / file.name).write_text(text)
        (folder / file.name).chmod(file.stat().st_mode)
    (folder / "config.yml").write_text("".join((folder / f"{name}.yml").read_text() for name in ("host", args.profile)))


def run_opponent(args: argparse.Namespace, game: Game) -> None:
    """Plays Black until the game ends; the flag of either side is watched here."""
    with chess.engine.SimpleEngine.popen_uci([str(args.engine), "--threads=1", "--weights=zeitnot-small"], stderr=-3) as opponent:
        while game.status == "started":
            if game.board.turn == chess.BLACK:
                game.play(opponent.play(game.board, chess.engine.Limit(nodes=args.nodes)).move.uci())
                continue
            with game.changed:
                game.changed.wait_for(lambda: game.board.turn == chess.BLACK or game.status != "started", 1)
                left = game.clocks_s[chess.WHITE] - (time.monotonic() - game.since)
            if game.board.ply() >= 2 and game.board.turn == chess.WHITE and left < 0:
                game.end("outoftime")


def verdict(args: argparse.Namespace, game: Game, console: str) -> list[str]:
    """Prints the game; returns what was wrong with it."""
    print(f"{game.status}, winner {WINNERS.get(game.winner)}, after {game.board.ply()} plies; clocks {game.clocks_s[True]:.1f} and {game.clocks_s[False]:.1f} s")
    times = game.times_s
    troubles = [] if game.status in ("mate", "draw") else [f"the game ended as {game.status}"]
    if len(times) > 1:
        mean = statistics.mean(times)
        print(
            f"{len(times)} moves on the clock: mean {mean:.2f} s, deviation {statistics.stdev(times) / mean:.2f} of it, "
            f"{min(times):.2f} to {max(times):.2f} s; each:", *(f"{value:.1f}" for value in times))
        if mean < args.mean_at_least:
            troubles.append(f"moves took {mean:.2f} s in the mean")
    # python-chess takes the lines between `uciok` and `readyok` for unexpected.
    return troubles + [line for line in console.splitlines() if re.search("ERROR|Traceback|WARNING(?!.*Unexpected engine output: 'info)", line)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", nargs="?", type=lambda text: Path(text).resolve(), help="a checkout of lichess-bot; none with --command")
    parser.add_argument("--command", help="starts the bot instead, with LICHESS_BOT_TOKEN in its environment")
    parser.add_argument("--profile", default="human", help="human or full (default human)")
    parser.add_argument(
        "--engine", type=lambda text: Path(text).resolve(), default=REPOSITORY / "target/release/zeitnot", metavar="PATH",
        help="the opponent, and with a checkout the bot's engine")
    parser.add_argument("--tc", type=TimeControl.parse, default="180+0", metavar="SECONDS+INCREMENT")
    parser.add_argument("--nodes", type=int, default=20, metavar="N", help="of the opponent, a move (default 20)")
    parser.add_argument("--mean-at-least", type=float, default=0, metavar="SECONDS", help="of the bot's moves")
    parser.add_argument("--port", type=int, default=8765)
    args = parser.parse_args()
    if (args.checkout is None) == (args.command is None):
        parser.error("name a checkout of lichess-bot, or a --command")
    game = Lichess.game = Game(args.tc)
    server = ThreadingHTTPServer(("127.0.0.1", args.port), Lichess)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as console:
        os.chmod(folder, 0o755)  # a container's user reads it
        write_configuration(args, Path(folder))
        command = shlex.split(args.command.format(config=folder)) if args.command else [
            sys.executable, str(args.checkout / "lichess-bot.py"), "--config", f"{folder}/config.yml", "--disable_auto_logging"]
        environment = os.environ | {"LICHESS_BOT_TOKEN": "lip_of_a_test", "COLUMNS": "200"}
        bot = subprocess.Popen(command, cwd=folder, env=environment, stdout=console, stderr=subprocess.STDOUT)
        until = time.monotonic() + START_S
        while not game.accepted.wait(1) and bot.poll() is None and time.monotonic() < until:
            pass
        if game.accepted.is_set():
            run_opponent(args, game)
            time.sleep(3)  # for the bot's last lines
        bot.send_signal(signal.SIGINT)
        try:
            bot.wait(30)
        except subprocess.TimeoutExpired:
            bot.kill()
        console.seek(0)
        said = console.read().decode(errors="replace")
    print("its console:", said)
    troubles = verdict(args, game, said)
    print(f"{len(troubles)} troubles", *troubles, sep="\n  ")
    return 1 if troubles else 0


if __name__ == "__main__":
    sys.exit(main())
