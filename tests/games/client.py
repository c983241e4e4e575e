"""python-chess as a UCI client that also keeps what it is told: raw lines, and when they came."""

import asyncio
import dataclasses
import logging
import re
import time

import chess
import chess.engine

STARTUP_S = 120.0
"""Longest wait for an engine to load its network and say `readyok`."""

QUIT_S = 5.0
"""Longest wait for an engine to end after `quit`."""

PLAN = re.compile(r"^info string time \S+: .*?\bclock=(\d+)ms.*\bhard_limit=(\d+(?:\.\d+)?)ms")
ACCOUNT = re.compile(r"^info string time \S+: used=")
"""The account that `TimeManagerLog` prints after a move; it begins as a plan does."""

ENGINE_TIME = re.compile(r"^info .*?\btime (\d+)\b")
CLOCKS = re.compile(r"\bwtime (\d+) btime (\d+)")


class EngineTrouble(Exception):
    """An engine that cannot be used at all, in one line."""


@dataclasses.dataclass
class Answer:
    """One `go` and what came back. Times are seconds of the monotonic clock."""

    go: str
    clock_ms: int
    sent: float
    received: float | None = None
    best: str | None = None
    plan: str | None = None
    plan_was_late: bool = False
    hard_limit_ms: float | None = None
    info: str | None = None

    @property
    def elapsed_s(self) -> float | None:
        """From writing `go` to reading `bestmove`."""
        return None if self.received is None else self.received - self.sent

    @property
    def overshoot_ms(self) -> float | None:
        """How long the answer took beyond the plan's hard limit; negative: it came before."""
        if self.elapsed_s is None or self.hard_limit_ms is None:
            return None
        return self.elapsed_s * 1e3 - self.hard_limit_ms

    @property
    def engine_ms(self) -> int | None:
        """What the engine itself says the move took, by its last analysis line."""
        match = ENGINE_TIME.match(self.info or "")
        return int(match[1]) if match else None


class Console:
    """Standard error of an engine. Zeitnot says its name there, and repeats some of its `info string`s: that is
    no trouble."""

    def __init__(self) -> None:
        self._told: set[str] = set()
        self._said: list[str] = []

    def output(self, line: str) -> None:
        """Takes in a line of the engine's output."""
        if line.startswith("info string "):
            self._told.add(line.removeprefix("info string "))

    def error(self, line: str) -> None:
        """Takes in a line of the engine's standard error."""
        if not line.startswith("Zeitnot "):
            self._said.append(line)

    def trouble(self) -> list[str]:
        """The lines of standard error that are nowhere in the output. Either stream may come first."""
        return [line for line in self._said if line not in self._told]


