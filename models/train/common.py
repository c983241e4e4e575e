"""What several scripts need: numbers of the command line, what tells a file from others, and whether one has to be made
anew."""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Callable
from pathlib import Path

#: Hexadecimal digits of a network file's SHA-256 that tell it from others.
DIGITS = 16


def positive(number: type) -> Callable[[str], float]:
    """For argparse: reads a number that is greater than zero."""

    def read(text: str) -> float:
        try:
            value = number(text)
        except ValueError:
            value = number(0)
        if not value > 0:
            whole = "whole " if number is int else ""
            raise argparse.ArgumentTypeError(f"{text!r} is no {whole}number greater than zero")
        return value

    return read


def is_made(product: Path, source: Path) -> bool:
    """Whether a file that is made of another one is there, and not of an older one of that name."""
    return product.exists() and product.stat().st_mtime >= source.stat().st_mtime


def digest(path: Path) -> str:
    """What tells a file from others."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:DIGITS]
