"""A bent line, φ(z) = z + c z².

With k = √(qp) u: F = k + c²(qp + 2k²) and Ḟ = 1 + 4c²k; the mixed terms are odd. E φ² = q + 3c²q². At equal variances
1 − F/E φ² = q t (1 + 2c²q s)/E φ², which keeps its digits near u = 1.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from flint import arb
from numpy.typing import NDArray
from pydantic import Field

from simlab.activations import Activation, Compiled
from simlab.activations.signature import DUAL, PHI, VARIANCE
from simlab.core.jit import jit

Floats = NDArray[np.float64]


@jit(signatures=[PHI])
def phi(z: float, a: Floats) -> float:
    return z + a[0] * z * z


@jit(signatures=[PHI])
def dphi(z: float, a: Floats) -> float:
    return 1.0 + 2.0 * a[0] * z


@jit(signatures=[VARIANCE])
def variance(q: float, a: Floats) -> float:
    return q + 3.0 * (a[0] * q) ** 2


@jit(signatures=[DUAL])
def dual(q: float, p: float, A: float, B: float, t: float, s: float, a: Floats) -> tuple[float, float, float]:
    g, bend = math.sqrt(q) * math.sqrt(p), a[0] ** 2
    k = g * (1.0 - t if t < s else s - 1.0)
    slope_dual = 1.0 + 4.0 * bend * k
    norm = math.sqrt(A) * math.sqrt(B)
    if norm == 0.0:
        return 1.0, 1.0, slope_dual
    if q == p:
        tau = q * t * (1.0 + 2.0 * bend * q * s) / A
    else:
        tau = max(0.0, 1.0 - (k + bend * (g * g + 2.0 * k * k)) / norm)
    return tau, 2.0 - tau, slope_dual


class Bent(Activation):
    """φ(z) = z + c z²"""

    examples: ClassVar[tuple[dict[str, Any], ...]] = ({}, {"c": 0.25})

    c: float = Field(0.1, gt=0, le=1, description="how much the line is bent")

    def compiled(self) -> Compiled:
        return Compiled(phi, dphi, variance, dual)

    def numbers(self) -> Floats:
        return np.array([self.c])

    def arb_dual(self, q: arb, us: list[arb], tangent: bool) -> tuple[list[arb], list[arb]]:
        bend = arb(self.c) ** 2
        F = [q * u + bend * q * q * (1 + 2 * u * u) for u in us]
        return F, [1 + 4 * bend * q * u for u in us] if tangent else []

    def polynomial_degree(self) -> int:
        return 2
