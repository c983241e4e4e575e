"""Clocks: audits of games, and time managers compared in games."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._games import as_file, counter
from ._pictures import Result, bar, build
from ._program import flags, run

if TYPE_CHECKING:
    from ._games import Games, StrPath


@dataclass
class AuditedMove:
    """A move's clock and time, and the budget that each time manager would have granted, in milliseconds."""

    file: str
    game: int
    ply: int
    side: str
    clock_ms: float
    used_ms: float
    budget_ms: float | None  # As the game's own comments tell it.
    moves_left_true: int | None
    managers: dict[str, float]


@dataclass(repr=False)
class Audit(Result):
    """How the players of games spent their clocks. In a notebook it shows a line for each, and the charts."""

    moves: list[AuditedMove]
    lost_on_time: list[dict[str, Any]]  # Games.
    players: list[dict[str, Any]]
    managers: list[dict[str, Any]]


def audit(
    pgn: Games, managers: Sequence[str] = (), *, overhead_ms: float | None = None, player: str | None = None
) -> Audit:
    """Reads the clocks of games: a path, the text of a PGN, or games of python-chess. `managers` (`smooth`, `legacy`
    and `simple` without them) are asked about each move, `player` alone is looked at."""
    with tempfile.TemporaryDirectory() as folder:
        options = flags({"manager": list(managers), "overhead": overhead_ms, "player": player})
        text = run(["time", "audit", "--json", *options, "--", str(as_file(pgn, folder))])
    rows = [json.loads(line) for line in text.splitlines()]
    moves = [build(AuditedMove, row) for row in rows if row["kind"] == "move"]
    lost = [row for row in rows if row["kind"] == "lost_on_time"]
    summary = next(row["summary"] for row in rows if row["kind"] == "audit")
    head = ["player", "speed", "games", "moves", "mean_ms", "hoarded", "rushed", "risked", "lost_on_time"]
    table = (head, [[player[it] for it in head] for player in summary["players"]])
    return Audit(moves, table, ("audit.json", text), moves, lost, summary["players"], summary["managers"])


@dataclass(repr=False)
class Comparison(Result):
    """Games between time managers. In a notebook it shows the results of the pairs, and the charts."""

    cells: list[dict[str, Any]]  # Pairs: `tc`, `first`, `second`, `games`, `wins`, `draws`, `losses`, `elo` and more.
    ranking: list[dict[str, Any]]
    times: list[dict[str, Any]]  # A manager's clock at a time control.


def compare(
    managers: Sequence[str], *, games: int = 100, tc: str = "10+0.1", out: StrPath | None = None, **options: Any
) -> Comparison:
    """Plays time managers against each other, on the virtual clock if `clock="real"` does not say otherwise.

    Each pair plays `games` at each time control of `tc` ("10+0.1,60+0.6"). The games are written to the folder `out`;
    those that are there are not played again. Other keyword arguments are the flags of `zeitnot time compare`, such as
    `nps=1000`, `gauntlet=True` or `weights`. tqdm, if it is there, shows a bar.
    """
    pairs = len(managers) - 1 if options.get("gauntlet") else len(managers) * (len(managers) - 1) // 2
    with tempfile.TemporaryDirectory() as folder:
        place = Path(out or folder)
        command = flags({"games": games, "tc": tc, "out": place, **options})

        lines = counter(b"\n")

        def played() -> int:
            # The first line of each file says who plays.
            return sum(max(0, lines(file) - 1) for file in place.glob("*.jsonl"))

        with bar(games * pairs * len(tc.split(",")), "games") as move:
            text = run(["time", "compare", "--json", *command, "--", *managers], lambda: move(played()))
    found = json.loads(text)
    head = ["tc", "first", "second", "games", "wins", "draws", "losses", "elo", "elo_error"]
    table = (head, [[cell[it] for it in head] for cell in found["cells"]])
    return Comparison(found["cells"], table, ("games.json", text), found["cells"], found["ranking"], found["times"])
