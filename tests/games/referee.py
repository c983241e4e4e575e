"""One game between two engines, judged here: clocks, legality and the end are never left to an engine's word."""

import asyncio
import dataclasses
import re

import chess
import chess.engine
import chess.pgn

from client import Answer, RecordingUci

TIME_MARGIN_S = 0.0
"""A clock below this is a forfeit: no grace at all."""

HANG_S = 5.0
"""An engine silent for so long after its flag fell is taken to hang."""

NEW_GAME_S = 60.0
"""Longest wait for `readyok` after `ucinewgame`; it is on no clock."""

LONGEST_GAME_PLIES = 600
"""A game as long as this is a draw."""

TIME_CONTROL = re.compile(r"^(?:(\d+)/)?(\d+(?:\.\d+)?)(?:\+(\d+(?:\.\d+)?))?$")


@dataclasses.dataclass(frozen=True)
class TimeControl:
    """`[MOVES/]SECONDS[+INCREMENT]`."""

    text: str
    base_s: float
    increment_s: float
    moves: int | None

    @staticmethod
    def parse(text: str) -> "TimeControl":
        match = TIME_CONTROL.match(text)
        if not match or float(match[2]) <= 0 or match[1] == "0":
            raise ValueError(f"time control {text!r} is not [MOVES/]SECONDS[+INCREMENT], such as 10+0.1")
        moves = int(match[1]) if match[1] else None
        return TimeControl(text, float(match[2]), float(match[3] or 0), moves)

    def limit(self, clocks_s: dict[chess.Color, float], made: int) -> chess.engine.Limit:
        """What an engine is told that has made so many moves."""
        return chess.engine.Limit(
            white_clock=clocks_s[chess.WHITE],
            black_clock=clocks_s[chess.BLACK],
            white_inc=self.increment_s,
            black_inc=self.increment_s,
            remaining_moves=self.moves and self.moves - made % self.moves,
        )


@dataclasses.dataclass
class Game:
    """A finished game. `failure` is `forfeit`, `illegal`, `crash` or `hang`, by the side `failed`."""

    number: int
    zeitnot_is: chess.Color
    board: chess.Board
    result: str = "*"
    reason: str = ""
    failure: str | None = None
    failed: chess.Color | None = None
    clocks_s: dict[chess.Color, float] = dataclasses.field(default_factory=dict)
    answers: list[tuple[chess.Color, Answer, float]] = dataclasses.field(default_factory=list)
    """Each timed move: side, answer, and the side's clock after it, increment included."""

    opening_plies: int = 0

    @property
    def zeitnot_score(self) -> float:
        wins = {"1-0": chess.WHITE, "0-1": chess.BLACK}
        return 0.5 if self.result not in wins else float(wins[self.result] == self.zeitnot_is)


async def play(
    number: int,
    engines: dict[chess.Color, RecordingUci],
    zeitnot_is: chess.Color,
    opening: chess.Board,
    control: TimeControl,
) -> Game:
    """Plays from `opening` to the end or to the first failure."""
    game = Game(number, zeitnot_is, opening.copy(), opening_plies=len(opening.move_stack))
    game.clocks_s = {chess.WHITE: control.base_s, chess.BLACK: control.base_s}
    made = {chess.WHITE: 0, chess.BLACK: 0}
    identity = object()
    while not _is_over(game):
        side = game.board.turn
        limit = control.limit(game.clocks_s, made[side])
        answer, trouble = await _ask(engines[side], game.board, limit, identity, game.clocks_s[side])
        if answer is None or answer.elapsed_s is None:
            _fail(game, side, *trouble)
            break
        game.clocks_s[side] -= answer.elapsed_s
        game.answers.append((side, answer, game.clocks_s[side]))
        if game.clocks_s[side] < TIME_MARGIN_S:
            _fail(game, side, "forfeit", f"{-game.clocks_s[side] * 1e3:.0f} ms over time")
            break
        # By the letter of UCI: python-chess alone would also take castling written as king takes rook.
        move = next((move for move in game.board.legal_moves if move.uci() == answer.best), None)
        if move is None:
            _fail(game, side, "illegal", f"{answer.best!r} in {game.board.fen()}")
            break
        game.board.push(move)
        made[side] += 1
        game.clocks_s[side] += control.increment_s
        if control.moves and made[side] % control.moves == 0:
            game.clocks_s[side] += control.base_s
        game.answers[-1] = (side, answer, game.clocks_s[side])
    return game


