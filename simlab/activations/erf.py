"""The error function, φ(z) = erf z. MATH §2.

F = (2/π) α, α = asin(2c/N), N² = (1+2q)(1+2p), and Ḟ = (4/π)/R, R² = N² − 4c² = 1 + 2q + 2p + 4qp(1−u²), so that
α = atan2(2c, R). With α₁, R₁ at u = 1, the fall d = α₁ − α has sin d = 2√(qp)(R − uR₁)/N² = 2√(qp)(1−u²)/(R + uR₁)
and cos d = (R R₁ + 4qp u)/N², and so keeps its digits at t → 0 however large q is; α₁ + α is the fall of −u.
"""

from __future__ import annotations

import math
import sys
from typing import Any, ClassVar

import numpy as np
from flint import arb
from numpy.typing import NDArray

from simlab.activations._correlations import balanced, unequal
from simlab.activations.activation import Activation, Compiled
from simlab.activations.signature import DUAL, PHI, VARIANCE
from simlab.core.jit import jit

Floats = NDArray[np.float64]


@jit(signatures=[PHI])
def phi(z: float, a: Floats) -> float:
    return math.erf(z)


@jit(signatures=[PHI])
def dphi(z: float, a: Floats) -> float:
    return 2.0 / math.sqrt(np.pi) * math.exp(-z * z)


@jit(signatures=[VARIANCE])
def variance(q: float, a: Floats) -> float:
    return 2.0 / np.pi * math.atan2(2.0 * q, math.sqrt(1.0 + 4.0 * q))


@jit
def fall(q: float, p: float, t: float, s: float) -> float:
    """d = α₁ − α"""
    g, u = math.sqrt(q) * math.sqrt(p), 0.5 * (s - t)
    square = (1.0 + 2.0 * q) * (1.0 + 2.0 * p)
    first = 1.0 + 2.0 * q + 2.0 * p
    R, R1 = math.sqrt(first + 4.0 * q * p * t * s), math.sqrt(first)
    sine = 2.0 * g * t * s / (R + u * R1) if u > 0.0 else 2.0 * g * (R - u * R1) / square
    return math.atan2(sine, (R * R1 + 4.0 * q * p * u) / square)


@jit(signatures=[DUAL])
def dual(q: float, p: float, A: float, B: float, t: float, s: float, a: Floats) -> tuple[float, float, float]:
    slope_dual = 4.0 / np.pi / math.sqrt(1.0 + 2.0 * q + 2.0 * p + 4.0 * q * p * t * s)
    norm = 0.5 * np.pi * math.sqrt(A) * math.sqrt(B)
    if norm == 0.0:
        return 1.0, 1.0, slope_dual
    alpha1 = math.atan2(2.0 * math.sqrt(q) * math.sqrt(p), math.sqrt(1.0 + 2.0 * q + 2.0 * p))
    lost = unequal(q, p, alpha1, norm)
    tau, sigma = balanced(lost + fall(q, p, t, s) / norm, lost + fall(q, p, s, t) / norm)
    return tau, sigma, slope_dual


class Erf(Activation):
    """φ(z) = erf z"""

    bounded: ClassVar[bool] = True
    taylor_radius: ClassVar[float | None] = math.inf

    def compiled(self) -> Compiled:
        return Compiled(phi, dphi, variance, dual)

    def arb_dual(self, q: arb, us: list[arb], tangent: bool) -> tuple[list[arb], list[arb]]:
        pi = arb.pi()
        F = [2 / pi * (2 * q * u / (1 + 2 * q)).asin() for u in us]
        return F, [4 / pi / ((1 + 2 * q) ** 2 - (2 * q * u) ** 2).sqrt() for u in us] if tangent else []

    @classmethod
    def python_functions(cls) -> dict[Any, dict[str, Any]]:
        special = sys.modules.get("scipy.special")  # who gives scipy's erf has imported it
        return {math.erf: {}} if special is None else {math.erf: {}, special.erf: {}}

    def taylor_size(self, i: int) -> arb:
        """2/(√π n! i), i = 2n+1"""
        return 2 / (arb.pi().sqrt() * arb.fac_ui(i // 2) * i) if i % 2 else arb(0)
