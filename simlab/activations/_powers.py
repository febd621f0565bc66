"""Powers of a correlation, for the polynomial activations."""

from __future__ import annotations

import math

from simlab.core.jit import jit


@jit
def power_loss(r: float, j: int) -> float:
    """1 − (1−r)^j for 0 ≤ r ≤ 1, to its last digits."""
    return -math.expm1(j * math.log1p(-min(r, 1.0))) if j > 0 else 0.0


def double_factorial(n: int) -> int:
    """n!! of an odd n"""
    return math.prod(range(n, 0, -2))
