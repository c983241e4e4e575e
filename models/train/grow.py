"""A larger network that computes what a smaller one does, to train on from there (Net2Net: Chen, Goodfellow and Shlens
2016, arXiv:1511.05641).

Channels are copied. What reads a channel that has copies divides its weights among them, unevenly and at random: the
sum stays, and the copies soon learn different things. Blocks that are new add nothing at first: the scale of their last
norm is zero.
"""

from __future__ import annotations

from fnmatch import fnmatch
from pathlib import Path

import torch
from torch import Tensor

from data import Positions
from export import load
from model import Network, Shape
from restore import described, restored

#: Positions that tell the sizes of activations in a network file (restore.py).
RESTORE_WITH = 2000
#: Before they are made to add up to 1, the parts of the copies lie between 1 - this and 1 + this.
UNEVEN = 0.5


def divided(weight: Tensor, source: Tensor, random: torch.Generator) -> Tensor:
    """A tensor that reads, by its second axis, copies of the channels `source` instead of those themselves."""
    copied = weight[:, source]
    part = 1 + UNEVEN * (2 * torch.rand(copied.shape[:2], generator=random) - 1)
    whole = torch.zeros(weight.shape[:2]).index_add_(1, source, part)
    share = part / whole[:, source]
    return copied * share.view(*share.shape, *[1] * (copied.ndim - 2))


#: Of the layers that grow, by name: the channels that they write and those that they read.
GROWING = (
    ("blocks.*.se.squeeze.*", "hidden", "trunk"),
    ("blocks.*.se.excite.*", "gates", "hidden"),
    ("blocks.*.conv.*", "trunk", "trunk"),
    ("blocks.*.norm.*", "trunk", None),
    ("input.*", "trunk", None),
    ("policy_conv.conv.*", "trunk", "trunk"),
    ("policy_conv.norm.*", "trunk", None),
    ("policy_out.*", None, "trunk"),
    ("value_conv.conv.*", None, "trunk"),
    ("left_conv.conv.*", None, "trunk"),
)


def grown(small: Network, shape: Shape, seed: int = 1) -> Network:
    """A network of `shape`, which must be at least as large in everything, that computes what `small` does."""
    old = small.shape
    if min(shape.blocks - old.blocks, shape.channels - old.channels, shape.se - old.se) < 0:
        raise ValueError(f"{shape} is smaller than {old} in something")
    random = torch.Generator().manual_seed(seed)
    # What each new channel is a copy of.
    trunk, hidden = torch.arange(shape.channels) % old.channels, torch.arange(shape.se) % old.se
    # Gates come first, and then as many offsets.
    sources = {"trunk": trunk, "hidden": hidden, "gates": torch.cat([trunk, old.channels + trunk])}
    # New blocks are drawn alike for every caller, and nothing else that a caller draws depends on them.
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = Network(shape)
    state = network.state_dict()
    for name, weight in small.state_dict().items():
        writes, reads = next((roles for pattern, *roles in GROWING if fnmatch(name, pattern)), (None, None))
        if writes and weight.ndim > 0:
            weight = weight[sources[writes]]
        if reads and weight.ndim > 1:
            weight = divided(weight, sources[reads], random)
        state[name] = weight
    network.load_state_dict(state)
    with torch.no_grad():
        for block in network.blocks[old.blocks:]:
            block.second.norm.weight.zero_()
    return network


def is_network_file(path: Path) -> bool:
    """Whether a run is to begin with a network file, by its name, and not with another run's checkpoint."""
    return path.name.endswith((".pb", ".pb.gz"))


def beginning(path: Path, shape: Shape, sharpen: float, positions: Positions) -> tuple[Network, str]:
    """The averaged network of another run, or that of a network file, grown to the shape of a new one and with its
    sharpness of the policy; and what it was, in words."""
    try:
        if is_network_file(path):
            some = positions.training[:: max(1, len(positions.training) // RESTORE_WITH)]
            small, sharpened = restored(path, positions.batch(some)["planes"]), 1.0
            origin = described(path)
        else:
            small, state = load(path)
            sharpened = state.get("sharpen", 1.0)
            origin = f"{small.shape.blocks}x{small.shape.channels} after {state['samples']} samples"
            if state.get("origin"):
                origin += f", begun as {state['origin']}"
    except (OSError, ValueError) as error:
        raise SystemExit(f"--start: {error}") from error
    try:
        network = grown(small, shape).train()
    except ValueError as error:
        raise SystemExit(f"--start {path}: {error}") from error
    with torch.no_grad():
        for weight in network.policy_out.parameters():
            weight.mul_(sharpen / sharpened)
    return network, origin
