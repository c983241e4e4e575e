"""Processes that train one network together."""

from __future__ import annotations

import torch
import torch.multiprocessing as multiprocessing
from torch import nn


class Gang:
    """Processes that train the same network, each on its part of every batch, and average their gradients.

    One process per core with one thread each: on a machine that others use too, threads that meet at the end of every
    operation lose far more than processes that meet once per batch.
    """

    def __init__(self, size: int, length: int):
        context = multiprocessing.get_context("spawn")
        self.size = size
        self.shared = torch.zeros(size, length).share_memory_()
        self.barrier = context.Barrier(size)

    def average_gradients(self, rank: int, network: nn.Module) -> None:
        """Every process's gradients become the mean over all of them."""
        if self.size == 1:
            return
        weights = list(network.parameters())
        torch.cat([weight.grad.flatten() for weight in weights], out=self.shared[rank])
        self.barrier.wait()
        mean = self.shared.mean(0)
        self.barrier.wait()
        for weight, part in zip(weights, mean.split([weight.numel() for weight in weights])):
            weight.grad.copy_(part.view(weight.shape))

    @torch.no_grad()
    def share_weights(self, rank: int, network: nn.Module) -> None:
        """Every process's weights become those of the first."""
        if self.size == 1:
            return
        weights = list(network.parameters())
        if rank == 0:
            torch.cat([weight.flatten() for weight in weights], out=self.shared[0])
        self.barrier.wait()
        for weight, part in zip(weights, self.shared[0].split([weight.numel() for weight in weights])):
            weight.copy_(part.view(weight.shape))
        self.barrier.wait()
