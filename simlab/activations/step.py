"""The step, φ(z) = 1 for z > 0 and 0 for z ≤ 0. MATH §2.

F = κ0(u)/2 = (1 − θ/π)/2, so τ = θ/π, and Ḟ = 1/(2π√(qp(1−u²))) (`_jump`, h = 1).
"""

from __future__ import annotations

import numpy as np
from flint import arb
from numpy.typing import NDArray

from simlab.activations._jump import Jump, dphi, slope_of_jump
from simlab.activations.activation import Compiled
from simlab.activations.angles import angle
from simlab.activations.signature import DUAL, PHI, VARIANCE
from simlab.core.jit import jit

Floats = NDArray[np.float64]


@jit(signatures=[PHI])
def phi(z: float, a: Floats) -> float:
    return 1.0 if z > 0.0 else 0.0


@jit(signatures=[VARIANCE])
def variance(q: float, a: Floats) -> float:
    return 0.5 if q > 0.0 else 0.0


@jit(signatures=[DUAL])
def dual(q: float, p: float, A: float, B: float, t: float, s: float, a: Floats) -> tuple[float, float, float]:
    slope_dual = slope_of_jump(0.5, q, p, t, s)
    if A == 0.0 or B == 0.0:
        return 1.0, 1.0, slope_dual
    tau = angle(t, s) / np.pi
    return tau, 2.0 - tau, slope_dual


class Step(Jump):
    """φ(z) = 1 for z > 0, else 0"""

    def compiled(self) -> Compiled:
        return Compiled(phi, dphi, variance, dual)

    def arb_dual(self, q: arb, us: list[arb], tangent: bool) -> tuple[list[arb], list[arb]]:
        F = [(1 + 2 * u.asin() / arb.pi()) / 4 for u in us]
        return F, self.arb_slopes(0.5, q, us) if tangent else []

    def arc_cosine_order(self) -> int | None:
        return 0
