"""A network's training pass where the processor has AMX: what model.py computes, in bfloat16, in less time.

    python kernels.py    # how much less, on this machine

In PyTorch a convolution's gradient of the weights takes as long as its pass forward three times over, and norms and
gates take as many passes over the memory as they have steps; here both are C++ (weight_gradient.cpp, scale_relu.cpp),
compiled on first use. models/README.md has the figures.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shlex
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils import cpp_extension

from common import positive
from encoding import PLANES, RULE50_PLANE
from model import Block, ConvNorm, Network, Shape

SOURCES = [Path(__file__).parent / name for name in ("weight_gradient.cpp", "scale_relu.cpp")]
#: What the sources use, as the compiler and as Linux call it.
INSTRUCTIONS = {
    "fma": "fma", "avx512f": "avx512f", "avx512bw": "avx512bw", "avx512vl": "avx512vl", "avx512bf16": "avx512_bf16",
    "amx-tile": "amx_tile", "amx-bf16": "amx_bf16",
}
#: Channels come in so many.
WIDTH = 32
SQUARES = 64
#: Batches that main() times.
REPEATS = 10

ops = torch.ops.zeitnot


def cxx() -> list[str]:
    """The command of the C++ compiler: CXX, as for other builds, if that says something; or SystemExit."""
    try:
        return shlex.split(os.environ.get("CXX", "")) or ["c++"]
    except ValueError as error:
        raise SystemExit(f"CXX: {error}") from error


def unfit(shape: Shape) -> str:
    """Why networks of this shape cannot be trained so on this machine; empty if they can."""
    if shape.channels % WIDTH:
        return f"{shape.channels} channels are not a multiple of {WIDTH}"
    try:
        flags = next(line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("flags"))
    except (OSError, StopIteration):
        return "not a Linux machine with an x86 processor"
    lacking = set(INSTRUCTIONS.values()) - set(flags.split())
    return f"the processor lacks {', '.join(sorted(lacking))}" if lacking else ""


def load(folder: Path) -> None:
    """Makes the operations known to PyTorch; compiles them into the folder unless they are there. RuntimeError says in
    one line why that cannot be."""
    compiler = cxx()
    options = ["-O3", "-std=c++20", "-shared", "-fPIC", *(f"-m{name}" for name in INSTRUCTIONS)]
    try:
        version = subprocess.run([*compiler, "--version"], capture_output=True, text=True).stdout
        key = hashlib.sha256(repr([torch.__version__, compiler, version, options]).encode())
        for source in SOURCES:
            key.update(source.read_bytes())
        library = folder / f"kernels-{key.hexdigest()[:16]}.so"
        if not library.exists():
            print("# compiling kernels, half a minute", flush=True)
            build([*compiler, *options], library)
        torch.ops.load_library(library)
        # Some machines have the instructions and do not let them be used.
        ops.weight_gradient(*torch.zeros(2, 1, 16, 8, 8, dtype=torch.bfloat16))
    except OSError as error:
        raise RuntimeError(f"{error.filename or folder}: {error.strerror or error}") from error


def build(compiler: list[str], library: Path) -> None:
    """Compiles the sources; what is no whole library goes again."""
    library.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=library.parent) as folder:
        partial = Path(folder) / library.name
        include = [f"-I{path}" for path in cpp_extension.include_paths()]
        link = [*(f"-L{path}" for path in cpp_extension.library_paths()), "-ltorch_cpu", "-lc10"]
        command = [*compiler, *include, *map(str, SOURCES), *link, "-o", str(partial)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            errors = [line for line in done.stderr.splitlines() if "error" in line]
            errors.append(f"exit status {done.returncode}")
            raise RuntimeError(f"{compiler[0]}: {errors[0]}")
        partial.rename(library)


class Convolution(torch.autograd.Function):
    """Planes [n, inputs, 8, 8] and weights [outputs, inputs, 3, 3] -> [n, outputs, 8, 8] in bfloat16, without bias."""

    @staticmethod
    def forward(ctx, x: Tensor, weight: Tensor) -> Tensor:
        weight = weight.bfloat16()
        ctx.save_for_backward(x, weight)
        return F.conv2d(x, weight, padding=1)

    @staticmethod
    def backward(ctx, g: Tensor) -> tuple[Tensor | None, Tensor]:
        x, weight = ctx.saved_tensors
        to_x = None
        if ctx.needs_input_grad[0]:
            to_x = torch.nn.grad.conv2d_input(x.shape, weight, g, padding=1)
        return to_x, ops.weight_gradient(x, g)


#: Of the sums [n, channels] of z and of z * z over each board's squares: scale and shift [n, channels].
Scales = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]


class ScaleRelu(torch.autograd.Function):
    """relu(scale * z + shift + residual): scale and shift come of z and the parameters; the residual may be None."""

    @staticmethod
    def forward(ctx, scales: Scales, z: Tensor, residual: Tensor | None, *parameters: Tensor) -> Tensor:
        sums = ops.board_sums(z).requires_grad_()
        with torch.enable_grad():
            scale, shift = scales(*sums)
        out = ops.scale_relu(z, scale.detach(), shift.detach(), residual)
        ctx.save_for_backward(z, out)
        # What lies between the sums and the scales is left to autograd.
        ctx.scaling = sums, parameters, scale, shift
        return out

    @staticmethod
    def backward(ctx, g: Tensor) -> tuple[Tensor | None, ...]:
        z, out = ctx.saved_tensors
        sums, parameters, scale, shift = ctx.scaling
        has_residual = ctx.needs_input_grad[2]
        to_shift, to_scale = ops.scale_relu_sums(g, out, z)
        (by_sum, by_square), *to_parameters = torch.autograd.grad(
            (scale, shift), (sums, *parameters), (to_scale, to_shift))
        to_z, to_residual = ops.scale_relu_gradients(g, out, z, scale.detach(), by_sum, 2 * by_square, has_residual)
        return None, to_z, to_residual if has_residual else None, *to_parameters


def normalised(norm: nn.BatchNorm2d, sums: Tensor, squares: Tensor) -> tuple[Tensor, Tensor]:
    """Scale and shift [channels] of a batch norm in training; updates its statistics."""
    count = SQUARES * len(sums)
    mean = sums.sum(0) / count
    # What rounding made negative is none.
    variance = (squares.sum(0) / count - mean * mean).clamp_min(0)
    with torch.no_grad():
        norm.running_mean.lerp_(mean, norm.momentum)
        norm.running_var.lerp_(variance * (count / (count - 1)), norm.momentum)
        norm.num_batches_tracked += 1
    scale = norm.weight * torch.rsqrt(variance + norm.eps)
    return scale, norm.bias - mean * scale


def conv_norm_relu(layer: ConvNorm, x: Tensor) -> Tensor:
    """Convolution, batch norm, ReLU."""

    def scales(sums: Tensor, squares: Tensor) -> tuple[Tensor, Tensor]:
        scale, shift = normalised(layer.norm, sums, squares)
        return scale.expand_as(sums), shift.expand_as(sums)

    return ScaleRelu.apply(scales, Convolution.apply(x, layer.conv.weight), None, layer.norm.weight, layer.norm.bias)


def residual_block(block: Block, x: Tensor) -> Tensor:
    """Both convolutions, squeeze-and-excitation, skip, ReLU."""
    norm, se = block.second.norm, block.se

    def scales(sums: Tensor, squares: Tensor) -> tuple[Tensor, Tensor]:
        scale, shift = normalised(norm, sums, squares)
        means = scale * (sums / SQUARES) + shift
        gate, offset = se.excite(torch.relu(se.squeeze(means))).chunk(2, 1)
        gate = torch.sigmoid(gate)
        return gate * scale, gate * shift + offset

    z = Convolution.apply(conv_norm_relu(block.first, x), block.second.conv.weight)
    return ScaleRelu.apply(scales, z, x, norm.weight, norm.bias, *se.parameters())


def forward(network: Network, planes: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """What the network itself says in training, of planes as Positions.batch gives them."""
    x = planes.to(torch.bfloat16, memory_format=torch.channels_last)
    x[:, RULE50_PLANE] = planes[:, RULE50_PLANE] * network.input_scale[0, RULE50_PLANE]
    with torch.autocast("cpu", enabled=False):
        x = conv_norm_relu(network.input, x)
        for block in network.blocks:
            x = residual_block(block, x)
        policy = Convolution.apply(conv_norm_relu(network.policy_conv, x), network.policy_out.weight)
        policy = (policy + network.policy_out.bias.bfloat16()[:, None, None]).flatten(1)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return policy, *network.value_and_left(x)


def main() -> None:
    parser = argparse.ArgumentParser(description="Times one process of one thread at a batch of random planes.")
    parser.add_argument("--work", type=Path, default=Path(__file__).parent / "work", help="working folder")
    parser.add_argument("--blocks", type=positive(int), default=Shape.blocks)
    parser.add_argument("--channels", type=positive(int), default=Shape.channels)
    parser.add_argument("--batch", type=positive(int), default=192)
    args = parser.parse_args()
    shape = Shape(args.blocks, args.channels)
    unfit_for = unfit(shape)
    if unfit_for:
        raise SystemExit(unfit_for)
    try:
        load(args.work)
    except RuntimeError as error:
        raise SystemExit(error) from error
    torch.set_num_threads(1)
    network = Network(shape).to(memory_format=torch.channels_last)
    planes = (torch.rand(args.batch, PLANES, 8, 8) < 0.2).to(torch.uint8)
    ways = {"kernels": lambda x: forward(network, x), "compile": torch.compile(network), "torch": network}
    for name, way in ways.items():
        parts = {"forward": 0.0, "backward": 0.0}
        for turn in range(REPEATS + 2):
            begin = time.perf_counter()
            with torch.autocast("cpu", dtype=torch.bfloat16):
                total = sum(output.float().square().mean() for output in way(planes))
            middle = time.perf_counter()
            total.backward()
            if turn >= 2:
                parts["forward"] += middle - begin
                parts["backward"] += time.perf_counter() - middle
            network.zero_grad()
        speed = REPEATS * args.batch / sum(parts.values())
        times = "  ".join(f"{part} {1000 * spent / REPEATS:.0f} ms" for part, spent in parts.items())
        print(f"{name:8}{times}  {speed:.0f} samples/s", flush=True)


if __name__ == "__main__":
    main()
