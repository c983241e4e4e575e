#!/usr/bin/env python3
"""Plays a game through lichess-bot's own engine wrapper, with its default configuration, and shows what it says of errors.

Give it a checkout of https://github.com/lichess-bot-devs/lichess-bot, and run it with a Python that has its requirements. The
configuration is its `config.yml.default`, unchanged but for the engine's path. Lichess is played by this script: the clocks, and a
second process of the engine as the opponent. Then a network that does not exist is named, first without and then with `Strict`.

Exit code: 0 all is well; 1 the game was lost on time or ended by an error, nothing was pondered, an option was not sent, or the
error about the network was not on the bot's console.
"""

import argparse
import contextlib
import logging
import os
import sys
import tempfile
import time
from pathlib import Path

import chess
import chess.engine

from referee import TimeControl

REPOSITORY = Path(__file__).resolve().parents[2]
MISSING = "no/such/network.pb.gz"
OPENING_PLIES = 2
"""Lichess starts the clocks after these."""


class Wire(logging.Handler):
    """Lines between python-chess and the process that is watched."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.sent: list[str] = []
        self.received: list[str] = []
        self.warnings: list[str] = []
        self.pid: str | None = None

    def emit(self, record: logging.LogRecord) -> None:
        line = record.getMessage()
        if self.pid is not None and f"pid={self.pid}" not in line:
            return
        if record.levelno >= logging.WARNING:
            self.warnings.append(line)
        elif ": << " in line:
            self.sent.append(line.split(": << ", 1)[1])
        elif ": >> " in line:
            self.received.append(line.split(": >> ", 1)[1])


class Lichess:
    """Server, as far as lichess-bot's wrapper asks it."""

    def __init__(self) -> None:
        self.move: chess.Move | None = None
        self.ended: str | None = None

    def make_move(self, _game: str, result: chess.engine.PlayResult) -> None:
        self.move = result.move

    def resign(self, _game: str) -> None:
        self.ended = "resigned"

    def abort(self, _game: str) -> None:
        self.ended = "aborted"


@contextlib.contextmanager
def console():
    """The list that it gives has, afterwards, the lines that this process and its children wrote on standard error."""
    lines: list[str] = []
    kept = os.dup(2)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 2)
        try:
            yield lines
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            file.seek(0)
            lines.extend(file.read().decode(errors="replace").splitlines())


def configuration(checkout: Path, engine: Path, **uci_options: str | bool):
    """lichess-bot's default configuration with this engine; options beyond it are for the errors alone."""
    import yaml
    from lib import config

    raw = yaml.safe_load((checkout / "config.yml.default").read_text())
    raw["engine"] |= {"dir": str(engine.parent), "name": engine.name}
    raw["engine"]["uci_options"] |= uci_options
    with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
        yaml.safe_dump(raw, file)
        file.flush()
        return config.load_config(file.name)


def new_game(control: TimeControl):
    from lib import model
    from lib.timer import seconds

    clock = {"wtime": control.base_s * 1e3, "btime": control.base_s * 1e3}
    increment = {"winc": control.increment_s * 1e3, "binc": control.increment_s * 1e3}
    player = {"title": "BOT", "rating": 3000}
    return model.Game({
        "id": "testgame", "variant": {"key": "standard", "name": "Standard"}, "speed": "blitz", "perf": {"name": "Blitz"},
        "clock": {"initial": control.base_s * 1e3, "increment": control.increment_s * 1e3}, "rated": True, "createdAt": 0,
        "white": player | {"name": "zeitnot"}, "black": player | {"name": "another"}, "initialFen": "startpos",
        "state": {"type": "gameState", "moves": "", "status": "started"} | clock | increment,
    }, "zeitnot", "https://lichess.org/", seconds(30))


def bot_move(bot, board: chess.Board, game, lichess: Lichess, config) -> None:
    """One move of the bot, as lichess-bot's loop asks for it."""
    from lib.timer import Timer, msec, seconds

    bot.play_move(
        board, game, lichess, Timer(), msec(config.move_overhead), config.engine.uci_ponder or config.engine.ponder, False,
        seconds(config.correspondence.move_time), config.engine, seconds(0),
    )


