"""The normalised Hermite polynomial φ = h_n = He_n/√n!, orthonormal for the standard normal law.

h_n(√q x) = Σ_{m≤n/2} √b_j √q^j (q−1)^m h_j(x), j = n − 2m, b_j = n!/(4^m m!² j!), so with g = √(qp), y = (q−1)(p−1)
F = Σ b_j g^j y^m u^j and Ḟ = Σ j b_j g^{j−1} y^m u^{j−1}; at q = p = 1 this is F = u^n, Ḟ = n u^{n−1}.
Divided by max(q,1)^{n/2} max(p,1)^{n/2} no term overflows; for q = p each is positive.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from flint import arb
from numpy.typing import NDArray
from pydantic import Field

from simlab.activations._correlations import unequal
from simlab.activations._powers import power_loss
from simlab.activations.activation import Activation, Compiled
from simlab.activations.signature import DUAL, PHI, VARIANCE
from simlab.core.jit import jit

Floats = NDArray[np.float64]


def weights(n: int) -> list[Fraction]:
    """b_j for j = n, n − 2, …"""
    top = math.factorial(n)
    return [Fraction(top, 4**m * math.factorial(m) ** 2 * math.factorial(n - 2 * m)) for m in range(n // 2 + 1)]


@jit
def value(z: float, n: int) -> float:
    """h_n(z) by h_{k+1} = (z h_k − √k h_{k−1})/√(k+1)"""
    before, here = 0.0, 1.0
    for k in range(n):
        before, here = here, (z * here - math.sqrt(k) * before) / math.sqrt(k + 1.0)
    return here


@jit(signatures=[PHI])
def phi(z: float, a: Floats) -> float:
    return value(z, int(a[0]))


@jit(signatures=[PHI])
def dphi(z: float, a: Floats) -> float:
    return math.sqrt(a[0]) * value(z, int(a[0]) - 1) if a[0] > 0.0 else 0.0


@jit(signatures=[VARIANCE])
def variance(q: float, a: Floats) -> float:
    n, total = int(a[0]), 0.0
    for m in range(n // 2 + 1):
        total += a[1 + m] * q ** (n - 2 * m) * (q - 1.0) ** (2 * m)
    return total


@jit(signatures=[DUAL])
def dual(q: float, p: float, A: float, B: float, t: float, s: float, a: Floats) -> tuple[float, float, float]:
    n, r, u = int(a[0]), min(t, s), 0.5 * (s - t)
    top_q, top_p = max(q, 1.0), max(p, 1.0)
    xq, xp, yq, yp = q / top_q, p / top_p, (q - 1.0) / top_q, (p - 1.0) / top_p
    x, y = math.sqrt(xq) * math.sqrt(xp), yq * yp
    square_q, square_p, at_one, fall, slope = 0.0, 0.0, 0.0, 0.0, 0.0
    for m in range(n // 2 + 1):
        b, j = a[1 + m], n - 2 * m
        i = j - n % 2  # an odd polynomial's factor √(qp) cancels, and would underflow
        square_q += b * xq**i * yq ** (2 * m)
        square_p += b * xp**i * yp ** (2 * m)
        term = b * x**i * y**m
        at_one += term
        fall += term * power_loss(r, j)
        if j > 0:
            slope += b * j * (x * u) ** (j - 1) * y**m
    # 0 · inf is NaN: E φ'φ' vanishes whatever the variances.
    slope_dual = 0.0 if slope == 0.0 else slope * (math.sqrt(top_q) * math.sqrt(top_p)) ** (n - 1)
    if A == 0.0 or B == 0.0:
        return 1.0, 1.0, slope_dual
    norm = math.sqrt(square_q) * math.sqrt(square_p)
    loss = min(2.0, max(0.0, unequal(q, p, at_one, norm) + fall / norm))
    return (2.0 - loss, loss, slope_dual) if n % 2 == 1 and t > s else (loss, 2.0 - loss, slope_dual)


class Hermite(Activation):
    """φ = He_n/√n!"""

    examples: ClassVar[tuple[dict[str, Any], ...]] = ({"degree": 0}, {"degree": 1}, {"degree": 3}, {"degree": 4})
    taylor_radius: ClassVar[float | None] = math.inf

    degree: int = Field(description="n", ge=0, le=50)

    def compiled(self) -> Compiled:
        return Compiled(phi, dphi, variance, dual)

    def numbers(self) -> Floats:
        """(n, b_n, b_{n−2}, …)"""
        return np.array([self.degree, *map(float, weights(self.degree))], dtype=np.float64)

    def arb_dual(self, q: arb, us: list[arb], tangent: bool) -> tuple[list[arb], list[arb]]:
        n = self.degree
        b = [arb(w.numerator) / w.denominator * (q - 1) ** (2 * m) for m, w in enumerate(weights(n))]
        F = [sum((x * (q * u) ** (n - 2 * m) for m, x in enumerate(b)), arb(0)) for u in us]
        if not tangent:
            return F, []
        terms = [(n - 2 * m, x) for m, x in enumerate(b) if n > 2 * m]
        return F, [sum((j * x * (q * u) ** (j - 1) for j, x in terms), arb(0)) for u in us]

    def homogeneity(self) -> int | None:
        return self.degree if self.degree <= 1 else None

    def polynomial_degree(self) -> int | None:
        return self.degree

    def taylor_size(self, i: int) -> arb:
        """n!/(2^m m! i! √n!) at i = n − 2m"""
        n = self.degree
        if i > n or (n - i) % 2:
            return arb(0)
        m = (n - i) // 2
        return arb.fac_ui(n).sqrt() / (arb(2) ** m * arb.fac_ui(m) * arb.fac_ui(i))
