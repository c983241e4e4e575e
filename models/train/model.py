"""Lc0's residual network with squeeze-and-excitation, as trained: batch norm inside, folded away by export.py."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import torch
from torch import Tensor, nn

from encoding import PLANES, RULE50_PLANE, RULE50_SCALE

#: The moves-left head works in units of this many plies while training; export multiplies its last layer.
MOVES_LEFT_SCALE = 20.0
#: Sizes of the heads in a file; Lc0's ONNX converter knows only these two for the value head.
VALUE_CHANNELS, VALUE_HIDDEN = 32, 128
LEFT_CHANNELS, LEFT_HIDDEN = 8, 128
#: Planes of the convolutional policy head (73 used).
POLICY_PLANES = 80


@dataclass(frozen=True)
class Shape:
    """Blocks, channels, hidden units of the squeeze-and-excitation, and the divisor of the sizes of the value and
    moves-left heads (export.py fills them up with zeros)."""

    blocks: int = 6
    channels: int = 64
    se: int = 32
    narrow: int = 1

    def as_dict(self) -> dict[str, int]:
        return asdict(self)


class ConvNorm(nn.Module):
    """Convolution without bias, then batch norm."""

    def __init__(self, inputs: int, outputs: int, kernel: int):
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, kernel, padding=kernel // 2, bias=False)
        self.norm = nn.BatchNorm2d(outputs)

    def forward(self, x: Tensor) -> Tensor:
        return self.norm(self.conv(x))


class SqueezeExcite(nn.Module):
    """Channel gates and offsets from the channel means (Lc0's form: sigmoid(first half) * x + second half)."""

    def __init__(self, channels: int, hidden: int):
        super().__init__()
        self.squeeze = nn.Linear(channels, hidden)
        self.excite = nn.Linear(hidden, 2 * channels)

    def forward(self, x: Tensor) -> Tensor:
        gate, offset = self.excite(torch.relu(self.squeeze(x.mean((2, 3))))).chunk(2, 1)
        return torch.addcmul(offset[:, :, None, None], torch.sigmoid(gate)[:, :, None, None], x)


class Block(nn.Module):
    """Residual block: two convolutions, squeeze-and-excitation, skip."""

    def __init__(self, shape: Shape):
        super().__init__()
        self.first = ConvNorm(shape.channels, shape.channels, 3)
        self.second = ConvNorm(shape.channels, shape.channels, 3)
        self.se = SqueezeExcite(shape.channels, shape.se)

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(x + self.se(self.second(torch.relu(self.first(x)))))


class Network(nn.Module):
    """forward: planes [n, 112, 8, 8] -> policy logits [n, 80 * 64], WDL logits [n, 3], plies left [n].

    Planes may be of any number type, the fifty-move counter in plies. The plies left may be slightly negative here: the
    final ReLU is Lc0's, at inference.
    """

    def __init__(self, shape: Shape):
        super().__init__()
        self.shape = shape
        channels, narrow = shape.channels, shape.narrow
        value_channels, value_hidden = VALUE_CHANNELS // narrow, VALUE_HIDDEN // narrow
        left_channels, left_hidden = LEFT_CHANNELS // narrow, LEFT_HIDDEN // narrow
        self.input = ConvNorm(PLANES, channels, 3)
        self.blocks = nn.Sequential(*(Block(shape) for _ in range(shape.blocks)))
        self.policy_conv = ConvNorm(channels, channels, 3)
        self.policy_out = nn.Conv2d(channels, POLICY_PLANES, 3, padding=1)
        self.value_conv = ConvNorm(channels, value_channels, 1)
        self.value_hidden = nn.Linear(value_channels * 64, value_hidden)
        self.value_out = nn.Linear(value_hidden, 3)
        self.left_conv = ConvNorm(channels, left_channels, 1)
        self.left_hidden = nn.Linear(left_channels * 64, left_hidden)
        self.left_out = nn.Linear(left_hidden, 1)
        scale = torch.ones(1, PLANES, 1, 1)
        scale[0, RULE50_PLANE] = 1 / RULE50_SCALE
        self.register_buffer("input_scale", scale, persistent=False)
        for module in self.modules():
            if isinstance(module, (nn.Conv2d, nn.Linear)):
                nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
                if module.bias is not None:
                    nn.init.zeros_(module.bias)
        for last in (self.policy_out, self.value_out, self.left_out):
            nn.init.normal_(last.weight, std=0.01)
        nn.init.constant_(self.left_out.bias, 3.0)

    def forward(self, planes: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        x = (planes * self.input_scale).contiguous(memory_format=torch.channels_last)
        x = self.blocks(torch.relu(self.input(x)))
        policy = self.policy_out(torch.relu(self.policy_conv(x))).flatten(1)
        return policy, *self.value_and_left(x)

    def value_and_left(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """WDL logits and plies left of what the blocks computed."""
        value = torch.relu(self.value_conv(x)).flatten(1)
        value = self.value_out(torch.relu(self.value_hidden(value)))
        left = torch.relu(self.left_conv(x)).flatten(1)
        left = self.left_out(torch.relu(self.left_hidden(left))).squeeze(1)
        return value, left * MOVES_LEFT_SCALE


def parameters(network: nn.Module) -> int:
    """Number of trained numbers."""
    return sum(parameter.numel() for parameter in network.parameters())
