"""What several scripts need: numbers of the command line, folders, files that are whole, what tells a file from others,
and whether one has to be made anew."""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import math
from collections.abc import Callable, Iterator
from pathlib import Path

#: Hexadecimal digits of a network file's SHA-256 that tell it from others.
DIGITS = 16


def reader(number: type, fits: Callable[[float], bool], words: str) -> Callable[[str], float]:
    """For argparse: reads a number that fits, which the words say of it."""

    def read(text: str) -> float:
        try:
            value = number(text)
        except ValueError:
            value = math.nan
        if not fits(value):
            whole = "whole " if number is int else ""
            raise argparse.ArgumentTypeError(f"{text!r} is no {whole}number {words}")
        return value

    return read


def positive(number: type) -> Callable[[str], float]:
    """For argparse: reads a finite number that is greater than zero."""
    return reader(number, lambda value: 0 < value < math.inf, "greater than zero")


def between(number: type, low: float, high: float = math.inf) -> Callable[[str], float]:
    """For argparse: reads a finite number that is neither below `low` nor above `high`."""
    to = f" to {high}" if high < math.inf else ""
    return reader(number, lambda value: low <= value <= high and value < math.inf, f"from {low}{to}")


def make_folder(path: Path) -> None:
    """Makes a folder unless it is there; or SystemExit."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SystemExit(str(error)) from error


@contextlib.contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Where to write a file that is to be there as a whole or not at all: it gets its name at the end."""
    partial = path.with_name(path.name + ".partial")
    try:
        yield partial
        partial.rename(path)
    finally:
        # A full disk has room again.
        if partial.is_file():
            partial.unlink()


def is_made(product: Path, source: Path) -> bool:
    """Whether a file that is made of another one is there, and not of an older one of that name."""
    return product.exists() and product.stat().st_mtime >= source.stat().st_mtime


def digest(path: Path) -> str:
    """What tells a file from others."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:DIGITS]