async def _ask(
    engine: RecordingUci,
    board: chess.Board,
    limit: chess.engine.Limit,
    identity: object,
    clock_s: float,
) -> tuple[Answer | None, tuple[str, str]]:
    """The answer, if one came, and else what happened instead."""
    asked = len(engine.answers)
    engine.asked.clear()
    playing = asyncio.ensure_future(engine.play(board, limit, game=identity))
    # Before `go` no clock runs: a new game may take its time.
    started = asyncio.ensure_future(engine.asked.wait())
    await asyncio.wait({playing, started}, timeout=NEW_GAME_S, return_when=asyncio.FIRST_COMPLETED)
    started.cancel()
    patience_s = clock_s + HANG_S if engine.asked.is_set() else 0.0
    trouble = ("crash", "")
    try:
        await asyncio.wait_for(playing, patience_s)
    except (TimeoutError, asyncio.TimeoutError):
        missing = f"no bestmove within {patience_s:.1f} s" if engine.asked.is_set() else "not ready for a new game"
        stderr = "; ".join(line for line in engine.stderr_lines if "panicked" in line)
        trouble = ("hang", missing + (f" ({stderr})" if stderr else ""))
    except chess.engine.EngineTerminatedError as error:
        stderr = "; ".join(engine.stderr_lines[-3:])
        trouble = ("crash", f"{error}" + (f" ({stderr})" if stderr else ""))
    except chess.engine.EngineError as error:
        # An illegal bestmove ends here too: it is judged by the text that came.
        trouble = ("crash", str(error))
    answer = engine.answers[asked] if len(engine.answers) > asked else None
    return answer, trouble


def _fail(game: Game, side: chess.Color, failure: str, text: str) -> None:
    game.failure, game.failed = failure, side
    game.result = "0-1" if side == chess.WHITE else "1-0"
    game.reason = f"{failure} by {chess.COLOR_NAMES[side]}: {text}"


def _is_over(game: Game) -> bool:
    board = game.board
    outcome = board.outcome()
    if outcome is not None:
        game.result, game.reason = outcome.result(), outcome.termination.name.lower().replace("_", " ")
        return True
    # As match runners do, the third repetition and the fiftieth move end a game without a claim.
    draws = (
        ("threefold repetition", board.is_repetition(3)),
        ("fifty moves", board.is_fifty_moves()),
        (f"{LONGEST_GAME_PLIES} plies", len(board.move_stack) >= LONGEST_GAME_PLIES),
    )
    for reason, holds in draws:
        if holds:
            game.result, game.reason = "1/2-1/2", reason
            return True
    return False


def to_pgn(game: Game, names: dict[chess.Color, str], control: TimeControl) -> chess.pgn.Game:
    """The game with each move's time, the clock after it and, where there is one, the plan's hard limit."""
    pgn = chess.pgn.Game.from_board(game.board)
    pgn.headers["Event"] = "Zeitnot under an independent client"
    pgn.headers["Site"] = "?"
    pgn.headers["Round"] = str(game.number)
    pgn.headers["White"] = names[chess.WHITE]
    pgn.headers["Black"] = names[chess.BLACK]
    pgn.headers["Result"] = game.result
    pgn.headers["TimeControl"] = control.text
    pgn.headers["Termination"] = game.reason
    for node, (_, answer, clock_s) in zip(list(pgn.mainline())[game.opening_plies :], game.answers):
        node.set_emt(answer.elapsed_s or 0.0)
        node.set_clock(max(0.0, clock_s))
        if answer.hard_limit_ms is not None:
            node.comment += f" hard_limit={answer.hard_limit_ms:.0f}ms"
    return pgn
