"""The sign, φ(z) = 1 for z > 0, −1 for z < 0, 0 at 0. MATH §2.

F = (2/π) asin u = 1 − 2θ/π, so τ = 2θ/π, σ = 2(π−θ)/π, and Ḟ = 2/(π√(qp(1−u²))) (`_jump`, h = 2).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from simlab.activations._jump import Jump, dphi, slope_of_jump
from simlab.activations.activation import Compiled
from simlab.activations.angles import angles
from simlab.activations.signature import DUAL, PHI, VARIANCE
from simlab.core.jit import jit

Floats = NDArray[np.float64]


@jit(signatures=[PHI])
def phi(z: float, a: Floats) -> float:
    return 1.0 if z > 0.0 else (-1.0 if z < 0.0 else 0.0)


@jit(signatures=[VARIANCE])
def variance(q: float, a: Floats) -> float:
    return 1.0 if q > 0.0 else 0.0


@jit(signatures=[DUAL])
def dual(q: float, p: float, A: float, B: float, t: float, s: float, a: Floats) -> tuple[float, float, float]:
    slope_dual = slope_of_jump(2.0, q, p, t, s)
    if A == 0.0 or B == 0.0:
        return 1.0, 1.0, slope_dual
    theta, rest = angles(t, s)
    return 2.0 / np.pi * theta, 2.0 / np.pi * rest, slope_dual


class Sign(Jump):
    """φ(z) = sign z"""

    def compiled(self) -> Compiled:
        return Compiled(phi, dphi, variance, dual)

    def arb_dual(self, q: arb, us: list[arb], tangent: bool) -> tuple[list[arb], list[arb]]:
        F = [2 * u.asin() / arb.pi() for u in us]
        return F, self.arb_slopes(2.0, q, us) if tangent else []

    @classmethod
    def python_functions(cls) -> dict[Any, dict[str, Any]]:
        return {np.sign: {}}
