"""Depth for free: a kernel on a sphere is one function of the angle, tabulated once and looked up. MATH §3.

Two tables, one for u ≥ 0 and one for u < 0, as κ has its own singularity at either end: with z = min(1−u, 1+u) each
is a function of y = z^{1/4} ∈ [0, 1], in which the ReLU family is analytic at the end (a power series in √z = y²) and
whose uniform mesh is graded towards it (pieces of 1/N² in √z; a kernel of depth L varies on the scale √z ~ 1/L). Each
of the N pieces a side holds a polynomial of degree 7 in the local coordinate ζ ∈ [−1, 1]: one cache line. It
interpolates at the Chebyshev points and is checked at others: where N = 2048 still misses 1e-13 of the largest value
there is no table, and the recursion is used (step of depth ≥ 4, whose singularity is z^{1/8}). 256 pieces do for ReLU
at any depth.
"""

from __future__ import annotations

import functools
import math

import numpy as np
from numpy.typing import NDArray

from simlab.core.jit import jit
from simlab.kernels._kernel import Floats, Leaf

TERMS = 8
PIECES = (256, 512, 1024, 2048)
TOLERANCE = 1e-13
NEAR = 1e-6
"""Below this z an inner product has lost too many digits of the angle (1e-10 of them are left): see `_pairs`."""

NODES = np.cos(np.pi * (np.arange(TERMS) + 0.5) / TERMS)
CHECKS = np.concatenate([[-1.0, 1.0], np.cos(np.pi * np.arange(1, TERMS) / TERMS)])


@functools.lru_cache(maxsize=128)
def table(leaf: Leaf, dim: int, norm: float) -> Floats | None:
    """(2N, 8): coefficients of ζ^0 … ζ^7 a piece, first for u ≥ 0, for inputs of this norm; None if 1e-13 is missed.

    `dim` is 1 for kernels that do not depend on it, so that they share a table.
    """
    for pieces in PIECES:
        values, checks = (_sample(leaf, dim, norm, pieces, points) for points in (NODES, CHECKS))
        coefficients = np.linalg.solve(np.vander(NODES, TERMS, increasing=True), values.T).T
        error = np.abs(coefficients @ np.vander(CHECKS, TERMS, increasing=True).T - checks).max()
        if error <= TOLERANCE * np.abs(checks).max():
            return np.ascontiguousarray(coefficients)
        # Interpolation of degree 7 gains 2^8 where it converges: far from it, finer pieces will not do.
        if error > TOLERANCE * np.abs(checks).max() * 256.0 ** (len(PIECES) - PIECES.index(pieces)):
            return None
    return None


def _sample(leaf: Leaf, dim: int, norm: float, pieces: int, points: Floats) -> Floats:
    """(2 pieces, points): the kernel by its recursion at these local coordinates of every piece."""
    y = (np.arange(pieces)[:, np.newaxis] + 0.5 * (points + 1.0)) / pieces
    z = np.minimum(y**4, 1.0).ravel()
    t, s = np.concatenate([z, 2.0 - z]), np.concatenate([2.0 - z, z])
    norms, zeros = np.array([norm]), np.zeros(t.size, dtype=np.int64)
    values: Floats = leaf.evaluate([leaf], norms, norms, zeros, zeros, t, s, dim)[0]
    return values.reshape(2 * pieces, points.size)


def stack(tables: list[Floats]) -> Floats:
    """(2N, tables, 8): several tables of one N, a piece's coefficients side by side."""
    return np.ascontiguousarray(np.stack(tables, axis=1))


@jit(fastmath={"contract"})
def look_up(
    u: Floats,
    tables: Floats,
    left: Floats,
    right: Floats,
    out: Floats,
    near: NDArray[np.int64],
) -> int:
    """out[k, i, j] = left[k, i] right[k, j] table_k(u[i, j]); pairs with z < NEAR are listed in near[0], near[1].

    The number of near pairs is returned. 5 ns a pair for two tables on one core.
    """
    half = tables.shape[0] // 2
    count = 0
    for i in range(u.shape[0]):
        for j in range(u.shape[1]):
            cosine = u[i, j]
            z = 1.0 - abs(cosine)
            if z < NEAR:
                near[0, count] = i
                near[1, count] = j
                count += 1
                z = max(z, 0.0)
            position = math.sqrt(math.sqrt(z)) * half
            piece = min(int(position), half - 1)
            x = 2.0 * (position - piece) - 1.0
            if cosine < 0.0:
                piece += half
            for k in range(tables.shape[1]):
                p = tables[piece, k]
                even = p[0] + x * x * (p[2] + x * x * (p[4] + x * x * p[6]))
                odd = p[1] + x * x * (p[3] + x * x * (p[5] + x * x * p[7]))
                out[k, i, j] = (even + x * odd) * (left[k, i] * right[k, j])
    return count


@jit
def find_near(u: Floats, near: NDArray[np.int64]) -> int:
    """The pairs with z < NEAR, listed in near[0], near[1]; their number."""
    count = 0
    for i in range(u.shape[0]):
        for j in range(u.shape[1]):
            if 1.0 - abs(u[i, j]) < NEAR:
                near[0, count] = i
                near[1, count] = j
                count += 1
    return count
