"""Zonal harmonics Z(x) = √N(d,k) · P_k(v·x̂) about an axis v of the unit sphere, of mean square 1. MATH §4, §7.

Funk–Hecke: N(d,k) E P_k(x̂·y) f(x) = f(y) for every harmonic f of degree k, so that Σ_i α_i κ(x_i·x), κ = Σ μ_k N_k P_k,
has in degree k the part μ_k N_k Σ_i α_i P_k(x_i·x): everything about it is exact, without a sample.

P_k'(u) of dimension d is P_k'(1) times P_{k−1}(u) of dimension d + 2, P_k'(1) = k(k+d−2)/(d−1).
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simlab.core import checks
from simlab.sphere.legendre import legendre_sum
from simlab.sphere.multiplicity import multiplicity

Floats = NDArray[np.float64]


def mode(dim: int, degree: int, u: ArrayLike) -> Floats:
    """P_k(u) of one degree."""
    degree = checks.degree(degree, "degree")
    one = np.zeros(degree + 1)
    one[degree] = 1.0
    return legendre_sum(dim, one, u)


def slope_at_one(dim: int, degree: int) -> float:
    """P_k'(1)"""
    dim, degree = checks.sphere_dimension(dim), checks.degree(degree, "degree", most=checks.MOST_DIM)
    return degree * (degree + dim - 2) / (dim - 1)


def mode_slope(dim: int, degree: int, u: ArrayLike) -> Floats:
    """P_k'(u) of one degree."""
    dim, degree, u = checks.sphere_dimension(dim), checks.degree(degree, "degree"), checks.array(u, "u")
    if degree == 0:
        return np.zeros(np.shape(u))
    with np.errstate(over="ignore"):  # far outside of [−1, 1]
        return slope_at_one(dim, degree) * mode(dim + 2, degree - 1, u)


def mode_curvature(dim: int, degree: int, u: ArrayLike) -> Floats:
    """P_k''(u) of one degree."""
    dim, degree, u = checks.sphere_dimension(dim), checks.degree(degree, "degree"), checks.array(u, "u")
    if degree == 0:
        return np.zeros(np.shape(u))
    with np.errstate(over="ignore"):
        return slope_at_one(dim, degree) * mode_slope(dim + 2, degree - 1, u)


def axes(count: int, dim: int, rng: np.random.Generator) -> Floats:
    """V : (count, d), independent and uniform on the unit sphere."""
    count, dim = checks.whole(count, "count", least=0), checks.draw_from(dim, rng)
    checks.memory(2 * count * dim, f"count = {count} in dimension {dim}")
    V = rng.standard_normal((count, dim))
    V /= np.sqrt(np.einsum("ij,ij->i", V, V))[:, np.newaxis]
    return V


def cosines(X: Floats, V: Floats) -> Floats:
    """x_i·v_j : (n, m) of unit vectors, rounding kept within [−1, 1]."""
    V = checks.matrix(V, "V")
    return np.asarray(np.clip(checks.matrix(X, dim=V.shape[1]) @ V.T, -1.0, 1.0))


def zonal(degree: int, V: Floats, X: Floats) -> Floats:
    """Z_j(x_i) : (n, m) at unit vectors x_i, of the axes V : (m, d)."""
    V = checks.matrix(V, "V")
    dim = V.shape[1]
    return np.asarray(sqrt(multiplicity(dim, degree)) * mode(dim, degree, cosines(X, V)))


def zonal_gradient(degree: int, V: Floats, X: Floats) -> Floats:
    """∇Z_j along the sphere at unit vectors x_i : (n, m, d)."""
    V = checks.matrix(V, "V")
    dim, X = V.shape[1], checks.matrix(X, dim=V.shape[1])
    u = cosines(X, V)
    slope = sqrt(multiplicity(dim, degree)) * mode_slope(dim, degree, u)
    tangent = V[np.newaxis] - u[:, :, np.newaxis] * X[:, np.newaxis]
    return np.asarray(slope[:, :, np.newaxis] * tangent)


def unlearned(degree: int, eigenvalue: float, X: Floats, coefficients: Floats, V: Floats) -> Floats:
    """E (f_k − Z)² of expansions f = Σ_i α_i κ(x_i·x) against the zonal harmonics Z of degree k about V, exactly: (c,).

    It is μ_k² N_k αᵀ P_k α − 2 μ_k α·Z(X) + 1.

    eigenvalue: μ_k.
    X : (n, d), unit vectors.
    coefficients : (n, c), α of each expansion.
    V : (c, d), one axis per expansion.
    """
    X, eigenvalue = checks.matrix(X), checks.number(eigenvalue, "eigenvalue", least=-1e100, most=1e100)
    V = checks.matrix(V, "V", dim=X.shape[1])
    coefficients = checks.array(
        coefficients, "coefficients", shape=(len(X), len(V)), must=f"({len(X)}, {len(V)}), one column for each axis"
    )
    P = mode(X.shape[1], degree, cosines(X, X))
    own = (
        eigenvalue**2 * float(multiplicity(X.shape[1], degree)) * np.einsum("ic,ic->c", coefficients, P @ coefficients)
    )
    with_target = eigenvalue * np.einsum("ic,ic->c", coefficients, zonal(degree, V, X))
    return np.asarray(own - 2.0 * with_target + 1.0)
