"""Lc0's network file: protobuf (proto2) in gzip, written and read by hand, for the few message types used here.

Field numbers are those of the `Net` message of lczero-common's net.proto; a message is a dict from field number to a
value, or to a list of values for a repeated field. Integers are varints, `float` is fixed32, bytes, str and dict are
length-delimited, `Fixed32` is the file's magic number.
"""

from __future__ import annotations

import gzip
import struct
from pathlib import Path

import numpy as np

from common import whole

MAGIC = 0x1C0
# Weights.Layer.encoding
LINEAR16, FLOAT16, BFLOAT16, FLOAT32 = 1, 2, 3, 4


class Fixed32(int):
    """An integer written as four bytes."""


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def encode(message: dict) -> bytes:
    """A message as bytes, fields in ascending order."""
    out = bytearray()
    for field in sorted(message):
        values = message[field]
        for value in values if isinstance(values, list) else [values]:
            if isinstance(value, Fixed32):
                out += _varint(field << 3 | 5) + struct.pack("<I", value)
            elif isinstance(value, int):
                out += _varint(field << 3) + _varint(value)
            elif isinstance(value, float):
                out += _varint(field << 3 | 5) + struct.pack("<f", value)
            else:
                body = encode(value) if isinstance(value, dict) else value.encode() if isinstance(value, str) else value
                out += _varint(field << 3 | 2) + _varint(len(body)) + body
    return bytes(out)


def decode(data: bytes) -> dict[int, list]:
    """Fields of one message: varints as int, the rest as bytes (call again on those that are messages)."""
    message: dict[int, list] = {}
    at = 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = varint()
        wire = key & 7
        if wire == 0:
            value = varint()
        elif wire in (1, 2, 5):
            length = {1: 8, 5: 4}.get(wire) or varint()
            if at + length > len(data):
                raise ValueError(f"truncated field {key >> 3}")
            value = data[at : at + length]
            at += length
        else:
            raise ValueError(f"unknown wire type {wire} in field {key >> 3}")
        message.setdefault(key >> 3, []).append(value)
    return message


def layer(values: np.ndarray) -> dict:
    """A tensor as Lc0 stores it: LINEAR16, i.e. 16-bit steps between the least and the greatest value."""
    values = np.asarray(values, np.float32).ravel()
    low, high = float(values.min()), float(values.max())
    # A constant tensor still needs a range, or its decoding would divide nothing by nothing.
    spread = high - low
    steps = np.round((values.astype(np.float64) - low) / spread * 65535) if spread > 0 else np.zeros(len(values))
    return {1: low, 2: high, 3: steps.astype("<u2").tobytes()}


def layer_values(data: bytes) -> np.ndarray:
    """The numbers of a stored tensor."""
    fields = decode(data)
    params = fields[3][0]
    encoding = fields.get(4, [LINEAR16])[0]
    if encoding == FLOAT32:
        return np.frombuffer(params, "<f4")
    if encoding == FLOAT16:
        return np.frombuffer(params, "<f2").astype(np.float32)
    if encoding == BFLOAT16:
        return (np.frombuffer(params, "<u2").astype(np.uint32) << 16).view(np.float32)
    low, high = (struct.unpack("<f", fields[field][0])[0] if field in fields else 0.0 for field in (1, 2))
    share = np.frombuffer(params, "<u2").astype(np.float32) / np.float32(65535)
    return share * np.float32(high - low) + np.float32(low)


def write(path: Path, message: dict) -> None:
    """Writes a network file, whole or not at all; no time stamp, so that equal networks are equal files."""
    with whole(path) as partial:
        partial.write_bytes(gzip.compress(encode(message), 9, mtime=0))


def read(path: Path) -> dict[int, list]:
    """The fields of a network file's outermost message."""
    data = path.read_bytes()
    message = decode(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
    if message.get(1) != [struct.pack("<I", MAGIC)]:
        raise ValueError(f"{path} is not an Lc0 network")
    return message
