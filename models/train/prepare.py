"""Turns labelled games (*.bin.gz) into packed arrays that training can hold in memory.

    python prepare.py --games DIR [--work work] [--jobs 2]

One .npz per shard in WORK/packed; a shard that is already there is skipped, so a stopped run goes on where it was.
Positions are stored as bitboards (210 bytes each with their labels, up to 610 where few have one); `encoding.py` makes
planes from them.
The format of the games is described in ../README.md.
"""

from __future__ import annotations

import argparse
import gzip
import struct
import time
import zlib
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import chess
import numpy as np

from common import is_made, make_folder, positive, whole
from encoding import History, castling_byte, policy_index


def games(path: Path):
    """Yields (FEN, opening moves, plies); a ply is (probability bytes, W, D, moves left, index played), undecoded.

    A ply without a label has no probability bytes.
    """
    data, at = gzip.open(path).read(), 0
    while at < len(data):
        fen_length, opening_length, plies = struct.unpack_from("<BBH", data, at)
        at += 4
        fen = data[at : at + fen_length].decode()
        at += fen_length
        opening = data[at : at + opening_length].decode().split()
        at += opening_length
        labels = []
        for _ in range(plies):
            count = data[at]
            if count == 0:
                labels.append((b"", 0, 0, 0, *struct.unpack_from("<H", data, at + 1)))
                at += 3
                continue
            values = struct.unpack_from("<HHHH", data, at + 1 + count)
            labels.append((data[at + 1 : at + 1 + count], *values))
            at += 9 + count
        yield fen, opening, labels


def pack(path: Path) -> dict[str, np.ndarray]:
    """Replays every game of a shard: arrays of frames, of samples and of legal moves (fields: `data.Positions`)."""
    frames, repeated = [], []
    samples, moves, probabilities = [], [], bytearray()
    for game, (fen, opening, plies) in enumerate(games(path)):
        # Chess960 games are among them, and their rules of castling hold for all.
        board = chess.Board(fen, chess960=True)
        history = History(board)
        for uci in opening:
            board.push_uci(uci)
            history.add(board)
        start = len(frames)
        for ply, (policy, win, draw, left, played) in enumerate(plies):
            legal = {policy_index(board, move): move for move in board.legal_moves}
            if policy:
                if len(legal) != len(policy):
                    raise ValueError(f"game {game}, ply {ply}: {len(policy)} labels, {len(legal)} legal moves")
                samples.append((
                    start + len(history.frames) - 1, len(history.frames) - 1, history.fill, board.turn == chess.BLACK,
                    castling_byte(board), min(board.halfmove_clock, 255), win, draw, left, len(policy), played,
                    game, len(plies) - ply,
                ))
                moves += sorted(legal)
                probabilities += policy
            board.push(legal[played])
            history.add(board)
        frames += history.frames
        repeated += history.repeated
    table = np.array(samples, np.int64)
    columns = {
        "frame": np.int32, "before": np.uint16, "fill": np.bool_, "black": np.bool_, "castling": np.uint8,
        "rule50": np.uint8, "win": np.uint16, "draw": np.uint16, "left": np.uint16, "count": np.uint8,
        "played": np.uint16, "game": np.int32, "remaining": np.uint16,
    }
    out = {name: table[:, column].astype(kind) for column, (name, kind) in enumerate(columns.items())}
    out["pieces"] = np.array(frames, np.uint64)
    out["repeated"] = np.array(repeated, np.uint8)
    out["moves"] = np.array(moves, np.uint16)
    out["probabilities"] = np.frombuffer(bytes(probabilities), np.uint8)
    return out


def convert(source: Path, target: Path) -> int:
    """Packs one shard; the file appears only when it is whole. Returns the number of positions.

    Raises OSError where the games cannot be read and ValueError where they are damaged.
    """
    try:
        arrays = pack(source)
    except (gzip.BadGzipFile, EOFError, LookupError, ValueError, struct.error, zlib.error) as error:
        raise ValueError(f"{source} is damaged, or holds no labelled games: {error!r}") from error
    with whole(target) as partial, open(partial, "wb") as file:
        np.savez(file, **arrays)
    return len(arrays["frame"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=Path, required=True, help="folder of labelled games (*.bin.gz)")
    parser.add_argument("--work", type=Path, default=Path(__file__).parent / "work", help="working folder")
    parser.add_argument("--jobs", type=positive(int), default=2, help="processes (default 2)")
    args = parser.parse_args()
    packed = args.work / "packed"
    make_folder(packed)
    pairs = [(path, packed / path.name.replace(".bin.gz", ".npz")) for path in sorted(args.games.glob("*.bin.gz"))]
    if not pairs:
        parser.error(f"no *.bin.gz in {args.games}")
    pending = [(shard, made) for shard, made in pairs if not is_made(made, shard)]
    print(f"{len(pairs)} shards, {len(pairs) - len(pending)} ready", flush=True)
    began, positions = time.monotonic(), 0
    with ProcessPoolExecutor(args.jobs) as pool:
        tasks = {pool.submit(convert, *pair): pair[1] for pair in pending}
        for done, task in enumerate(as_completed(tasks), 1):
            try:
                positions += task.result()
            except (OSError, ValueError, BrokenProcessPool) as error:
                pool.shutdown(cancel_futures=True)
                raise SystemExit(str(error)) from error
            rate = positions / (time.monotonic() - began)
            print(f"{tasks[task].name}: {done}/{len(pending)} shards, {positions} positions, {rate:.0f}/s", flush=True)


if __name__ == "__main__":
    main()
