"""Time managers: their decisions explained, and one of them for an engine that is written in Python."""

from __future__ import annotations

import json
import tempfile
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ._games import as_file
from ._pictures import as_frame, as_table, build
from ._program import Dialogue, Error, flags, run

if TYPE_CHECKING:
    import pandas

    from ._games import Games


@dataclass
class Term:
    """A quantity of a budget, with its formula."""

    name: str
    value: float
    unit: str
    formula: str | None
    clamped: bool  # Whether a limit in the formula took effect.


@dataclass
class Plan:
    """A time manager's decision at the beginning of a move, in milliseconds from there. In a notebook it is a table."""

    manager: str
    budget_ms: float  # Time that the move is expected to take.
    extra_ms: float  # What it may take beyond its budget, if it turns out to be hard.
    hard_limit_ms: float  # The latest end of the search.
    due_ms: float  # When the answer is overdue.
    target_nodes: float | None
    moves_left: float | None  # Moves until the end of the game.
    terms: list[Term]  # Every quantity that led to the budget, in order.
    played: dict[str, Any]  # Of a played game: `move`, `side`, `clock_ms`, `used_ms`, `moves_left_true` and more.

    def frame(self) -> pandas.DataFrame:
        """A row for each term. It needs pandas."""
        return as_frame(self.terms)

    def _rows(self) -> list[list[str]]:
        return [[it.name, f"{it.value:.6g}", it.unit, it.formula or "given"] for it in self.terms]

    def __str__(self) -> str:
        lines = (f"  {name:24} {value:>12} {unit:6} {formula}" for name, value, unit, formula in self._rows())
        return "\n".join([f"time manager {self.manager}", *lines])

    def _repr_html_(self) -> str:
        return as_table([self.manager, "value", "unit", "formula"], self._rows())


def _plan(values: dict[str, Any]) -> Plan:
    """A plan from an object of the program's JSON; what a plan does not have is of the played game."""
    terms = [build(Term, term) for term in values["terms"]]
    played = {name: value for name, value in values.items() if name not in Plan.__dataclass_fields__}
    return build(Plan, {**values, "terms": terms, "played": played})


def explain(
    clock_ms: float, inc_ms: float = 0, *, manager: str | None = None, overhead_ms: float | None = None, **facts: Any
) -> Plan:
    """Explains the decision about one move. Other facts are those of `zeitnot time explain move`: `movestogo`, `ply`,
    `reused` (nodes), `moves_left` (plies), `pieces`, `legal_moves`, `captures`, `check`, `nps`, `evaluation` (ms)."""
    options = {"clock": clock_ms, "inc": inc_ms, "manager": manager, "overhead": overhead_ms, **facts}
    return _plan(json.loads(run(["time", "explain", "move", "--json", *flags(options)])))


def explain_game(
    pgn: Games, ply: int, *, number: int = 1, manager: str | None = None, overhead_ms: float | None = None
) -> Plan:
    """Explains the move after `ply` plies of the file's game `number`, by all the moves before it. Without `manager` it
    is the one that the player's name mentions, else `smooth`."""
    with tempfile.TemporaryDirectory() as folder:
        options = flags({"ply": ply, "number": number, "manager": manager, "overhead": overhead_ms})
        text = run(["time", "explain", "game", "--json", *options, "--", str(as_file(pgn, folder))])
    return _plan(json.loads(text))


@dataclass
class Look:
    """A time manager's answer to a look at the running search."""

    stop: bool
    reason: str | None
    remaining_ms: float | None  # Time until the search will be stopped, as it looks now.
    nps: float | None


class Timekeeper:
    """A time manager of the program for another engine, a context manager. It serves one game after another.

    A move is a `plan`, any number of looks (`stop`, or `observe` for more than yes or no), and `finish`. `manager` is
    what the option TimeManager takes, such as "legacy" or "smooth(preset=pr1195)"; `overhead_ms` is lost at each move
    between the engine and the clock; `nps` is the speed that is expected before any is known.
    """

    def __init__(self, manager: str = "smooth", *, overhead_ms: float | None = None, nps: float | None = None) -> None:
        options = flags({"manager": manager, "overhead": overhead_ms, "nps": nps})
        self._dialogue = Dialogue("time", "explain", "script", *options, "-")
        # Ends the program, also when nobody has this any more or Python ends.
        self.close = weakref.finalize(self, self._dialogue.close)
        # Ctrl-C reaches Python's main thread: in another one it parts no event from its answer.
        self._asking = ThreadPoolExecutor(1)
        self._plan: Plan | None = None
        self._began = time.monotonic()

    def __enter__(self) -> Timekeeper:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def new_game(self) -> None:
        """Forgets what was learned from the game that has ended."""
        self._plan = None
        self._asking.submit(self._dialogue.write, {"event": "new_game"}).result()

    def plan(self, clock_ms: float, inc_ms: float = 0, **facts: Any) -> Plan:
        """Begins a move; its time runs from here. `ply`, `movestogo`, and of the position `pieces`, `legal_moves`,
        `captures` and `check` may be told, and all else that the page "time explain" lists for `plan`."""
        self._began, self._plan = time.monotonic(), None
        self._plan = _plan(self._ask({"event": "plan", "clock_ms": clock_ms, "inc_ms": inc_ms, **facts}))
        return self._plan

    def elapsed_ms(self) -> float:
        """Time since the move began."""
        return 1000 * (time.monotonic() - self._began)

    def observe(self, new_nodes: int = 0, **seen: Any) -> Look:
        """Asks about the running search, which has searched `new_nodes`.

        `visits` are the nodes below each move of the root, with `best_move` as an index into them where it is not the
        one with the most; `depth`, `mate`, `best_value` (-1 to 1) and all else that the page "time explain" lists for
        `observe` may be told. `t_ms` is the time since the move began, without it `elapsed_ms()`.
        """
        t_ms = seen.pop("t_ms", self.elapsed_ms())
        if new_nodes:
            seen.setdefault("first_batch_ms", t_ms)
        return build(Look, self._ask({"event": "observe", "t_ms": t_ms, "new_nodes": new_nodes, **seen}))

    def stop(self, new_nodes: int = 0, **seen: Any) -> bool:
        """Whether to stop now: beyond the hard limit, or as `observe` says."""
        if self._plan is not None and seen.get("t_ms", self.elapsed_ms()) >= self._plan.hard_limit_ms:
            return True
        return self.observe(new_nodes, **seen).stop

    def finish(self, **facts: Any) -> dict[str, Any]:
        """Ends the move, from which the manager learns. `t_ms` is its time, without it `elapsed_ms()`; `total_nodes`
        are those of the tree. Returns the manager's estimates and, as `move`, the account of the move."""
        account = self._ask({"event": "finish", "t_ms": self.elapsed_ms(), **facts})
        self._plan = None
        return account

    def _ask(self, event: dict[str, Any]) -> dict[str, Any]:
        if self._plan is None and event["event"] != "plan":
            raise Error(f"{event['event']} needs a plan first")  # It would have no answer.
        return self._asking.submit(self._dialogue.ask, event).result()
