"""Muon for the inner weight matrices, AdamW for everything else.

Muon (Keller Jordan, 2024: https://kellerjordan.github.io/posts/muon/) replaces the momentum of a weight matrix by the
nearest semi-orthogonal matrix, found with a few Newton-Schulz steps, so that every direction learns at the same pace.
The update is scaled to AdamW's usual size (Liu et al. 2025, arXiv:2502.16982), which lets both share a learning rate.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

#: Coefficients of the quintic Newton-Schulz step and their number (Jordan 2024): singular values end near 1.
NEWTON_SCHULZ = (3.4445, -4.7750, 2.0315)
NEWTON_SCHULZ_STEPS = 5
#: Root mean square of an AdamW update in units of the learning rate (Liu et al. 2025, section 2.2).
ADAMW_RMS = 0.2


def orthogonalise(matrices: Tensor) -> Tensor:
    """Nearly semi-orthogonal matrices [n, rows, columns] with the given row and column spaces, in bfloat16."""
    a, b, c = NEWTON_SCHULZ
    tall = matrices.shape[1] > matrices.shape[2]
    x = matrices.mT if tall else matrices
    # Half precision is enough (Jordan 2024) and, where the processor has bfloat16, more than twice as fast.
    x = (x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)).bfloat16()
    for _ in range(NEWTON_SCHULZ_STEPS):
        gram = x @ x.mT
        x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x.mT if tall else x


def in_memory_order(weight: Tensor) -> Tensor:
    """A convolution's weights with their inputs last, as they lie in memory: flattened they need no copy."""
    return weight.movedim(1, -1)


class Muon(torch.optim.Optimizer):
    """Muon with Nesterov momentum and decoupled weight decay; convolutions count as [outputs, taps * inputs]."""

    def __init__(self, params, lr: float, momentum: float = 0.95, weight_decay: float = 0.0):
        super().__init__(params, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure=None):  # noqa: D102 (the base class documents it)
        for group in self.param_groups:
            alike: dict[tuple[int, int], list[tuple[Tensor, Tensor]]] = {}
            for weight in group["params"]:
                if weight.grad is None:
                    continue
                state = self.state[weight]
                if not state:
                    state["momentum"] = torch.zeros_like(weight)
                momentum = state["momentum"].lerp_(weight.grad, 1 - group["momentum"])
                update = in_memory_order(weight.grad.lerp(momentum, group["momentum"])).flatten(1)
                alike.setdefault(tuple(update.shape), []).append((weight, update))
            for (rows, columns), pairs in alike.items():
                updates = orthogonalise(torch.stack([update for _, update in pairs]))
                scale = ADAMW_RMS * max(rows, columns) ** 0.5
                for (weight, _), update in zip(pairs, updates):
                    weight = in_memory_order(weight).mul_(1 - group["lr"] * group["weight_decay"])
                    weight.add_(update.view(weight.shape), alpha=-group["lr"] * scale)


def optimisers(network: nn.Module, lr: float, weight_decay: float, muon: bool = True) -> list[torch.optim.Optimizer]:
    """Muon for matrices inside the network; AdamW for the heads' last layers, biases and norms (these undecayed)."""
    inner, outer, plain = [], [], []
    for name, weight in network.named_parameters():
        if weight.ndim < 2:
            plain.append(weight)
        elif muon and not name.endswith("_out.weight"):
            inner.append(weight)
        else:
            outer.append(weight)
    groups = [{"params": outer, "weight_decay": weight_decay}, {"params": plain, "weight_decay": 0.0}]
    result: list[torch.optim.Optimizer] = [torch.optim.AdamW(groups, lr=lr, betas=(0.9, 0.99), eps=1e-8)]
    if inner:
        result.append(Muon(inner, lr=lr, weight_decay=weight_decay))
    return result
