"""The absolute value, φ(z) = |z|.

F = √(qp) κ(u), κ = (2/π)(sin θ + (π/2−θ) cos θ), and Ḟ = E sign z sign z' = (2/π) asin u = 1 − 2θ/π. κ is even:
1 − κ = r − (2/π)(sin ϑ − ϑ cos ϑ), r = 1 − cos ϑ = min(t, s), keeps its digits near both u = 1 and u = −1.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from simlab.activations.activation import Activation, Compiled
from simlab.activations.angles import abs_loss, angles
from simlab.activations.signature import DUAL, PHI, VARIANCE
from simlab.core.jit import jit

Floats = NDArray[np.float64]


@jit(signatures=[PHI])
def phi(z: float, a: Floats) -> float:
    return abs(z)


@jit(signatures=[PHI])
def dphi(z: float, a: Floats) -> float:
    return 1.0 if z > 0.0 else (-1.0 if z < 0.0 else 0.0)


@jit(signatures=[VARIANCE])
def variance(q: float, a: Floats) -> float:
    return q


@jit(signatures=[DUAL])
def dual(q: float, p: float, A: float, B: float, t: float, s: float, a: Floats) -> tuple[float, float, float]:
    theta, rest = angles(t, s)
    slope_dual = (rest - theta) / np.pi
    if A == 0.0 or B == 0.0:
        return 1.0, 1.0, slope_dual
    loss = abs_loss(t, s)
    return loss, 2.0 - loss, slope_dual


class Abs(Activation):
    """φ(z) = |z|"""

    def compiled(self) -> Compiled:
        return Compiled(phi, dphi, variance, dual)

    def arb_dual(self, q: arb, us: list[arb], tangent: bool) -> tuple[list[arb], list[arb]]:
        two_over_pi = 2 / arb.pi()
        F = [q * two_over_pi * ((1 - u * u).sqrt() + u * u.asin()) for u in us]
        return F, [two_over_pi * u.asin() for u in us] if tangent else []

    def homogeneity(self) -> int | None:
        return 1

    def kink_points(self) -> tuple[float, ...]:
        return (0.0,)

    @classmethod
    def python_functions(cls) -> dict[Any, dict[str, Any]]:
        return {np.abs: {}, np.fabs: {}, math.fabs: {}, abs: {}}
