"""The Gaussian bump, φ(z) = exp(−z²).

F = det(1 + 2Σ)^{−1/2} = 1/R, R² = (1+2q)(1+2p) − 4c² = 1 + 2q + 2p + 4qp(1−u²), and Ḟ = 4c/R³ = ∂F/∂c.
With W = √((1+4q)(1+4p)) = 1/(AB)², R² = W(1+y), y = (4(q−p)²/(1+2q+2p+W) + 4qp ts)/W ≥ 0: the correlation is
(1+y)^{−1/2}, to the last digit of τ for any q and p.
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
from flint import arb
from numpy.typing import NDArray

from simlab.activations.activation import Activation, Compiled
from simlab.activations.signature import DUAL, PHI, VARIANCE
from simlab.core.jit import jit

Floats = NDArray[np.float64]


@jit(signatures=[PHI])
def phi(z: float, a: Floats) -> float:
    return math.exp(-z * z)


@jit(signatures=[PHI])
def dphi(z: float, a: Floats) -> float:
    return -2.0 * z * math.exp(-z * z)


@jit(signatures=[VARIANCE])
def variance(q: float, a: Floats) -> float:
    return 1.0 / math.sqrt(1.0 + 4.0 * q)


@jit(signatures=[DUAL])
def dual(q: float, p: float, A: float, B: float, t: float, s: float, a: Floats) -> tuple[float, float, float]:
    first, W = 1.0 + 2.0 * q + 2.0 * p, math.sqrt(1.0 + 4.0 * q) * math.sqrt(1.0 + 4.0 * p)
    y = (4.0 * (q - p) ** 2 / (first + W) + 4.0 * q * p * t * s) / W
    tau = -math.expm1(-0.5 * math.log1p(y))
    c = 0.5 * math.sqrt(q) * math.sqrt(p) * (s - t)
    return tau, 2.0 - tau, 4.0 * c / (first + 4.0 * q * p * t * s) ** 1.5


class Gaussian(Activation):
    """φ(z) = exp(−z²)"""

    bounded: ClassVar[bool] = True
    taylor_radius: ClassVar[float | None] = math.inf

    def compiled(self) -> Compiled:
        return Compiled(phi, dphi, variance, dual)

    def arb_dual(self, q: arb, us: list[arb], tangent: bool) -> tuple[list[arb], list[arb]]:
        F = [1 / ((1 + 2 * q) ** 2 - (2 * q * u) ** 2).sqrt() for u in us]
        return F, [4 * q * u * f**3 for u, f in zip(us, F, strict=True)] if tangent else []

    def taylor_size(self, i: int) -> arb:
        return arb(0) if i % 2 else 1 / arb.fac_ui(i // 2)
