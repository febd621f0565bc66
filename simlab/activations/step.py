"""The step, φ(z) = 1 for z > 0 and 0 for z ≤ 0. MATH §2.

F = κ0(u)/2 = (1 − θ/π)/2, so τ = θ/π, and Ḟ = 1/(2π√(qp(1−u²))).
φ' is 0 but for a point mass at 0, which makes Ḟ = ∂F/∂c infinite at u = ±1: there is no tangent kernel.
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
from flint import arb
from numpy.typing import NDArray

from simlab.activations.activation import Activation, Compiled
from simlab.activations.angles import angle
from simlab.activations.signature import DUAL, PHI, VARIANCE
from simlab.core.jit import jit

Floats = NDArray[np.float64]


@jit(signatures=[PHI])
def phi(z: float, a: Floats) -> float:
    return 1.0 if z > 0.0 else 0.0


@jit(signatures=[PHI])
def dphi(z: float, a: Floats) -> float:
    return 0.0


@jit(signatures=[VARIANCE])
def variance(q: float, a: Floats) -> float:
    return 0.5 if q > 0.0 else 0.0


@jit(signatures=[DUAL])
def dual(q: float, p: float, A: float, B: float, t: float, s: float, a: Floats) -> tuple[float, float, float]:
    slope_dual = 0.5 / np.pi / (math.sqrt(q) * math.sqrt(p) * math.sqrt(t) * math.sqrt(s))
    if A == 0.0 or B == 0.0:
        return 1.0, 1.0, slope_dual
    tau = angle(t, s) / np.pi
    return tau, 2.0 - tau, slope_dual


class Step(Activation):
    """φ(z) = 1 for z > 0, else 0"""

    bounded: ClassVar[bool] = True

    def compiled(self) -> Compiled:
        return Compiled(phi, dphi, variance, dual)

    def arb_dual(self, q: arb, us: list[arb], tangent: bool) -> tuple[list[arb], list[arb] | None]:
        pi = arb.pi()
        F = [(1 + 2 * u.asin() / pi) / 4 for u in us]
        if not tangent:
            return F, None
        return F, [arb.pos_inf() if u in (1, -1) else arb(0.5) / (pi * q * (1 - u * u).sqrt()) for u in us]

    def homogeneity(self) -> int | None:
        return 0

    def kink_points(self) -> tuple[float, ...]:
        return (0.0,)

    def jumps(self) -> bool:
        return True

    def arc_cosine_order(self) -> int | None:
        return 0
