"""What training makes small, and the same measured on held-out games."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from data import Positions
from model import MOVES_LEFT_SCALE, Network

#: Huber's bend of the moves-left loss in units of MOVES_LEFT_SCALE (10 plies, as in Lc0's training).
LEFT_BEND = 10.0 / MOVES_LEFT_SCALE


def log_policy(policy: Tensor, batch: dict[str, Tensor]) -> Tensor:
    """Log-probabilities of the legal moves [n, k] from logits of the whole head; next to none where no move is."""
    return policy.float().gather(1, batch["slots"]).masked_fill(~batch["legal"], -1e4).log_softmax(1)


def agreement(logs: Tensor, teacher: Tensor) -> Tensor:
    """Whether the first choice is the teacher's [n]: 1 / k where it is one of the k moves that he likes best alike.

    In the 8 bits of a label that happens in one position of fifty, and which of the k he liked best is not known.
    """
    best = teacher == teacher.amax(1, keepdim=True)
    return best.gather(1, logs.argmax(1, keepdim=True)).squeeze(1) / best.sum(1)


def losses(
    outputs: tuple[Tensor, Tensor, Tensor], batch: dict[str, Tensor], sharpen: float = 1.0,
) -> tuple[Tensor, Tensor, Tensor]:
    """Policy cross-entropy over the legal moves, WDL cross-entropy, Huber loss of the plies left.

    The teacher's probabilities count to the power of sharpen: the network learns which moves are best before how good
    the others are. Logits divided by it are those of the plain probabilities; export.py does that.
    """
    policy, value, left = (output.float() for output in outputs)
    target = batch["policy"] ** sharpen
    target = target / target.sum(1, keepdim=True)
    policy_loss = -(target * log_policy(policy, batch)).sum(1).mean()
    value_loss = -(batch["wdl"] * value.log_softmax(1)).sum(1).mean()
    left_loss = F.huber_loss(left / MOVES_LEFT_SCALE, batch["left"] / MOVES_LEFT_SCALE, delta=LEFT_BEND)
    return policy_loss, value_loss, left_loss


@torch.no_grad()
def held_out(network: Network, positions: Positions, limit: int, sharpen: float) -> str:
    """One line of held-out measures on evenly spread positions."""
    if not len(positions.held_out):
        return "held out 0"
    network.eval()
    chosen = positions.held_out[:: max(1, len(positions.held_out) // limit)]
    sums = np.zeros(4)
    for part in np.array_split(chosen, max(1, len(chosen) // 512)):
        batch = positions.batch(part)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            policy, value, left = (output.float() for output in network(batch["planes"]))
        policy = policy / sharpen
        policy_loss, value_loss, _ = losses((policy, value, left), batch)
        agree = agreement(log_policy(policy, batch), batch["policy"]).mean()
        error = (left.relu() - batch["left"]).abs().mean()
        sums += len(part) * np.array([policy_loss.item(), value_loss.item(), agree.item(), error.item()])
    policy, value, agree, error = sums / len(chosen)
    return f"held out {len(chosen)}: policy {policy:.4f} wdl {value:.4f} agreement {100 * agree:.2f} % left {error:.2f}"
