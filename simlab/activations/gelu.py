"""GELU, φ(z) = z Φ(z) with the normal distribution function Φ.

Gaussian integration by parts of E zz'Φ(z)Φ(z'), where E ΦΦ' = 1/4 + α/2π, α = asin(c/N) = atan2(c, R),
N² = (1+q)(1+p), R² = N² − c² = 1 + q + p + qp(1−u²):

F = c/4 + cα/2π + qp(R² + u²)/(2πRN²),  Ḟ = ∂F/∂c = 1/4 + α/2π + c(3 + q + p + c²/R²)/(2πRN²).

What is lost below u = 1 (R₁, α₁ there; d = α₁ − α as in `erf`; ρ = R − R₁ = qp ts/(R + R₁)), for u > 0:
2π(F₁ − F) = (π/2 + α₁)√(qp)t + √(qp)u(d − sin d) + ρ(R₁²/N² − Rt/(R + uR₁)) + qp(ρ/R₁ + ts)/(RN²),
where the two large terms √(qp)u sin d and −ρqp/N² have become the third.
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
from flint import arb
from numpy.typing import NDArray

from simlab.activations._correlations import unequal
from simlab.activations.activation import Activation, Compiled
from simlab.activations.angles import angle_minus_sine
from simlab.activations.signature import DUAL, PHI, VARIANCE
from simlab.core.jit import jit

Floats = NDArray[np.float64]


@jit
def normal_cdf(z: float) -> float:
    """Φ(z)"""
    return 0.5 * math.erfc(-z / math.sqrt(2.0))


@jit(signatures=[PHI])
def phi(z: float, a: Floats) -> float:
    return z * normal_cdf(z)


@jit(signatures=[PHI])
def dphi(z: float, a: Floats) -> float:
    return normal_cdf(z) + z * math.exp(-0.5 * z * z) / math.sqrt(2.0 * np.pi)


@jit
def at_one(q: float, p: float) -> float:
    """F at u = 1"""
    g, square, first = math.sqrt(q) * math.sqrt(p), (1.0 + q) * (1.0 + p), 1.0 + q + p
    root = math.sqrt(first)
    return g * (0.25 + math.atan2(g, root) / (2.0 * np.pi) + g * (first + 1.0) / (2.0 * np.pi * root * square))


@jit(signatures=[VARIANCE])
def variance(q: float, a: Floats) -> float:
    return at_one(q, q)


@jit(signatures=[DUAL])
def dual(q: float, p: float, A: float, B: float, t: float, s: float, a: Floats) -> tuple[float, float, float]:
    g, u, ts = math.sqrt(q) * math.sqrt(p), 0.5 * (s - t), t * s
    c, square, first = g * u, (1.0 + q) * (1.0 + p), 1.0 + q + p
    R, R1 = math.sqrt(first + q * p * ts), math.sqrt(first)
    slope_dual = 0.25 + (math.atan2(c, R) + c * (2.0 + first + c * c / (R * R)) / (R * square)) / (2.0 * np.pi)
    norm = math.sqrt(A) * math.sqrt(B)
    if norm == 0.0:
        return 1.0, 1.0, slope_dual
    rho = q * p * ts / (R + R1)
    if u > 0.0:
        sine = g * ts / (R + u * R1)
        large = rho * (first / square - R * t / (R + u * R1))
    else:
        sine = g * (R - u * R1) / square
        large = c * sine - rho * q * p / square
    d = math.atan2(sine, (R * R1 + q * p * u) / square)
    small = q * p * (rho / R1 + ts) / (R * square)
    fall = (0.5 * np.pi + math.atan2(g, R1)) * g * t + c * angle_minus_sine(d) + large + small
    tau = min(2.0, max(0.0, unequal(q, p, at_one(q, p), norm) + fall / (2.0 * np.pi * norm)))
    return tau, 2.0 - tau, slope_dual


class GELU(Activation):
    """φ(z) = z Φ(z)"""

    taylor_radius: ClassVar[float | None] = math.inf

    def compiled(self) -> Compiled:
        return Compiled(phi, dphi, variance, dual)

    def arb_dual(self, q: arb, us: list[arb], tangent: bool) -> tuple[list[arb], list[arb]]:
        pi, square = arb.pi(), (1 + q) ** 2
        F, slopes = [], []
        for u in us:
            c = q * u
            R = (square - c * c).sqrt()
            alpha = (c / (1 + q)).asin()
            F.append(c / 4 + (c * alpha + q * q * (R * R + u * u) / (R * square)) / (2 * pi))
            slopes.append(arb(1) / 4 + (alpha + c * (3 + 2 * q + (c / R) ** 2) / (R * square)) / (2 * pi))
        return F, slopes if tangent else []

    def taylor_size(self, i: int) -> arb:
        """½ at 1, 1/(√(2π) 2^n n! (2n+1)) at i = 2n+2"""
        if i < 2 or i % 2:
            return arb(0.5) if i == 1 else arb(0)
        n = i // 2 - 1
        return 1 / ((2 * arb.pi()).sqrt() * arb(2) ** n * arb.fac_ui(n) * (2 * n + 1))
