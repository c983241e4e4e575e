"""Runs an Lc0 network file in PyTorch: residual networks with a convolutional policy, such as the ones made here.

Written from the file alone, not from model.py, so that it checks the export instead of repeating it.
"""

from __future__ import annotations

import gzip
import struct
import zlib
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor

import lc0_file
from encoding import PLANES

#: Batch norm's epsilon in files that still carry its statistics.
NORM_EPSILON = 1e-5
#: Of a network's format: 112 classical planes, as encoding.py makes them; convolutional policy; WDL; moves left; mish.
CLASSICAL_INPUT, CONVOLUTIONAL_POLICY, WDL, MOVES_LEFT, MISH = 1, 2, 2, 1, 1


class Lc0Network:
    """call: planes [n, 112, 8, 8] -> policy logits [n, 80 * 64], WDL logits [n, 3] or scalar [n, 1], plies left [n].

    The fifty-move plane is in plies, as Lc0 gives it; plies left are after the final ReLU, None without such a head.
    """

    def __init__(self, path: Path):
        net = lc0_file.read(path)
        layout = lc0_file.decode(lc0_file.decode(net[4][0])[2][0])
        number = layout.get(1, [CLASSICAL_INPUT])[0]
        if number != CLASSICAL_INPUT:
            raise ValueError(f"its input format is number {number}; only classical planes are made here")
        if layout.get(4, [1])[0] != CONVOLUTIONAL_POLICY:
            raise ValueError("only convolutional policy heads are read here")
        self.activation = F.mish if layout.get(7, [0])[0] == MISH else F.relu
        self.has_wdl = layout.get(5, [1])[0] == WDL
        weights = lc0_file.decode(net[10][0])
        self.input = self._conv(weights[1][0], PLANES)
        channels = len(self.input[1])
        self.blocks = []
        for data in weights[2]:
            fields = lc0_file.decode(data)
            se = lc0_file.decode(fields[3][0]) if 3 in fields else None
            if se:
                se = [self._values(se[field][0]) for field in (1, 2, 3, 4)]
            self.blocks.append((self._conv(fields[1][0], channels), self._conv(fields[2][0], channels), se))
        self.policy = self._conv(weights[11][0], channels), self._conv(weights[3][0], channels)
        self.value = self._conv(weights[6][0], channels), [self._values(weights[field][0]) for field in (7, 8, 9, 10)]
        self.left = None
        if 12 in weights and layout.get(6, [0])[0] == MOVES_LEFT:
            self.left = self._conv(weights[12][0], channels), [self._values(weights[f][0]) for f in (13, 14, 15, 16)]

    @staticmethod
    def _values(data: bytes) -> Tensor:
        return torch.from_numpy(lc0_file.layer_values(data).copy())

    def _conv(self, data: bytes, inputs: int) -> tuple[Tensor, Tensor]:
        """Weight [out, in, k, k] and bias of a ConvBlock, batch norm folded in if the file has it."""
        fields = {field: self._values(values[0]) for field, values in lc0_file.decode(data).items()}
        weight = fields[1]
        outputs = next(len(fields[field]) for field in (2, 4) if field in fields)
        size = round((len(weight) / outputs / inputs) ** 0.5)
        weight = weight.view(outputs, inputs, size, size)
        bias = fields.get(2, torch.zeros(outputs))
        if 4 in fields:
            gamma = fields.get(5, torch.ones(outputs)) / torch.sqrt(fields[4] + NORM_EPSILON)
            bias = gamma * (bias - fields[3]) + fields.get(6, torch.zeros(outputs))
            weight = weight * gamma[:, None, None, None]
        return weight, bias

    def _head(self, x: Tensor, head) -> Tensor:
        (weight, bias), (w1, b1, w2, b2) = head
        x = self.activation(F.conv2d(x, weight, bias)).flatten(1)
        x = self.activation(F.linear(x, w1.view(len(b1), -1), b1))
        return F.linear(x, w2.view(len(b2), -1), b2)

    @torch.no_grad()
    def __call__(self, planes: Tensor) -> tuple[Tensor, Tensor, Tensor | None]:
        act = self.activation
        x = act(F.conv2d(planes.to(self.input[0].dtype), *self.input, padding=1))
        for first, second, se in self.blocks:
            y = F.conv2d(act(F.conv2d(x, *first, padding=1)), *second, padding=1)
            if se:
                w1, b1, w2, b2 = se
                hidden = act(F.linear(y.mean((2, 3)), w1.view(len(b1), -1), b1))
                gate, offset = F.linear(hidden, w2.view(len(b2), -1), b2).chunk(2, 1)
                y = y * torch.sigmoid(gate)[:, :, None, None] + offset[:, :, None, None]
            x = act(x + y)
        policy = F.conv2d(act(F.conv2d(x, *self.policy[0], padding=1)), *self.policy[1], padding=1).flatten(1)
        value = self._head(x, self.value)
        left = self._head(x, self.left).relu().squeeze(1) if self.left else None
        return policy, value if self.has_wdl else torch.tanh(value), left


def read(path: Path) -> Lc0Network:
    """The network of a file. OSError where it cannot be read, ValueError where it is damaged or of another kind."""
    try:
        return Lc0Network(path)
    except (gzip.BadGzipFile, EOFError, LookupError, RuntimeError, ValueError, struct.error, zlib.error) as error:
        raise ValueError(f"{path} is damaged, or no network of the kind that is read here: {error!r}") from error


def read_or_exit(path: Path) -> Lc0Network:
    """The same for a command line: what is wrong is one line, and the end."""
    try:
        return read(path)
    except (OSError, ValueError) as error:
        raise SystemExit(str(error)) from error