class RecordingUci(chess.engine.UciProtocol):
    """An engine process whose every line is seen before python-chess interprets it."""

    def __init__(self) -> None:
        super().__init__()
        self.answers: list[Answer] = []
        self.error_lines: list[str] = []
        self.console = Console()
        self.oddities: list[str] = []
        self.asked = asyncio.Event()
        """Set when `go` is written."""

    def send_line(self, line: str) -> None:
        if line.startswith("go "):
            clocks = CLOCKS.search(line)
            clock_ms = int(clocks[1 if self.board.turn == chess.WHITE else 2]) if clocks else 0
            self.answers.append(Answer(go=line, clock_ms=clock_ms, sent=time.monotonic()))
            self.asked.set()
        super().send_line(line)

    def line_received(self, line: str) -> None:
        now = time.monotonic()
        self.console.output(line)
        answer = self.answers[-1] if self.answers else None
        if line.startswith("bestmove"):
            if answer is None or answer.received is not None:
                self.oddities.append(f"bestmove without go: {line}")
                return
            answer.received = now
            words = line.split()
            answer.best = words[1] if len(words) > 1 else ""
        elif line.startswith("info string ERROR"):
            self.error_lines.append(line)
        elif line.startswith("info string time ") and not ACCOUNT.match(line):
            self._take_plan(line)
        elif line.startswith("info ") and not line.startswith("info string") and answer and answer.received is None:
            answer.info = line

    def _take_plan(self, line: str) -> None:
        match = PLAN.match(line)
        # A plan may come after its move's `bestmove`, so it is matched by the clock it was made from.
        waiting = [answer for answer in self.answers[-2:] if answer.plan is None]
        mine = [answer for answer in waiting if match and answer.clock_ms == int(match[1])]
        if not match or not mine:
            self.oddities.append(f"plan that belongs to no move: {line}")
            return
        answer = mine[0]
        answer.plan, answer.hard_limit_ms = line, float(match[2])
        answer.plan_was_late = answer.received is not None

    def error_line_received(self, line: str) -> None:
        self.console.error(line)

    @property
    def stderr_lines(self) -> list[str]:
        """The lines of standard error that are trouble."""
        return self.console.trouble()

    @property
    def name(self) -> str:
        return self.id.get("name", "an engine without a name")

    async def end(self) -> None:
        """Asks the process to quit, and ends it if it does not."""
        try:
            await asyncio.wait_for(self.quit(), QUIT_S)
        except (TimeoutError, asyncio.TimeoutError, chess.engine.EngineError):
            if not self.returncode.done():
                self.oddities.append(f"did not end within {QUIT_S:g} s of quit")
                self.kill()

    def kill(self) -> None:
        if self.transport is not None and self.transport.get_returncode() is None:
            self.transport.kill()


async def launch(path: str, options: dict[str, str]) -> RecordingUci:
    """Starts the engine at `path`, sets `options` and waits until it is ready."""
    try:
        # In a process group of its own: Ctrl-C is the script's, and no engine's crash.
        _, engine = await RecordingUci.popen(path, setpgrp=True)
    except OSError as error:
        raise EngineTrouble(f"cannot start {path}: {error}") from error
    try:
        await asyncio.wait_for(engine.initialize(), STARTUP_S)
        await engine.configure({name: typed(engine, name, value) for name, value in options.items()})
        await asyncio.wait_for(engine.ping(), STARTUP_S)
    except (TimeoutError, asyncio.TimeoutError) as error:
        engine.kill()
        raise EngineTrouble(f"{path} was not ready within {STARTUP_S:g} s") from error
    except (chess.engine.EngineError, ValueError) as error:
        engine.kill()
        stderr = "; ".join(engine.stderr_lines[-3:])
        raise EngineTrouble(f"{path}: {error}" + (f" ({stderr})" if stderr else "")) from error
    if engine.error_lines:
        engine.kill()
        raise EngineTrouble(f"{path}: {engine.error_lines[0]}")
    return engine


def typed(engine: chess.engine.UciProtocol, name: str, value: str) -> str | int | bool:
    """The value as python-chess keeps it: it takes any text for true where an option is a check, and a number that came
    as a text for a change."""
    option = engine.options.get(name)
    if option is None or option.type not in ("check", "spin"):
        return value
    if option.type == "spin":
        if not value.isdecimal():
            raise ValueError(f"option {name}: {value!r} is not a whole number")
        return int(value)
    if value.lower() not in ("true", "false"):
        raise ValueError(f"option {name}: {value!r} is neither true nor false")
    return value.lower() == "true"


class WarningLog(logging.Handler):
    """python-chess logs what it forgives; here it is kept for the report."""

    def __init__(self, unexpected_output: bool) -> None:
        super().__init__(logging.WARNING)
        self.unexpected_output = unexpected_output
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        line = record.getMessage()
        if self.unexpected_output or "Unexpected engine output" not in line:
            self.lines.append(line)


def log_warnings(unexpected_output: bool = False) -> WarningLog:
    """Keeps the warnings from now on; those of lines that python-chess did not expect only if told so, as RecordingUci sees
    each line itself."""
    log = WarningLog(unexpected_output)
    chess.engine.LOGGER.addHandler(log)
    chess.engine.LOGGER.propagate = False
    return log
