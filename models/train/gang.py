"""Processes that train one network together."""

from __future__ import annotations

import logging
import os
import signal
from collections.abc import Callable

import torch
import torch.multiprocessing as multiprocessing
from torch import nn


def member(rank: int, parent: int, work: Callable, *arguments) -> None:
    """One process of a gang: what the operating system refuses it is told in one line, and on Linux it does not
    outlive the process `parent`."""

    def hear(*_) -> None:
        # Ctrl-C is for the parent; PyTorch has the same signal sent when that is gone.
        if os.getppid() != parent:
            os._exit(1)

    signal.signal(signal.SIGINT, hear)
    # It may have gone before.
    hear()
    try:
        work(rank, *arguments)
    except OSError as error:
        raise SystemExit(str(error)) from error


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

    def run(self, work: Callable, *arguments) -> None:
        """Calls work(rank, self, *arguments) in every process; ends them all when one ends by an error, or this one."""
        # When one process has said what is wrong, that the others are ended is no news.
        logging.getLogger("torch.multiprocessing.spawn").setLevel(logging.ERROR)
        # Ctrl-C comes to all of them; only this one is to hear it, and until `member` begins they would end at length.
        hears = signal.signal(signal.SIGINT, signal.SIG_IGN)
        running = multiprocessing.spawn(member, (os.getpid(), work, self, *arguments), nprocs=self.size, join=False)
        signal.signal(signal.SIGINT, hears)
        try:
            while not running.join():
                pass
        except multiprocessing.ProcessExitedException:
            # It has said why.
            raise SystemExit(1) from None
        finally:
            # They would wait for each other for ever.
            for process in running.processes:
                process.terminate()

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
