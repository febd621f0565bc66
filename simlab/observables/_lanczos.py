"""The largest eigenvalues of a symmetric operator by Lanczos' method, to the bit the same each time.

A basis of the Krylov space of a fixed random vector grows by one product at a time, orthogonalised twice against all of
it. The eigenvalues λ of the operator's projection T on it, with eigenvectors s, have the residuals β|s_last|, β the
length of the vector that comes next. After `MOST_VECTORS` the basis shrinks to the best Ritz vectors (thick restart).
Where the space is invariant, as for operators of low rank, a new random vector goes on, so that multiple eigenvalues
are found.

SciPy's eigsh refuses the operator 0, which is the Gauss–Newton part of a hinge loss, and `count` = `size`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from simlab.core.errors import SimlabError

Floats = NDArray[np.float64]
MOST_VECTORS = 80
"""Vectors of the basis, beside two per eigenvalue; of 10⁶ weights they take 640 MB."""
MOST_PRODUCTS = 3000
EPS = float(np.finfo(np.float64).eps)


def largest(apply: Callable[[Floats], Floats], size: int, count: int, tolerance: float) -> Floats:
    """The `count` largest eigenvalues, descending, (count,).

    apply: v ↦ A v, both (size,), A symmetric.
    count: at most `size`.
    tolerance: residual ‖A v − λ v‖ allowed, relative to the largest |eigenvalue| seen.

    NaN where a product is not finite. SimlabError where MOST_PRODUCTS are not enough.
    """
    rng = np.random.default_rng(0)
    most = min(size, MOST_VECTORS + 2 * count)
    V, T = np.empty((most, size)), np.zeros((most, most))
    V[0] = _unit(rng.standard_normal(size))
    made = 0  # vectors of the basis whose products are in T
    exhausted = 0  # invariant spaces met
    for _ in range(MOST_PRODUCTS):
        product = apply(V[made])
        if not np.all(np.isfinite(product)):
            return np.full(count, np.nan)
        made += 1
        T[:made, made - 1] = T[made - 1, :made] = V[:made] @ product
        values, vectors = np.linalg.eigh(T[:made, :made])
        scale = float(np.abs(values).max())
        rest = _orthogonal(product, V[:made])
        beta = float(np.linalg.norm(rest))
        if made == size:
            return np.asarray(values[::-1][:count])
        invariant = beta <= 10.0 * EPS * max(scale, float(np.linalg.norm(product)))
        residuals = beta * np.abs(vectors[-1, ::-1][:count])
        # After k invariant spaces an eigenvalue of multiplicity k or more has been found k times.
        exhausted += invariant
        done = exhausted >= count if invariant else np.all(residuals <= tolerance * scale)
        if made >= count and done:
            return np.asarray(values[::-1][:count])
        if invariant:
            rest = _orthogonal(rng.standard_normal(size), V[:made])
        if made == most:
            made = count + (most - count) // 3
            V[:made] = vectors[:, ::-1][:, :made].T @ V
            T[:] = 0.0
            T[np.arange(made), np.arange(made)] = values[::-1][:made]
        V[made] = _unit(rest)
    raise SimlabError(f"{MOST_PRODUCTS} products of Lanczos' method leave a residual above tolerance = {tolerance}")


def _unit(v: Floats) -> Floats:
    return np.asarray(v / np.linalg.norm(v))


def _orthogonal(v: Floats, V: Floats) -> Floats:
    """v less its part in the rows of V, (m, size); twice, as once leaves rounding."""
    for _ in range(2):
        v = v - (V @ v) @ V
    return v
