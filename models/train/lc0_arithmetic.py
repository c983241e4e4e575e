"""What Lc0 makes of a network's outputs, in its own arithmetic: an exponential and a logarithm that are fast and off by
a little (Lc0's utils/fastmath.h), float32 throughout, and priors that are kept in 16 bits.

Where that is done to ours, too, what is left between them is the networks' evaluation and the last digit printed.
"""

from __future__ import annotations

import numpy as np

F = np.float32
#: Coefficients of the parabolas that stand for 2^x and for the logarithm between two powers of two.
POWER = F(0.6602339), F(0.33976606)
LOGARITHM = F(1.3465552), F(0.34655523)
#: Bits of a prior that are dropped.
DROPPED = 12
#: W, D and L nearer to 0 or 1 are left as they are.
LEAST_WDL = 1e-4


def exponential(x: np.ndarray) -> np.ndarray:
    """e^x, off by up to 0.27 %."""
    x = F(1 / np.log(2)) * np.asarray(x, F)
    # The whole part of what is negative is one less.
    whole = np.trunc(np.where(x < 0, x - F(1), x))
    part = x - whole
    power = np.ldexp(F(1) + part * (POWER[0] + POWER[1] * part), whole.astype(np.int32))
    return np.where(x < -126, F(0), power).astype(F)


def logarithm(x: float) -> np.float32:
    """ln x, off by up to 0.0053."""
    mantissa, exponent = np.frexp(F(x))
    part = F(2) * mantissa - F(1)
    return F(np.log(2)) * (part * (LOGARITHM[0] - LOGARITHM[1] * part) + F(exponent - 1))


def logistic(x: np.float32) -> np.float32:
    return F(1) / (F(1) + exponential(-x))


def priors(logits: np.ndarray) -> np.ndarray:
    """The priors of the legal moves from their logits."""
    logits = np.asarray(logits, F)
    odds = exponential(logits - logits.max())
    bits = (odds * (F(1) / odds.sum(dtype=F))).view(np.uint32)
    return (bits + (1 << DROPPED - 1) >> DROPPED << DROPPED).astype(np.uint32).view(F)


def draw(value: float, draw: float) -> float:
    """The draws that are left where W, D and L are rescaled by nothing, as they are without contempt."""
    win, loss = F((1 + value - draw) / 2), F((1 - value - draw) / 2)
    if not all(LEAST_WDL < share < 1 - LEAST_WDL for share in (win, draw, loss)):
        return draw
    of_loss, of_win = logarithm(F(1) / loss - F(1)), logarithm(F(1) / win - F(1))
    spread = F(2) / (of_loss + of_win)
    middle = (of_loss - of_win) / (of_loss + of_win)
    return max(0.0, float(F(1) - logistic((middle - F(1)) / spread) - logistic((-middle - F(1)) / spread)))
