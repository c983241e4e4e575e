"""Games: where they come from, and their annotation by the program."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

from ._pictures import Result, bar, build
from ._program import flags, run

if TYPE_CHECKING:
    import chess.pgn

    StrPath = Union[str, os.PathLike[str]]
    Games = Union[StrPath, chess.pgn.Game, Iterable[chess.pgn.Game]]


def as_file(games: Games, folder: str) -> Path:
    """The path of a file of games; the text of a PGN and games of python-chess are written to one in the folder."""
    if isinstance(games, os.PathLike) or isinstance(games, str) and "\n" not in games and not games.startswith("["):
        return Path(games)
    several: Iterable[Any] = [games] if isinstance(games, str) or hasattr(games, "headers") else games
    file = Path(folder, "games.pgn")
    file.write_text("\n\n".join(str(game) for game in several) + "\n", encoding="utf-8")
    return file


@dataclass
class AnnotatedMove:
    """A move and the position behind it. Evaluations (`{"cp": 20}`, `{"mate": -3}`), `wdl` (permille) and `win` (per
    cent) are from White's side, times in milliseconds; None is what is not known."""

    ply: int
    number: int
    color: str
    san: str
    uci: str
    fen: str
    eval: dict[str, int] | None
    wdl: list[int] | None
    win: float | None
    accuracy: float | None
    judgement: str | None
    glyph: str | None
    expected_loss: float | None
    best: dict[str, Any] | None  # The better move, where there is one: `san`, `uci`, `line`, `eval`.
    clock_ms: float | None
    used_ms: float | None
    time: dict[str, Any] | None  # The audit of the clock: `usual_ms`, `verdict`, `cost`, `in_trouble`, `words`.


@dataclass
class Side:
    """A player in one game."""

    name: str
    elo: int | None
    accuracy: float | None
    average_loss_cp: float | None
    expected_loss: float | None
    inaccuracies: int
    mistakes: int
    blunders: int
    clock: dict[str, Any] | None  # `score`, `long_thoughts`, `instant`, `phases`, `trouble`.


@dataclass
class Moment:
    """A move to look at first, with the reason in words."""

    ply: int
    kind: str
    words: str


@dataclass
class AnnotatedGame:
    """A game with what was found about each of its moves."""

    game: int
    tags: dict[str, str]
    speed: str | None
    white: Side
    black: Side
    moves: list[AnnotatedMove]
    moments: list[Moment]


@dataclass(repr=False)
class Annotation(Result):
    """The analysis of games. In a notebook it shows accuracies and clocks."""

    games: list[AnnotatedGame]
    players: list[dict[str, Any]]  # Over all games: `name`, `games`, `accuracy`, `clock`, `by_phase`.
    pgn: str  # The games with evaluations, glyphs and comments.
    html: str  # A page with board, curves, judgements and clocks.


def annotate(pgn: Games, *, nodes: int | None = None, out: StrPath | None = None, **options: Any) -> Annotation:
    """Analyses games: a path, the text of a PGN, or games of python-chess.

    Each position gets `nodes` (300), `time` seconds or a share of a `budget` for all ("30m"); `trust_evals=True` takes
    the games' own `[%eval]`. The annotated games are written to `out`, too; then the same call goes on after an
    interruption. Other keyword arguments are the program's options, as `weights`. tqdm, if it is there, shows a bar.
    """
    with tempfile.TemporaryDirectory() as folder:
        source = as_file(pgn, folder)
        data, page, result = Path(folder, "a.json"), Path(folder, "a.html"), Path(out or Path(folder, "a.pgn"))
        command = flags({"nodes": nodes, **options, "out": result, "json": data, "html": page})
        work = result.with_name(result.name + ".work.jsonl")
        with bar(counter(b"[Event ")(source), "games") as move:
            done = counter(b"\n")
            run(["analyse", *command, "--", str(source)], lambda: move(done(work)))
        analysis = json.loads(data.read_text("utf-8"))
        annotated, drawn = result.read_text("utf-8"), page.read_text("utf-8")
    games = [_game(game) for game in analysis["games"]]
    rows = [{"game": game.game, **vars(move)} for game in games for move in game.moves]
    figures = ["name", "accuracy", "inaccuracies", "mistakes", "blunders"]
    sides = [[game.game, *(getattr(side, it) for it in figures)] for game in games for side in (game.white, game.black)]
    table, charted = (["game", *figures], sides), ("games.pgn", annotated)
    return Annotation(rows, table, charted, games, analysis["players"], annotated, drawn)


def _game(values: dict[str, Any]) -> AnnotatedGame:
    sides = {color: build(Side, values[color]) for color in ("white", "black")}
    moves = [build(AnnotatedMove, move) for move in values["moves"]]
    moments = [build(Moment, moment) for moment in values["moments"]]
    return build(AnnotatedGame, {**values, **sides, "moves": moves, "moments": moments})


def counter(what: bytes) -> Callable[[Path], int]:
    """A function that says how often something is in a file; where the file has grown, it reads what is new."""
    known: dict[Path, tuple[int, int]] = {}

    def count(file: Path) -> int:
        place, found = known.get(file, (0, 0))
        with contextlib.suppress(OSError), file.open("rb") as stream:  # The program will speak of a file it cannot read.
            if os.fstat(stream.fileno()).st_size < place:  # Another file by now.
                place = found = 0
            stream.seek(place)
            new = stream.read()
            place, found = known[file] = (place + len(new), found + new.count(what))
        return found

    return count
