"""A network file made by export.py, as a network that can be trained on.

In the file batch norm is folded into the convolutions. Here each gets one again that undoes itself: its statistics are
those of the convolution's outputs on some positions, its scale and offset take them back. So the network computes what
the file does, and goes on computing nearly that when training takes the statistics of its own batches. The optimiser's
memory is not in the file: begin with a warm-up.
"""

from __future__ import annotations

from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor

import lc0_file
from encoding import RULE50_PLANE, RULE50_SCALE
from export import NET_TRAINING
from lc0_network import Lc0Network, read
from model import MOVES_LEFT_SCALE, ConvNorm, Network, Shape

#: Field of `TrainingParams` with a text of export.py's.
DESCRIPTION = 6


def described(path: Path) -> str:
    """What export.py wrote about a file's training; of a file by others, its name."""
    training = lc0_file.decode(lc0_file.read(path).get(NET_TRAINING, [b""])[0])
    return training.get(DESCRIPTION, [path.name.encode()])[0].decode(errors="replace")


def put(values: Tensor, weight: Tensor) -> None:
    """Gives a tensor the values of a file, of which there must be as many; otherwise RuntimeError."""
    weight.copy_(values.view_as(weight))


def taken_over(layer: ConvNorm, weight: Tensor, bias: Tensor) -> None:
    """Gives a convolution the weights of a file; what its norm still lacks, `settled` finds out."""
    put(weight, layer.conv.weight)
    put(bias, layer.norm.bias)


def filled(network: Network, file: Lc0Network) -> None:
    """Gives a network all weights of a file."""
    weight, bias = file.input
    weight = weight.clone()
    weight[:, RULE50_PLANE] *= RULE50_SCALE
    taken_over(network.input, weight, bias)
    for block, (first, second, se) in zip(network.blocks, file.blocks):
        taken_over(block.first, *first)
        taken_over(block.second, *second)
        for layer, (weight, bias) in zip((block.se.squeeze, block.se.excite), (se[:2], se[2:])):
            put(weight, layer.weight)
            put(bias, layer.bias)
    taken_over(network.policy_conv, *file.policy[0])
    weight, bias = file.policy[1]
    put(weight, network.policy_out.weight)
    put(bias, network.policy_out.bias)
    for name, (conv, values), scale in ("value", file.value, 1.0), ("left", file.left, MOVES_LEFT_SCALE):
        taken_over(getattr(network, f"{name}_conv"), *conv)
        hidden, out = getattr(network, f"{name}_hidden"), getattr(network, f"{name}_out")
        put(values[0], hidden.weight)
        put(values[1], hidden.bias)
        put(values[2] / scale, out.weight)
        put(values[3] / scale, out.bias)


@torch.no_grad()
def settled(layer: ConvNorm, x: Tensor) -> None:
    """Sets a norm to the statistics of its convolution on x and lets scale and offset undo them. The filters get the
    size that they have in a new network: how fast they learn goes by it, and the norm takes it out again."""
    weight, norm = layer.conv.weight, layer.norm
    usual = (2 / weight[0].numel()) ** 0.5
    actual = weight.square().mean((1, 2, 3)).sqrt()
    stretch = torch.where(actual > 0, usual / actual, 1.0)
    weight.mul_(stretch[:, None, None, None])
    outputs = F.conv2d(x, weight, padding=layer.conv.padding)
    variance, mean = torch.var_mean(outputs, (0, 2, 3), correction=0)
    norm.running_mean.copy_(mean)
    norm.running_var.copy_(variance)
    norm.weight.copy_((variance + norm.eps).sqrt() / stretch)
    norm.bias.add_(mean / stretch)


@torch.no_grad()
def restored(path: Path, planes: Tensor) -> Network:
    """The network of a file; planes [n, 112, 8, 8] of positions such as it will be trained on, some hundreds of them.

    Raises OSError where there is no such file and ValueError where it is not one that export.py writes.
    """
    file = read(path)
    alike = file.activation is F.relu and file.has_wdl and file.left and all(se for _, _, se in file.blocks)
    try:
        if not alike:
            raise ValueError("other heads, gates or activation")
        network = Network(Shape(len(file.blocks), len(file.input[1]), len(file.blocks[0][2][1]))).eval()
        filled(network, file)
    except (LookupError, RuntimeError, ValueError) as error:
        raise ValueError(f"{path}: only networks as export.py writes them can be trained on ({error})") from error
    layers = [module for module in network.modules() if isinstance(module, ConvNorm)]
    hooks = [layer.register_forward_pre_hook(lambda layer, inputs: settled(layer, *inputs)) for layer in layers]
    network(planes)
    for hook in hooks:
        hook.remove()
    return network
