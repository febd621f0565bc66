"""Depth for free: a kernel on a sphere is one function of the angle, tabulated once and looked up. MATH §3.

There are two tables, one for u ≥ 0 and one for u < 0, as κ has its own singularity at either end; z = 1 − |u| is the
distance from it. Every octave [2^{−e−1}, 2^{−e}) of z, down to 2^{−20}, is cut into 2^b pieces of equal length. On this
geometric mesh every piece lies equally far from the singularity in units of its own length, which resolves any power
(√z of ReLU, z^{1/2^{L−1}} of the step) equally well. A kernel of depth L varies on the scale √z ~ 1/L, and needs no
finer mesh than a shallow one.

The leading bits of z are the number of the piece, the trailing ones the local coordinate ζ ∈ [−1, 1]: no square root,
no logarithm. A piece holds a polynomial of degree 7 in ζ, one cache line, through Chebyshev's points; it is checked at
other points. Where 128 pieces per octave still miss 1e-13 of the largest value, there is no table and the recursion is
used. Pairs nearer than 2^{−20} are not looked up but computed (`simlab.kernels.gram.pairs`): an inner product has lost
their digits.
"""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from simlab.core.jit import jit
from simlab.kernels.kernel import Floats, Leaf, Pairs

TERMS = 8  # coefficients of a piece's polynomial
OCTAVES = 20
PIECE_BITS = (4, 5, 6, 7)  # b is tried in this order: 2^b pieces per octave
RTOL = 1e-13  # of the largest value
NEAR_Z = 2.0**-OCTAVES
"""Below this z an inner product, rounded to 1e-16, has lost too much of the angle."""

MANTISSA_BITS = 52
FRACTION_MASK = (1 << MANTISSA_BITS) - 1
BITS_OF_ONE = 1023 << MANTISSA_BITS  # the float64 1.0 as an integer

# Local coordinates ζ at which a piece is interpolated, and at which it is checked.
NODES = np.cos(np.pi * (np.arange(TERMS) + 0.5) / TERMS)
CHECKS = np.concatenate([[-1.0, 1.0], np.cos(np.pi * np.arange(1, TERMS) / TERMS)])


@functools.lru_cache(maxsize=128)
def table(leaf: Leaf, dim: int, norm: float) -> Floats | None:
    """(2P, 8): coefficients of ζ^0 … ζ^7 of every piece, for u ≥ 0 and then for u < 0, for inputs of this norm.

    None where 1e-13 of the largest value is missed. `dim` is 1 for kernels that do not depend on it.
    """
    before = np.inf
    for bits in PIECE_BITS:
        values, checks = (_sample(leaf, dim, norm, bits, points) for points in (NODES, CHECKS))
        coefficients = np.linalg.solve(np.vander(NODES, TERMS, increasing=True), values.T).T
        error = float(np.abs(coefficients @ np.vander(CHECKS, TERMS, increasing=True).T - checks).max())
        if error <= RTOL * np.abs(checks).max():
            return np.ascontiguousarray(coefficients)
        if not error < before / 16:  # halving the pieces gains 2^8 where it converges at all
            return None
        before = error
    return None


def _sample(leaf: Leaf, dim: int, norm: float, bits: int, points: Floats) -> Floats:
    """(2P, points): the kernel by its recursion at these local coordinates of every piece."""
    first = 1.0 + (np.arange(2**bits)[:, np.newaxis] + 0.5 * (points + 1.0)) / 2**bits
    z = np.concatenate([np.ldexp(first, -e) for e in range(OCTAVES, 0, -1)]).ravel()
    z = np.minimum(z, 1.0)
    t, s = np.concatenate([z, 2.0 - z]), np.concatenate([2.0 - z, z])
    values: Floats = leaf.evaluate([leaf], Pairs.on_sphere(norm, t, s, dim))[0]
    return values.reshape(-1, points.size)


@jit(fastmath={"contract"})
def look_up(u: Floats, tables: Floats, left: Floats, right: Floats, out: Floats, near: NDArray[np.int64]) -> int:
    """out[k, i, j] = left[k, i] right[k, j] table_k(u[i, j]); returns the number of near pairs, those with z < NEAR_Z.

    u : (n, m), cosines.
    tables : (K, 2P, 8).
    left, right : (K, n), (K, m): factors for each row and column.
    out : (K, n, m). What it holds for near pairs is of no use.
    near : (2, n m): rows near[0] and columns near[1] of the near pairs, from the front.

    5.2 ns per pair for two tables on one core, of which 1.2 for the positions; 17 ns with table rows taken as arrays
    and signed indices, which Numba checks for being negative.
    """
    n, m = u.shape
    pieces = tables.shape[1] // 2
    bits = 0
    while OCTAVES << bits < pieces:
        bits += 1
    first = (1023 - OCTAVES) << bits
    z, x, at = np.empty(m), np.empty(m), np.empty(m, dtype=np.uint64)
    z_bits, x_bits = z.view(np.int64), x.view(np.int64)
    count = 0
    for i in range(n):
        some = 0
        for j in range(m):
            z[j] = 1.0 - abs(u[i, j])
            some += z[j] < NEAR_Z
        for j in range(m):
            # z = 1 belongs to the last piece's end, and what is nearer than the first piece is clipped.
            piece = max(0, min((z_bits[j] >> (MANTISSA_BITS - bits)) - first, pieces - 1))
            at[j] = np.uint64(TERMS * (piece + (pieces if u[i, j] < 0.0 else 0)))
            x_bits[j] = ((z_bits[j] << bits) & FRACTION_MASK) | BITS_OF_ONE
        for j in range(m):
            x[j] = 1.0 if z[j] >= 1.0 else 2.0 * x[j] - 3.0
        for k in range(tables.shape[0]):
            c = tables[k].ravel()
            for j in range(m):
                p, y = at[j], x[j]
                square = y * y
                even = c[p] + square * (
                    c[p + np.uint64(2)] + square * (c[p + np.uint64(4)] + square * c[p + np.uint64(6)])
                )
                odd = c[p + np.uint64(1)] + square * (
                    c[p + np.uint64(3)] + square * (c[p + np.uint64(5)] + square * c[p + np.uint64(7)])
                )
                out[k, i, j] = (even + y * odd) * (left[k, i] * right[k, j])
        if some:
            for j in range(m):
                if z[j] < NEAR_Z:
                    near[0, count] = i
                    near[1, count] = j
                    count += 1
    return count


@jit
def find_near(u: Floats, near: NDArray[np.int64]) -> int:
    """List the pairs with z < NEAR_Z in near[0] (rows) and near[1] (columns); returns their number."""
    count = 0
    for i in range(u.shape[0]):
        for j in range(u.shape[1]):
            if 1.0 - abs(u[i, j]) < NEAR_Z:
                near[0, count] = i
                near[1, count] = j
                count += 1
    return count
