"""The exponential, φ(z) = e^z.

F = Ḟ = e^{(q+p)/2 + c}, A = e^{2q}: the correlation is e^{−e} with e = (q+p)/2 − c = (√q−√p)²/2 + √(qp)t, to the last
digit of τ = 1 − e^{−e} for any q and p. The variance overflows beyond q = 354.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from flint import arb
from numpy.typing import NDArray

from simlab.activations.activation import Activation, Compiled
from simlab.activations.signature import DUAL, PHI, VARIANCE
from simlab.core.jit import jit

Floats = NDArray[np.float64]


@jit(signatures=[PHI])
def phi(z: float, a: Floats) -> float:
    return math.exp(z)


@jit(signatures=[PHI])
def dphi(z: float, a: Floats) -> float:
    return math.exp(z)


@jit(signatures=[VARIANCE])
def variance(q: float, a: Floats) -> float:
    return math.exp(2.0 * q)


@jit(signatures=[DUAL])
def dual(q: float, p: float, A: float, B: float, t: float, s: float, a: Floats) -> tuple[float, float, float]:
    exponent = 0.5 * (math.sqrt(q) - math.sqrt(p)) ** 2 + math.sqrt(q) * math.sqrt(p) * t
    return -math.expm1(-exponent), 1.0 + math.exp(-exponent), math.exp(q + p - exponent)


class Exp(Activation):
    """φ(z) = e^z"""

    taylor_radius: ClassVar[float | None] = math.inf

    def compiled(self) -> Compiled:
        return Compiled(phi, dphi, variance, dual)

    def arb_dual(self, q: arb, us: list[arb], tangent: bool) -> tuple[list[arb], list[arb]]:
        F = [(q + q * u).exp() for u in us]
        return F, list(F) if tangent else []

    @classmethod
    def python_functions(cls) -> dict[Any, dict[str, Any]]:
        return {np.exp: {}, math.exp: {}}

    def taylor_size(self, i: int) -> arb:
        return 1 / arb.fac_ui(i)
