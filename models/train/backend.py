"""What computes the training pass: kernels of our own, torch.compile, or PyTorch alone."""

from __future__ import annotations

import functools
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor

import kernels
from model import Network, Shape

BACKENDS = "kernels", "compile", "torch"


def has_bfloat16() -> bool:
    """Whether the processor computes in bfloat16; where PyTorch emulates it, float32 is several times as fast."""
    return torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported()


def choose(backend: str | None, shape: Shape, threads: int, folder: Path) -> str:
    """The backend that is asked for, or the fastest there is (and why none faster, printed); or SystemExit.

    Kernels are compiled into the folder.
    """
    if backend == "torch":
        return backend
    compiler = kernels.cxx()
    compiles = shutil.which(compiler[0]) is not None
    if backend == "compile":
        if not compiles:
            raise SystemExit(f"--backend compile: there is no C++ compiler {compiler[0]} (CXX)")
        return backend
    unfit = kernels.unfit(shape) or ("they have one thread a process" if threads > 1 else "")
    if not unfit:
        try:
            kernels.load(folder)
            return "kernels"
        except RuntimeError as error:
            unfit = str(error)
    if backend:
        raise SystemExit(f"--backend kernels: {unfit}")
    backend = "compile" if compiles else "torch"
    print(f"# --backend {backend} instead of kernels: {unfit}", flush=True)
    return backend


def training_pass(backend: str, network: Network, folder: Path) -> Callable[[Tensor], tuple[Tensor, Tensor, Tensor]]:
    """The network in training, computed by a backend."""
    if backend == "kernels":
        kernels.load(folder)
        return functools.partial(kernels.forward, network)
    if backend == "torch":
        return network
    # Not needed otherwise, and two seconds to import.
    from torch._inductor import config

    # Left alone, it would look for g++, and take a CXX that is empty for its name.
    config.cpp.cxx = (None, shlex.join(kernels.cxx()))
    return torch.compile(network)
