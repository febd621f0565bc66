"""Legendre polynomials P_k in dimension d, P_k(1) = 1. MATH §4.

P_0 = 1, P_1 = u, P_{k+1} = ((2k+d−2) u P_k − k P_{k−1})/(k+d−2); |P_k| ≤ 1 on [−1, 1] and P_k(−u) = (−1)^k P_k(u).
Orthogonal under the law of u, E P_j P_k = δ_jk/N(d, k). P_k = C_k^λ(u)/C_k^λ(1), λ = (d−2)/2, of Gegenbauer's; cos kθ
for d = 2.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simlab.core import checks
from simlab.core.jit import jit

Floats = NDArray[np.float64]


@jit
def _recurrence(dim: int, u: Floats, P: Floats) -> None:
    """Rows of P : (K+1, n) in place; stable upwards, the error grows like k eps."""
    P[0] = 1.0
    if P.shape[0] > 1:
        P[1] = u
    for k in range(1, P.shape[0] - 1):
        for i in range(u.size):
            P[k + 1, i] = ((2 * k + dim - 2) * u[i] * P[k, i] - k * P[k - 1, i]) / (k + dim - 2)


@jit
def _accumulate(dim: int, coefficients: Floats, u: Floats, out: Floats) -> None:
    """out[i] = Σ_k coefficients[k] P_k(u[i])"""
    for i in range(u.size):
        before, here, total = 0.0, 1.0, coefficients[0]
        for k in range(coefficients.size - 1):
            before, here = here, ((2 * k + dim - 2) * u[i] * here - k * before) / (k + dim - 2) if k > 0 else u[i]
            total += coefficients[k + 1] * here
        out[i] = total


def legendre_sum(dim: int, coefficients: ArrayLike, u: ArrayLike) -> Floats:
    """Σ_k c_k P_k(u), of the shape of u: one pass, without the (K+1, n) numbers of `legendre`."""
    dim, points = checks.sphere_dimension(dim), checks.array(u, "u")
    c = np.ascontiguousarray(
        checks.array(coefficients, "coefficients", ndim=1, empty=False, must="one number per degree")
    )
    out = np.empty(points.size)
    _accumulate(dim, c, np.ascontiguousarray(points.ravel()), out)
    return out.reshape(points.shape)


def legendre(dim: int, max_degree: int, u: ArrayLike) -> Floats:
    """P_k(u) for k = 0 … max_degree: shape (max_degree + 1, *u.shape)."""
    dim, max_degree, points = checks.sphere_dimension(dim), checks.degree(max_degree), checks.array(u, "u")
    checks.memory((max_degree + 1) * points.size, f"max_degree = {max_degree} at {points.size} points")
    P = np.empty((max_degree + 1, points.size))
    _recurrence(dim, np.ascontiguousarray(points.ravel()), P)
    return P.reshape(max_degree + 1, *points.shape)
