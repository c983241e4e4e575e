"""Packed positions in memory and batches of tensors from them."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Collection
from pathlib import Path

import numpy as np
import torch

from encoding import CONV_SLOTS, HISTORY, MIRRORED, planes

#: One game in HELD_OUT of each shard is never trained on. Whole games, so that no position has a neighbour in the other
#: part; counted within a shard, so that it stays the same when shards are added.
HELD_OUT = 64
#: Share of the samples whose history is cut short, as it is after a FEN: analysis and puzzles begin like that.
FORGETFUL = 0.2
#: Teacher's moves-left labels are in 1/16 ply.
LEFT_UNIT = 16.0


def surprise_path(shard: Path) -> Path:
    """Where surprise.py writes about a packed shard: arrays as well, but not by a name that shards have."""
    return shard.with_suffix(".surprise")


def stored(path: Path) -> dict[str, np.ndarray]:
    """The arrays of a file that np.savez wrote; or SystemExit."""
    try:
        with open(path, "rb") as file, np.load(file) as arrays:
            return dict(arrays)
    except (OSError, EOFError, TypeError, ValueError, zipfile.BadZipFile, zlib.error) as error:
        raise SystemExit(f"{path} cannot be read, or is damaged: {error}") from error


def is_of(shard: Path, kinds: Collection[str]) -> bool:
    """Whether a shard is of one of these kinds: its name begins so, and what follows is a hyphen, a dot or nothing."""
    return any(shard.name.startswith(kind) and shard.name[len(kind):][:1] in ("", "-", ".") for kind in kinds)


def must_be_there(kinds: Collection[str], shards: list[Path]) -> None:
    """SystemExit if there is a kind that none of the shards is of."""
    unknown = [kind for kind in kinds if not any(is_of(shard, [kind]) for shard in shards)]
    if unknown:
        raise SystemExit(f"no shard in {shards[0].parent} is called {unknown[0]}")


class Positions:
    """All packed shards of a folder, or those of the kinds `only`, but none of the kinds `without`; or a single one. A
    shard's kind is how its name begins: maia-16-0000.npz is of the kinds maia and maia-16, not of maia-1.

    Per sample: frame (its own), before (frames of its game before it), fill (repeat the first frame backwards),
    black, castling, rule50, win/draw (65535 = certain), left (1/16 ply), count (legal moves), played (policy index),
    game, remaining (plies to the end of the game). Per frame: pieces, repeated. Per legal move: moves (policy index,
    ascending), probabilities (255 * sqrt(p)).
    """

    def __init__(self, packed: Path, only: str | Collection[str] = (), without: Collection[str] = ()):
        if isinstance(only, str):
            only = [only] if only else []
        paths = [packed] if packed.is_file() else sorted(packed.glob("*.npz"))
        if not paths:
            raise SystemExit(f"no packed positions in {packed}: run prepare.py first")
        must_be_there([*only, *without], paths)
        paths = [path for path in paths if (not only or is_of(path, only)) and not is_of(path, without)]
        if not paths:
            raise SystemExit(f"no packed positions in {packed} but those to do without: {', '.join(without)}")
        shards, lengths = [], []
        frames = 0
        for path in paths:
            shard = stored(path)
            lengths.append(len(shard["frame"]))
            shard["frame"] = shard["frame"].astype(np.int64) + frames
            frames += len(shard["pieces"])
            shards.append(shard)
        self.arrays = {name: np.concatenate([shard[name] for shard in shards]) for name in shards[0]}
        counts = self.arrays["count"].astype(np.int64)
        self.offset = np.concatenate([[0], np.cumsum(counts)[:-1]])
        self.lengths = dict(zip(paths, lengths))
        held_out = self.arrays["game"] % HELD_OUT == 0
        self.training = np.flatnonzero(~held_out)
        self.held_out = np.flatnonzero(held_out)

    def surprise(self) -> np.ndarray:
        """The divergence of every position, in nats, as surprise.py measured it: of all shards by the same network, or
        SystemExit."""
        parts, networks = [], []
        for path, length in self.lengths.items():
            measured = surprise_path(path)
            if not measured.exists():
                raise SystemExit(f"{path.name} has not been measured: run surprise.py first")
            found = stored(measured)
            parts.append(found["nats"].astype(np.float32))
            networks.append(str(found["network"]))
            if len(parts[-1]) != length:
                raise SystemExit(f"{measured.name} is of another shard: remove it and run surprise.py")
            if networks[-1] != networks[0]:
                raise SystemExit(f"{path.name} has been measured by another network than others: run surprise.py")
        # What rounding made negative is none.
        return np.concatenate(parts).clip(0)

    def factors(self, of_kinds: dict[str, float]) -> np.ndarray:
        """One number for every position: that of its shard's kind (of two the longer one: maia-16, not maia), 1 where
        there is none; or SystemExit."""
        must_be_there(of_kinds, list(self.lengths))
        kinds = sorted(of_kinds, key=len, reverse=True)
        parts = []
        for path, length in self.lengths.items():
            factor = next((of_kinds[kind] for kind in kinds if is_of(path, [kind])), 1.0)
            parts.append(np.full(length, factor))
        return np.concatenate(parts)

    def shards(self) -> dict[str, int]:
        """The names of all shards and how many positions they hold."""
        return {path.name: length for path, length in self.lengths.items()}

    def must_be(self, shards: dict[str, int], run: Path) -> None:
        """SystemExit unless these are all the shards, and no others, that a run was trained on."""
        now = self.shards()
        differing = shards.items() ^ now.items()
        if differing:
            name, _ = min(differing)
            what = "is missing" if name not in now else "is new" if name not in shards else "has changed"
            raise SystemExit(f"{run} was trained on other shards: {name} {what}")

    def __len__(self) -> int:
        return len(self.arrays["frame"])

    def batch(
        self, chosen: np.ndarray, mirror: np.ndarray | None = None, forget: np.ndarray | None = None,
    ) -> dict[str, torch.Tensor]:
        """Tensors of the chosen samples.

        planes [n, 112, 8, 8] bytes; slots [n, k] places of the legal moves in the flat policy head, legal [n, k] bool,
        policy [n, k] probabilities, wdl [n, 3], left [n] plies. mirror: coin per sample; it counts where no castling
        rights are left, the only positions whose mirror image is the same game. forget: per sample, how many positions
        before it are known (-1: all), as after a FEN, which knows of no repetition either.
        """
        get = self.arrays
        castling = get["castling"][chosen]
        if mirror is not None:
            mirror = mirror & (castling == 0)
        slot = np.arange(HISTORY)[None, :]
        before, fill = get["before"][chosen], get["fill"][chosen]
        if forget is None:
            forget = np.full(len(chosen), -1)
        cut = (forget >= 0) & (forget < before)
        before, fill, cut = np.where(cut, forget, before)[:, None], (fill | cut)[:, None], cut[:, None]
        frame = get["frame"][chosen][:, None] - np.minimum(slot, before)
        there = (slot <= before) | fill
        pieces = get["pieces"][frame] * there[:, :, None].astype(np.uint64)
        repeated = get["repeated"][frame] * (there & ~cut)
        inputs = planes(pieces, repeated, castling, get["rule50"][chosen], get["black"][chosen], mirror)

        count = get["count"][chosen].astype(np.int64)
        column = np.arange(count.max())[None, :]
        legal = column < count[:, None]
        at = np.where(legal, self.offset[chosen][:, None] + column, 0)
        moves = get["moves"][at].astype(np.int64)
        if mirror is not None:
            moves[mirror] = MIRRORED[moves[mirror]]
        policy = np.square(get["probabilities"][at].astype(np.float32) / 255) * legal
        policy /= policy.sum(1, keepdims=True)
        win = get["win"][chosen].astype(np.float32) / 65535
        draw = get["draw"][chosen].astype(np.float32) / 65535
        wdl = np.stack([win, draw, np.maximum(0, 1 - win - draw)], 1)
        wdl /= wdl.sum(1, keepdims=True)
        return {
            "planes": torch.from_numpy(inputs),
            "slots": torch.from_numpy(CONV_SLOTS[moves]),
            "legal": torch.from_numpy(legal),
            "policy": torch.from_numpy(policy),
            "wdl": torch.from_numpy(wdl),
            "left": torch.from_numpy(get["left"][chosen].astype(np.float32) / LEFT_UNIT),
        }


def how_often(positions: Positions, surprise: float, kinds: dict[str, float]) -> np.ndarray:
    """How many times an epoch has each position that is trained on, on average: that share of the samples is drawn in
    proportion to how much they surprised a network (surprise.py), the rest evenly; and then those of each kind so many
    times as often."""
    often = np.ones(len(positions.training))
    if surprise > 0:
        surprises = positions.surprise()[positions.training]
        often += surprise * (surprises / max(surprises.mean(), 1e-9) - 1)
    if kinds:
        often *= positions.factors(kinds)[positions.training]
        often /= often.mean()
    return often


def batches(positions: Positions, often: np.ndarray, size: int, seed: int, step: int, rank: int, gang: int):
    """This process's part of each batch from `step` on; SystemExit where there is not one whole batch.

    A new permutation each epoch, the same ones however often the run is resumed. often: see `how_often`; what is left
    of a whole number is decided by lot.
    """
    if len(positions.training) < size:
        raise SystemExit(f"{len(positions.training)} positions to train on are fewer than a batch of {size}")
    return drawn(positions, often, size, seed, step, rank, gang)


def drawn(positions: Positions, often: np.ndarray, size: int, seed: int, step: int, rank: int, gang: int):
    """The batches themselves."""
    per_epoch = len(positions.training) // size
    while True:
        epoch, at = divmod(step, per_epoch)
        random = np.random.default_rng((seed, epoch))
        copies = np.floor(often + random.random(len(often))).astype(np.int64)
        order = np.resize(random.permutation(np.repeat(positions.training, copies)), per_epoch * size)
        mirror = random.random(len(order)) < 0.5
        forget = np.where(random.random(len(order)) < FORGETFUL, random.integers(0, HISTORY - 1, len(order)), -1)
        for at in range(at, per_epoch):
            part = slice(at * size + rank, (at + 1) * size, gang)
            # In ascending order: the same batch, fetched from memory in one sweep.
            sweep = np.argsort(order[part])
            yield positions.batch(order[part][sweep], mirror[part][sweep], forget[part][sweep])
        step = (epoch + 1) * per_epoch
