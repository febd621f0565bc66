"""The monomial φ(z) = z^n of degree n.

z^n = √q^n Σ_{m≤n/2} n!/(2^m m! √j!) h_j(z/√q), j = n − 2m, in normalised Hermite polynomials h_j, so with g = √(qp)
F = g^n Σ b_j u^j, Ḟ = g^{n−1} Σ j b_j u^{j−1}, b_j = n!²/(4^m m!² j!), Σ b_j = (2n−1)!!: the correlation is Σ w_j u^j
with w_j = b_j/(2n−1)!!, whatever q and p. It is even or odd in u, and Σ w_j (1 − |u|^j) is a sum of positive terms.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from flint import arb
from numpy.typing import NDArray
from pydantic import Field

from simlab.activations._powers import double_factorial, power_loss
from simlab.activations.activation import Activation, Compiled
from simlab.activations.signature import DUAL, PHI, VARIANCE
from simlab.core.jit import jit

Floats = NDArray[np.float64]


def weights(n: int) -> list[Fraction]:
    """w_j for j = n, n − 2, …"""
    square = math.factorial(n) ** 2
    return [
        Fraction(square, 4**m * math.factorial(m) ** 2 * math.factorial(n - 2 * m) * double_factorial(2 * n - 1))
        for m in range(n // 2 + 1)
    ]


@jit(signatures=[PHI])
def phi(z: float, a: Floats) -> float:
    return float(z ** int(a[0]))


@jit(signatures=[PHI])
def dphi(z: float, a: Floats) -> float:
    return float(a[0] * z ** int(a[0] - 1.0))


@jit(signatures=[VARIANCE])
def variance(q: float, a: Floats) -> float:
    return float(a[1] * q ** int(a[0]))


@jit(signatures=[DUAL])
def dual(q: float, p: float, A: float, B: float, t: float, s: float, a: Floats) -> tuple[float, float, float]:
    n, r, u = int(a[0]), min(t, s), 0.5 * (s - t)
    loss, slope = 0.0, 0.0
    for m in range(n // 2 + 1):
        j = n - 2 * m
        loss += a[2 + m] * power_loss(r, j)
        slope += a[2 + m] * j * u ** max(j - 1, 0)
    # 0 · inf is NaN: E φ'φ' vanishes whatever the variances.
    slope_dual = 0.0 if slope == 0.0 else a[1] * (math.sqrt(q) * math.sqrt(p)) ** (n - 1) * slope
    if A == 0.0 or B == 0.0:
        return 1.0, 1.0, slope_dual
    return (2.0 - loss, loss, slope_dual) if n % 2 == 1 and t > s else (loss, 2.0 - loss, slope_dual)


class Monomial(Activation):
    """φ(z) = z^n"""

    examples: ClassVar[tuple[dict[str, Any], ...]] = ({"degree": 1}, {"degree": 2}, {"degree": 5})
    taylor_radius: ClassVar[float | None] = math.inf

    degree: int = Field(description="n", ge=1, le=30)

    def compiled(self) -> Compiled:
        return Compiled(phi, dphi, variance, dual)

    def numbers(self) -> Floats:
        """(n, (2n−1)!!, w_n, w_{n−2}, …)"""
        n = self.degree
        return np.array([n, double_factorial(2 * n - 1), *map(float, weights(n))], dtype=np.float64)

    def arb_dual(self, q: arb, us: list[arb], tangent: bool) -> tuple[list[arb], list[arb]]:
        n = self.degree
        b = [arb(w.numerator) / w.denominator * double_factorial(2 * n - 1) for w in weights(n)]
        F = [q**n * sum((x * u ** (n - 2 * m) for m, x in enumerate(b)), arb(0)) for u in us]
        if not tangent:
            return F, []
        terms = [(n - 2 * m, x) for m, x in enumerate(b) if n > 2 * m]
        return F, [q ** (n - 1) * sum((j * x * u ** (j - 1) for j, x in terms), arb(0)) for u in us]

    def homogeneity(self) -> int | None:
        return 1 if self.degree == 1 else None

    def polynomial_degree(self) -> int | None:
        return self.degree

    @classmethod
    def python_functions(cls) -> dict[Any, dict[str, Any]]:
        return {np.square: {"degree": 2}}

    def taylor_size(self, i: int) -> arb:
        return arb(1) if i == self.degree else arb(0)
