"""Legendre polynomials P_k in dimension d, P_k(1) = 1. MATH §4.

P_0 = 1, P_1 = u, P_{k+1} = ((2k+d−2) u P_k − k P_{k−1})/(k+d−2); |P_k| ≤ 1 on [−1, 1] and P_k(−u) = (−1)^k P_k(u).
Orthogonal under the law of u, E P_j P_k = δ_jk/N(d, k). P_k = C_k^λ(u)/C_k^λ(1), λ = (d−2)/2, of Gegenbauer's; cos kθ
for d = 2.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simlab.core.errors import BadInput
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
    for i in range(u.size):
        before, here, total = 0.0, 1.0, coefficients[0]
        for k in range(coefficients.size - 1):
            before, here = here, ((2 * k + dim - 2) * u[i] * here - k * before) / (k + dim - 2) if k > 0 else u[i]
            total += coefficients[k + 1] * here
        out[i] = total


def legendre_sum(dim: int, coefficients: ArrayLike, u: ArrayLike) -> Floats:
    """Σ_k c_k P_k(u), of the shape of u: one pass, without the (K+1, n) numbers of `legendre`."""
    if dim < 2:
        raise BadInput(f"dim = {dim}: a sphere needs dimension 2 or more")
    c = np.ascontiguousarray(coefficients, dtype=np.float64)
    if c.ndim != 1 or c.size == 0:
        raise BadInput(f"coefficients have shape {c.shape}: must be one number a degree")
    points = np.asarray(u, dtype=np.float64)
    out = np.empty(points.size)
    _accumulate(dim, c, np.ascontiguousarray(points.ravel()), out)
    return out.reshape(points.shape)


def legendre(dim: int, max_degree: int, u: ArrayLike) -> Floats:
    """P_k(u) for k = 0 … max_degree: shape (max_degree + 1, *u.shape)."""
    if dim < 2:
        raise BadInput(f"dim = {dim}: a sphere needs dimension 2 or more")
    if max_degree < 0:
        raise BadInput(f"max_degree = {max_degree}: a degree is 0 or more")
    points = np.asarray(u, dtype=np.float64)
    P = np.empty((max_degree + 1, points.size))
    _recurrence(dim, np.ascontiguousarray(points.ravel()), P)
    return P.reshape(max_degree + 1, *points.shape)
