"""ReLU, φ(z) = max(z, 0). [S0 §2], MATH §2.

F = √(qp) κ1(u)/2 and Ḟ = κ0(u)/2 with the arc-cosine functions κ0 = 1 − θ/π, κ1 = (sin θ + (π−θ) cos θ)/π.
The correlation after it is κ1(u) = 1 − τ, τ = t − (sin θ − θ cos θ)/π: no cancellation, as the second term is less
than 2θ/3π of the first.
"""

from __future__ import annotations

import numpy as np
from flint import arb
from numpy.typing import NDArray

from simlab.activations.activation import Activation, Compiled
from simlab.activations.angles import angles, sine_minus_angle_cosine
from simlab.activations.signature import DUAL, PHI, VARIANCE
from simlab.core.jit import jit

Floats = NDArray[np.float64]


@jit(signatures=[PHI])
def phi(z: float, a: Floats) -> float:
    return max(z, 0.0)


@jit(signatures=[PHI])
def dphi(z: float, a: Floats) -> float:
    return 1.0 if z > 0.0 else 0.0


@jit(signatures=[VARIANCE])
def variance(q: float, a: Floats) -> float:
    return 0.5 * q


@jit(signatures=[DUAL])
def dual(q: float, p: float, A: float, B: float, t: float, s: float, a: Floats) -> tuple[float, float, float]:
    theta, rest = angles(t, s)
    slope_dual = 0.5 * rest / np.pi
    if A == 0.0 or B == 0.0:
        return 1.0, 1.0, slope_dual
    tau = t - sine_minus_angle_cosine(theta, t, s) / np.pi
    return tau, 2.0 - tau, slope_dual


class ReLU(Activation):
    """φ(z) = max(z, 0)"""

    def compiled(self) -> Compiled:
        return Compiled(phi, dphi, variance, dual)

    def arb_dual(self, q: arb, us: list[arb], tangent: bool) -> tuple[list[arb], list[arb]]:
        pi = arb.pi()
        thetas = [u.acos() for u in us]
        F = [q * ((1 - u * u).sqrt() + (pi - theta) * u) / (2 * pi) for u, theta in zip(us, thetas, strict=True)]
        return F, [(pi - theta) / (2 * pi) for theta in thetas] if tangent else []

    def homogeneity(self) -> int | None:
        return 1

    def kink_points(self) -> tuple[float, ...]:
        return (0.0,)

    def relu_shift(self) -> float | None:
        return 0.0

    def arc_cosine_order(self) -> int | None:
        return 1