def play(args: argparse.Namespace, wire: Wire) -> list[str]:
    """A whole game; returns what was wrong."""
    from lib import engine_wrapper

    config, game, lichess, board = configuration(args.checkout, args.engine), new_game(args.tc), Lichess(), chess.Board()
    troubles = []
    opponent = chess.engine.SimpleEngine.popen_uci([str(args.engine), "--threads=1"], stderr=-3)
    with console() as said, engine_wrapper.create_engine(config, game) as bot:
        wire.pid = bot.get_pid()
        bot.get_opponent_info(game)
        while (outcome := board.outcome(claim_draw=True)) is None and lichess.ended is None:
            is_ours, began = board.turn == chess.WHITE, time.monotonic()
            if is_ours:
                bot_move(bot, board, game, lichess, config)
            else:
                lichess.move = opponent.play(board, chess.engine.Limit(nodes=args.nodes)).move
            side = "w" if is_ours else "b"
            if board.ply() >= OPENING_PLIES:
                game.state[f"{side}time"] -= (time.monotonic() - began) * 1e3
                if game.state[f"{side}time"] < 0:
                    troubles.append(f"out of time at ply {board.ply() + 1}")
                    break
                game.state[f"{side}time"] += game.state[f"{side}inc"]
            board.push(lichess.move)
            game.state["moves"] += f" {lichess.move.uci()}"
        statistics = bot.get_stats()
        if outcome is not None:
            winner = {chess.WHITE: {"winner": "white"}, chess.BLACK: {"winner": "black"}, None: {}}[outcome.winner]
            game.state |= {"status": "mate" if outcome.winner is not None else "draw"} | winner
        bot.send_game_result(game, board)
    opponent.quit()
    ending = lichess.ended or (outcome.termination.name.lower() if outcome else "out of time")
    print(f"{game.result()} ({ending}) after {board.ply()} plies; clocks {game.state['wtime']:.0f} and {game.state['btime']:.0f} ms")
    print(f"the bot's last lines: {', '.join(statistics)}")
    print("its console:", *said, sep="\n  ")
    return troubles + verdict(wire, config)


def verdict(wire: Wire, config) -> list[str]:
    """Prints what was sent; returns what was wrong with it."""
    options = [line for line in wire.sent if line.startswith("setoption")]
    pondered = sum(line.startswith("go ponder") for line in wire.sent)
    hits = wire.sent.count("ponderhit")
    moves = sum(line.startswith("go") for line in wire.sent) - pondered + hits
    print("options sent:", *options, sep="\n  ")
    print(f"{moves} moves; {pondered} ponderings, {hits} hits; {len(wire.warnings)} warnings of python-chess")
    troubles = [] if hits else ["nothing was pondered"]
    for name in config.engine.uci_options.config:
        if not any(line.startswith(f"setoption name {name} value ") for line in options):
            troubles.append(f"option {name} was not sent")
    errors = [line for line in wire.received if line.startswith("info string ERROR")]
    # The default configuration names a folder of tables that is not there.
    troubles += [line for line in errors if "SyzygyPath" not in line]
    return troubles + [line for line in wire.warnings if "info string" not in line]


def name_a_missing_network(args: argparse.Namespace, strict: bool) -> list[str]:
    """One move with a network that does not exist; returns what was wrong."""
    from lib import engine_wrapper

    config = configuration(args.checkout, args.engine, WeightsFile=MISSING, Strict=strict)
    game, lichess, ended = new_game(args.tc), Lichess(), None
    with console() as said:
        try:
            with engine_wrapper.create_engine(config, game) as bot:
                bot_move(bot, chess.Board(), game, lichess, config)
        except chess.engine.EngineError as error:
            ended = error
    print(f"WeightsFile {MISSING}, Strict {strict}: {ended or f'played {lichess.move}'}; the console:", *said, sep="\n  ")
    troubles = [] if any(MISSING in line for line in said) else ["the console says nothing of the network"]
    return troubles if (ended is not None) == strict else [*troubles, "it did not end" if strict else "it ended"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=lambda text: Path(text).resolve(), help="a checkout of lichess-bot")
    parser.add_argument(
        "--engine", type=lambda text: Path(text).resolve(), default=REPOSITORY / "target/release/zeitnot", metavar="PATH")
    parser.add_argument("--tc", type=TimeControl.parse, default="60+1", metavar="SECONDS+INCREMENT")
    parser.add_argument("--nodes", type=int, default=50, metavar="N", help="of the opponent, a move (default 50)")
    args = parser.parse_args()
    sys.path.insert(0, str(args.checkout))
    wire = Wire()
    chess.engine.LOGGER.addHandler(wire)
    chess.engine.LOGGER.setLevel(logging.DEBUG)
    chess.engine.LOGGER.propagate = False
    troubles = play(args, wire)
    chess.engine.LOGGER.removeHandler(wire)
    for strict in (False, True):
        troubles += name_a_missing_network(args, strict)
    print(f"{len(troubles)} troubles", *troubles, sep="\n  ")
    return 1 if troubles else 0


if __name__ == "__main__":
    sys.exit(main())
