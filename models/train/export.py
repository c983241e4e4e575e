"""Writes the averaged network of a checkpoint as an Lc0 network file.

    python export.py work/small/checkpoint.pt ../../crates/zeitnot-network/networks/zeitnot-small.pb.gz

Batch norm is folded into each convolution, the scales of the fifty-move plane, of the policy and of the moves-left head
into their weights, so that the file holds plain convolutions with biases and dense layers.
"""

from __future__ import annotations

import argparse
import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

import lc0_file
from encoding import RULE50_PLANE, RULE50_SCALE
from lc0_file import Fixed32, layer
from model import MOVES_LEFT_SCALE, Network, Shape

# Fields of `Net`.
NET_MAGIC, NET_LICENSE, NET_MIN_VERSION, NET_FORMAT, NET_TRAINING, NET_WEIGHTS = 1, 2, 3, 4, 5, 10
# Fields of `Weights`.
INPUT, RESIDUAL, POLICY, POLICY1 = 1, 2, 3, 11
VALUE, VALUE1_W, VALUE1_B, VALUE2_W, VALUE2_B = 6, 7, 8, 9, 10
LEFT, LEFT1_W, LEFT1_B, LEFT2_W, LEFT2_B = 12, 13, 14, 15, 16
# NetworkFormat: classical 112 planes, WDL, SE with head format, convolutional policy, WDL value, moves left, ReLU.
NETWORK_FORMAT = {1: 1, 2: 2, 3: 4, 4: 2, 5: 2, 6: 1, 7: 0}
#: The first Lc0 with moves-left heads, as its own training writes.
MIN_VERSION = {1: 0, 2: 25, 3: 1}
LICENSE = (
    "Zeitnot's own network, GPL-3.0-or-later. Trained by Zeitnot's models/train on positions from CC0 opening books "
    "with labels made with Lc0's network T1-256x10."
)


def folded(
    conv: torch.nn.Conv2d, norm: torch.nn.BatchNorm2d | None, inputs: np.ndarray | None = None, outputs: float = 1.0,
) -> dict:
    """A ConvBlock message of a convolution with its batch norm, if any, folded in.

    inputs scales its input channels, outputs what comes out.
    """
    weight = conv.weight.detach().double().numpy()
    if inputs is not None:
        weight = weight * inputs[None, :, None, None]
    if norm is None:
        bias = conv.bias.detach().double().numpy()
    else:
        scale = (norm.weight / torch.sqrt(norm.running_var.double() + norm.eps)).detach().numpy()
        bias = norm.bias.detach().double().numpy() - scale * norm.running_mean.double().numpy()
        weight = weight * scale[:, None, None, None]
    return {1: layer(weight * outputs), 2: layer(bias * outputs)}


def filled(network: Network) -> Network:
    """A network that computes the same with heads of the sizes that Lc0 knows: what is added is zero, so that it takes
    next to no room in a compressed file."""
    if network.shape.narrow == 1:
        return network
    full = Network(replace(network.shape, narrow=1)).eval()
    own = network.state_dict()
    state = {}
    for name, whole in full.state_dict().items():
        part = own[name]
        if part.shape == whole.shape:
            state[name] = part
            continue
        # A batch norm's variance may not be zero.
        state[name] = torch.full_like(whole, 1.0 if name.endswith("running_var") else 0.0)
        # A dense layer's inputs are the squares of one channel after the other: the channels kept come first.
        state[name][tuple(slice(size) for size in part.shape)] = part
    full.load_state_dict(state)
    return full


def message(network: Network, samples: int, batch: int, lr: float, sharpen: float = 1.0, origin: str = "") -> dict:
    """The `Net` message of a network whose policy was trained on probabilities to the power of sharpen; origin: what
    the run began with, in words."""

    def dense(module: torch.nn.Linear, scale: float = 1.0) -> tuple[dict, dict]:
        return layer(module.weight.detach().numpy() * scale), layer(module.bias.detach().numpy() * scale)

    def plain(conv_norm) -> dict:
        return folded(conv_norm.conv, conv_norm.norm)

    network = filled(network)
    inputs = network.input_scale.double().numpy().ravel()
    assert np.isclose(inputs[RULE50_PLANE] * RULE50_SCALE, 1)
    residual = []
    for block in network.blocks:
        (w1, b1), (w2, b2) = dense(block.se.squeeze), dense(block.se.excite)
        residual.append({1: plain(block.first), 2: plain(block.second), 3: {1: w1, 2: b1, 3: w2, 4: b2}})
    weights = {
        INPUT: folded(network.input.conv, network.input.norm, inputs),
        RESIDUAL: residual,
        POLICY1: plain(network.policy_conv),
        POLICY: folded(network.policy_out, None, outputs=1 / sharpen),
        VALUE: plain(network.value_conv),
        LEFT: plain(network.left_conv),
    }
    weights[VALUE1_W], weights[VALUE1_B] = dense(network.value_hidden)
    weights[VALUE2_W], weights[VALUE2_B] = dense(network.value_out)
    weights[LEFT1_W], weights[LEFT1_B] = dense(network.left_hidden)
    weights[LEFT2_W], weights[LEFT2_B] = dense(network.left_out, MOVES_LEFT_SCALE)
    shape = network.shape
    begun = f", begun as {origin}" if origin else ""
    return {
        NET_MAGIC: Fixed32(lc0_file.MAGIC),
        NET_LICENSE: LICENSE,
        NET_MIN_VERSION: MIN_VERSION,
        NET_FORMAT: {1: lc0_file.LINEAR16, 2: NETWORK_FORMAT},
        NET_TRAINING: {
            1: samples // batch, 2: float(lr),
            6: f"zeitnot {shape.blocks}x{shape.channels} se {shape.se}, {samples} samples in batches of {batch}{begun}",
        },
        NET_WEIGHTS: weights,
    }


def load(checkpoint: Path) -> tuple[Network, dict]:
    """The averaged network of a checkpoint, ready for use, and the checkpoint itself.

    Raises OSError where there is no such file and ValueError where it is not one that train.py writes.
    """
    try:
        state = torch.load(checkpoint, weights_only=True, map_location="cpu")
        network = Network(Shape(**state["shape"]))
        network.load_state_dict(state["averaged"])
    except (pickle.UnpicklingError, EOFError, LookupError, RuntimeError, TypeError) as error:
        raise ValueError(f"{checkpoint}: no checkpoint of train.py") from error
    return network.eval(), state


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("output", type=Path, help="network file to write (.pb.gz)")
    args = parser.parse_args()
    try:
        network, state = load(args.checkpoint)
        samples = state["samples"]
        lc0_file.write(args.output, message(network, samples, state["batch"], state["lr"], state.get("sharpen", 1.0),
                                     state.get("origin", "")))
    except (OSError, ValueError) as error:
        raise SystemExit(str(error)) from error
    print(f"{args.output}: {args.output.stat().st_size} bytes, {samples} samples of training")


if __name__ == "__main__":
    main()
