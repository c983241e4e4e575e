"""What computes the training pass: kernels of our own, torch.compile, or PyTorch alone."""

from __future__ import annotations

import functools
import shutil
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor

import kernels
from model import Network, Shape

BACKENDS = "kernels", "compile", "torch"


def choose(backend: str | None, shape: Shape, threads: int, folder: Path) -> str:
    """The backend that is asked for, or the fastest there is (and why none faster, printed); or SystemExit.

    Kernels are compiled into the folder.
    """
    if backend in ("compile", "torch"):
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
    backend = "compile" if shutil.which(kernels.cxx()[0]) else "torch"
    print(f"# --backend {backend} instead of kernels: {unfit}", flush=True)
    return backend


def training_pass(backend: str, network: Network, folder: Path) -> Callable[[Tensor], tuple[Tensor, Tensor, Tensor]]:
    """The network in training, computed by a backend."""
    if backend == "kernels":
        kernels.load(folder)
        return functools.partial(kernels.forward, network)
    return torch.compile(network) if backend == "compile" else network
