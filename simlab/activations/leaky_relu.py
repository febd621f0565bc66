"""Leaky ReLU, φ(z) = z for z > 0 and αz for z ≤ 0, with any slope α: 0 is ReLU, 1 the identity, −1 the absolute value.

φ(z) = ((1+α)z + (1−α)|z|)/2 and E z|z'| = 0, so F = √(qp) (1+α²)/2 · (w u + w' κ(u)) with κ that of `abs`,
w = (1+α)²/(2(1+α²)) and w' = 1 − w = (1−α)²/(2(1+α²)). Signs agree with probability 1 − θ/π:
Ḟ = ((1+α²)(π−θ) + 2αθ)/2π. Every term of τ = w t + w'(1−κ) and σ = w s + w'(1+κ) is positive.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from flint import arb
from numpy.typing import NDArray
from pydantic import Field

from simlab.activations.activation import Activation, Compiled
from simlab.activations.angles import abs_loss, angles
from simlab.activations.signature import DUAL, PHI, VARIANCE
from simlab.core.jit import jit

Floats = NDArray[np.float64]


@jit(signatures=[PHI])
def phi(z: float, a: Floats) -> float:
    return z * (1.0 if z > 0.0 else float(a[0]))


@jit(signatures=[PHI])
def dphi(z: float, a: Floats) -> float:
    return 1.0 if z > 0.0 else float(a[0])


@jit(signatures=[VARIANCE])
def variance(q: float, a: Floats) -> float:
    return float(0.5 * q * (1.0 + a[0] * a[0]))


@jit(signatures=[DUAL])
def dual(q: float, p: float, A: float, B: float, t: float, s: float, a: Floats) -> tuple[float, float, float]:
    slope, w, v = a
    theta, rest = angles(t, s)
    slope_dual = ((1.0 + slope * slope) * rest + 2.0 * slope * theta) / (2.0 * np.pi)
    if A == 0.0 or B == 0.0:
        return 1.0, 1.0, slope_dual
    loss = abs_loss(t, s)
    return w * t + v * loss, w * s + v * (2.0 - loss), slope_dual


class LeakyReLU(Activation):
    """φ(z) = z for z > 0, αz for z ≤ 0"""

    examples: ClassVar[tuple[dict[str, Any], ...]] = ({}, {"slope": 0.3}, {"slope": 1.0}, {"slope": -0.5})

    slope: float = Field(0.01, description="α, the slope for z < 0", ge=-1e100, le=1e100)

    def compiled(self) -> Compiled:
        return Compiled(phi, dphi, variance, dual)

    def numbers(self) -> Floats:
        """(α, w, w')"""
        slope = self.slope
        scale = 2.0 * (1.0 + slope * slope)
        return np.array([slope, (1.0 + slope) ** 2 / scale, (1.0 - slope) ** 2 / scale])

    def arb_dual(self, q: arb, us: list[arb], tangent: bool) -> tuple[list[arb], list[arb]]:
        slope, pi = arb(self.slope), arb.pi()
        even, odd = ((1 + slope) / 2) ** 2, ((1 - slope) / 2) ** 2 * 2 / pi
        F = [q * (even * u + odd * ((1 - u * u).sqrt() + u * u.asin())) for u in us]
        return F, [even + odd * u.asin() for u in us] if tangent else []

    def homogeneity(self) -> int | None:
        return 1

    def polynomial_degree(self) -> int | None:
        return 1 if self.slope == 1.0 else None

    def kink_points(self) -> tuple[float, ...]:
        return () if self.slope == 1.0 else (0.0,)
