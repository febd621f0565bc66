"""The sign, φ(z) = 1 for z > 0, −1 for z < 0, 0 at 0. MATH §2.

F = (2/π) asin u = 1 − 2θ/π, so τ = 2θ/π, σ = 2(π−θ)/π, and Ḟ = 2/(π√(qp(1−u²))).
φ' is 0 but for a point mass at 0, which makes Ḟ = ∂F/∂c infinite at u = ±1: there is no tangent kernel.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from flint import arb
from numpy.typing import NDArray

from simlab.activations.activation import Activation, Compiled
from simlab.activations.angles import angles
from simlab.activations.signature import DUAL, PHI, VARIANCE
from simlab.core.jit import jit

Floats = NDArray[np.float64]


@jit(signatures=[PHI])
def phi(z: float, a: Floats) -> float:
    return 1.0 if z > 0.0 else (-1.0 if z < 0.0 else 0.0)


@jit(signatures=[PHI])
def dphi(z: float, a: Floats) -> float:
    return 0.0


@jit(signatures=[VARIANCE])
def variance(q: float, a: Floats) -> float:
    return 1.0 if q > 0.0 else 0.0


@jit(signatures=[DUAL])
def dual(q: float, p: float, A: float, B: float, t: float, s: float, a: Floats) -> tuple[float, float, float]:
    slope_dual = 2.0 / np.pi / (math.sqrt(q) * math.sqrt(p) * math.sqrt(t) * math.sqrt(s))
    if A == 0.0 or B == 0.0:
        return 1.0, 1.0, slope_dual
    theta, rest = angles(t, s)
    return 2.0 / np.pi * theta, 2.0 / np.pi * rest, slope_dual


class Sign(Activation):
    """φ(z) = sign z"""

    bounded: ClassVar[bool] = True

    def compiled(self) -> Compiled:
        return Compiled(phi, dphi, variance, dual)

    def arb_dual(self, q: arb, us: list[arb], tangent: bool) -> tuple[list[arb], list[arb] | None]:
        pi = arb.pi()
        F = [2 * u.asin() / pi for u in us]
        if not tangent:
            return F, None
        return F, [arb.pos_inf() if u in (1, -1) else 2 / (pi * q * (1 - u * u).sqrt()) for u in us]

    def homogeneity(self) -> int | None:
        return 0

    def kink_points(self) -> tuple[float, ...]:
        return (0.0,)

    def jumps(self) -> bool:
        return True

    @classmethod
    def python_functions(cls) -> dict[Any, dict[str, Any]]:
        return {np.sign: {}}
