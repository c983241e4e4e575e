"""The program behind the package: where it is, and how its commands are run."""

from __future__ import annotations

import contextlib
import functools
import itertools
import json
import os
import shutil
import subprocess
import tempfile
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from importlib import metadata
from typing import IO, Any, cast

# Requests that the program holds at once: it refuses those beyond its memory for them.
WINDOW = 256


class Error(Exception):
    """What the program refused or could not do, in its own words."""


def program() -> str:
    """The path of the program: the one in the wheel, else `ZEITNOT` of the environment, else `zeitnot` of the path."""
    with contextlib.suppress(metadata.PackageNotFoundError):
        for file in metadata.files("zeitnot") or []:
            if file.name in ("zeitnot", "zeitnot.exe") and os.path.isfile(path := os.path.realpath(file.locate())):
                return path
    found = os.environ.get("ZEITNOT") or shutil.which("zeitnot")
    if not found:
        raise Error("no program zeitnot: install the wheel, or name the program in the environment's ZEITNOT")
    return found


def flags(options: Mapping[str, Any]) -> list[str]:
    """Command-line flags from keyword arguments: `max_nodes=3` is `--max-nodes=3`, True a switch; None is left out."""
    given = []
    for name, value in options.items():
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if one is not None:
                value_text = "" if one is True else "=false" if one is False else f"={one}"
                given.append("--" + name.replace("_", "-") + value_text)
    return given


def last_words(log: IO[bytes], code: int | None, command: Sequence[str]) -> Error:
    """The error of a program that has ended: the last line in which it says so, without its name, and what it lists."""
    log.seek(0)
    lines = log.read().decode(errors="replace").splitlines()
    for number in reversed(range(len(lines))):
        for start in ("zeitnot: ", "error: "):
            if lines[number].startswith(start):
                listed = itertools.takewhile(lambda line: line.startswith("  "), lines[number + 1 :])
                return Error(" ".join(line.strip() for line in [lines[number].removeprefix(start), *listed]))
    return Error(f"zeitnot {command[0]} ended with code {code}")


def end(process: subprocess.Popen[Any]) -> None:
    """Ends a process that still runs, and waits for it: none is left behind."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
    process.wait()


def run(arguments: Sequence[str], watch: Callable[[], object] = lambda: None) -> str:
    """What a command prints. `watch` is called some times a second meanwhile. Ctrl-C ends the program, too."""
    with tempfile.TemporaryFile() as log:
        with start(arguments, log, subprocess.DEVNULL) as process:
            try:
                while True:
                    try:
                        output, _ = process.communicate(timeout=0.2)
                        break
                    except subprocess.TimeoutExpired:
                        watch()
            finally:
                end(process)
        if process.returncode != 0:
            raise last_words(log, process.returncode, arguments)
        return output


def start(arguments: Sequence[str], log: IO[bytes], stdin: int, own_session: bool = False) -> subprocess.Popen[str]:
    """Starts the program with its output in a pipe and its log in a file, which cannot run full as a pipe can."""
    try:
        pipes: dict[str, Any] = {"stdin": stdin, "stdout": subprocess.PIPE, "stderr": log, "encoding": "utf-8"}
        return subprocess.Popen([program(), *arguments], start_new_session=own_session, **pipes)
    except OSError as error:
        raise Error(f"cannot run {program()}: {error.strerror}") from error


class Dialogue:
    """A program that answers lines of JSON. Ctrl-C reaches Python alone, which decides what becomes of the program."""

    def __init__(self, *arguments: str) -> None:
        self._arguments, self._log = arguments, tempfile.TemporaryFile()
        self._writing, self._is_closed = threading.Lock(), False
        self._process = start(arguments, self._log, subprocess.PIPE, own_session=True)
        assert self._process.stdin and self._process.stdout
        self._input, self._output = self._process.stdin, self._process.stdout

    def write(self, message: Mapping[str, Any]) -> None:
        """Sends a line. Raises `Error` where the program has ended."""
        try:
            with self._writing:
                self._input.write(json.dumps(message) + "\n")
                self._input.flush()
        except (OSError, ValueError):
            raise self.failure() from None

    def read(self) -> dict[str, Any]:
        """Waits for a line. Raises `Error` where the program has ended."""
        try:
            return cast(dict[str, Any], json.loads(self._output.readline()))
        except ValueError:  # No line came, or half of one.
            raise self.failure() from None

    def ask(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """Sends a line and waits for the next one. Raises `Error` where the program has ended."""
        self.write(message)
        return self.read()

    def failure(self) -> Error:
        """The error of the program, which has ended or is ended now."""
        if self._is_closed:
            return Error("it has been closed")
        end(self._process)
        return last_words(self._log, self._process.returncode, self._arguments)

    def close(self, join: Callable[[], None] = lambda: None) -> None:
        """Ends the program, whatever it is doing. `join` waits for who reads from it."""
        if not self._is_closed:
            self._is_closed = True
            end(self._process)
            join()
            for pipe in (self._input, self._output, self._log):
                with contextlib.suppress(OSError):  # There are lines that nobody has read.
                    pipe.close()


class Requests:
    """Requests to a program that gives each answer the `id` of its request, in any order, from any thread."""

    def __init__(self, *arguments: str) -> None:
        self._dialogue = Dialogue(*arguments)
        self._waiting: dict[int, Future[dict[str, Any]]] = {}
        self._numbers = itertools.count(1)
        reader = threading.Thread(target=_deliver, args=(self._dialogue, self._waiting), daemon=True)
        reader.start()
        # Ends the program, also when nobody has this any more or Python ends. Requests that wait fail.
        self.close = weakref.finalize(self, self._dialogue.close, functools.partial(_join, reader))

    def answers(self, requests: Iterable[Mapping[str, Any]], are_searches: bool) -> Iterator[dict[str, Any]]:
        """The answers in the order of their requests. Searches end when nobody waits for them, as after Ctrl-C."""
        ahead, waiting = iter(requests), deque[int]()
        try:
            while True:
                for request in itertools.islice(ahead, WINDOW - len(waiting)):
                    waiting.append(next(self._numbers))
                    self._waiting[waiting[-1]] = Future()
                    self._dialogue.write({**request, "id": waiting[-1]})
                if not waiting:
                    return
                answer = self._waiting[waiting[0]].result()
                self._waiting.pop(waiting.popleft())
                yield answer
        finally:
            for number in waiting:
                self._waiting.pop(number, None)
                with contextlib.suppress(Error):
                    if are_searches:
                        self._dialogue.write({"id": -number, "action": "terminate", "terminateId": number})


def _join(thread: threading.Thread) -> None:
    """Waits for a thread, but not for itself: Python may drop the last reference to an object in any thread."""
    if thread is not threading.current_thread():
        thread.join()


def _deliver(dialogue: Dialogue, waiting: dict[int, Future[dict[str, Any]]]) -> None:
    """Hands answers to those who wait, until the program ends."""
    try:
        while True:
            answer = dialogue.read()
            # An error without an id is about a line, of whichever request: all that wait fail.
            for future in [waiting.get(answer["id"])] if "id" in answer else list(waiting.values()):
                if future and not future.done():
                    future.set_exception(Error(answer["error"])) if "error" in answer else future.set_result(answer)
    except Error as error:
        # The program reads no more: whoever asks from now on fails to write.
        for future in list(waiting.values()):
            if not future.done():
                future.set_exception(error)
