"""The layerwise recursion, pair by pair, with digits kept near u = ±1. MATH §3.

With K¹ = σ_b² + v x·y and, for ℓ = 2 … L,

    K^ℓ = r K^{ℓ−1} + β (σ_b² + w F(K^{ℓ−1})),    Θ^ℓ = r Θ^{ℓ−1} + β (σ_b² + w F) + β w Ḟ(K^{ℓ−1}) Θ^{ℓ−1}

(r = 0, β = 1: a plain net; r, β > 0: a residual one). A pair is carried as the variances q, p of its two inputs and
its correlation as t = 1 − u *and* s = 1 + u. Each K^ℓ is a sum of parts with variances a_i, b_i and correlation
1 − t_i = s_i − 1, so that with g_i = √(a_i b_i), N = √(Σa Σb) and, by Lagrange's identity,
N − Σg_i = Σ_{i<j} (√(a_i b_j) − √(a_j b_i))² / (N + Σg_i) =: gap,

    t = (gap + Σ g_i t_i) / N,    s = (gap + Σ g_i s_i) / N:

sums of positive terms, nothing cancels. The constant part σ_b² has t_i = 0, s_i = 2.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import boolean, float64, int64, types, void
from numpy.typing import NDArray

from simlab.activations.signature import DUAL, VARIANCE, Dual, Variance
from simlab.core.jit import jit

Floats = NDArray[np.float64]
_DUAL = types.FunctionType(DUAL)

# Columns of a point's table at a layer: √K, √(β w F), K, F (of the point with itself), Θ.
ROOT, BRANCH, VARIANCE_IN, VARIANCE_OUT, TANGENT = range(5)


@jit(
    signatures=[
        float64[:, :, ::1](types.FunctionType(VARIANCE), _DUAL, float64[::1], float64[::1], float64[::1], int64)
    ]
)
def points(variance: Variance, dual: Dual, a: Floats, c: Floats, norms: Floats, depth: int) -> Floats:
    """(n, depth, 5): what the recursion needs of each input, from its norm; columns as above.

    variance, dual: compiled functions of the activation (`simlab.activations.Compiled`), a its numbers.
    c: (σ_b², v, r, β, w).
    norms : (n,).
    """
    bias, first, skip, mix, weight = c[0], c[1], c[2], c[3], c[4]
    table = np.empty((norms.size, depth, 5))
    for i in range(norms.size):
        q = bias + first * norms[i] * norms[i]
        theta = q
        for layer in range(depth):
            A = variance(q, a)
            table[i, layer, ROOT] = math.sqrt(q)
            table[i, layer, BRANCH] = math.sqrt(mix * weight * A)
            table[i, layer, VARIANCE_IN] = q
            table[i, layer, VARIANCE_OUT] = A
            table[i, layer, TANGENT] = theta
            slope = dual(q, q, A, A, 0.0, 2.0, a)[2]
            theta = skip * theta + mix * (bias + weight * A) + mix * weight * slope * theta
            q = skip * q + mix * (bias + weight * A)
    return table


@jit
def _balanced(t: float, s: float) -> tuple[float, float]:
    """t and s with the sum 2, which rounding spoils (both may come out as 1 + 2^−52): the smaller is kept."""
    return (min(t, 1.0), 2.0 - min(t, 1.0)) if t <= s else (2.0 - min(s, 1.0), min(s, 1.0))


class Inputs(NamedTuple):
    """Inputs as the recursion needs them.

    norms: (n,).
    table: (n, depth, 5), by `points`.
    """

    norms: Floats
    table: Floats


class Chosen(NamedTuple):
    """Pairs of inputs.

    rows, columns: (pairs,), indices into the first and the second inputs.
    t, s: (pairs,), their correlations 1 − t = s − 1.
    """

    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    t: Floats
    s: Floats


class Wanted(NamedTuple):
    """Kernels that are asked for.

    depths: (kernels,), ascending.
    tangents: (kernels,), Θ where true, else K.
    """

    depths: NDArray[np.int64]
    tangents: NDArray[np.bool_]


@jit
def _pair(
    dual: Dual,
    a: Floats,
    c: Floats,
    xy: tuple[float, float],
    correlation: tuple[float, float],
    tables: tuple[Floats, Floats],
    wanted: Wanted,
    out: Floats,
) -> None:
    """Kernels of one pair of inputs at every requested (depth, tangent), into `out`.

    xy: norms of the two inputs.
    correlation: (t, s).
    tables: those of the two inputs, (depth, 5).
    """
    (t, s), (X, Y), depths, tangents = correlation, tables, wanted.depths, wanted.tangents
    bias, skip, mix, weight = c[0], c[2], c[3], c[4]
    root_first = math.sqrt(c[1])
    root_bias, root_mixed_bias, root_skip = math.sqrt(bias), math.sqrt(mix * bias), math.sqrt(skip)
    # The first layer: the constant, and the inner product.
    g = (root_first * xy[0]) * (root_first * xy[1])
    norm = X[0, ROOT] * Y[0, ROOT]
    K = bias + (g * (1.0 - t) if t < 1.0 else g * (s - 1.0))
    theta = K
    if norm > 0.0 and bias > 0.0:
        gap = (root_bias * root_first * (xy[0] - xy[1])) ** 2 / (norm + bias + g)
        t, s = _balanced((gap + g * t) / norm, (gap + g * s + 2.0 * bias) / norm)
    at = 0
    for layer in range(depths[-1]):
        while at < depths.size and depths[at] == layer + 1:
            out[at] = theta if tangents[at] else K
            at += 1
        if layer + 1 == depths[-1]:
            break
        q, p = X[layer, VARIANCE_IN], Y[layer, VARIANCE_IN]
        tau, sigma, slope = dual(q, p, X[layer, VARIANCE_OUT], Y[layer, VARIANCE_OUT], t, s, a)
        bx, by = X[layer, BRANCH], Y[layer, BRANCH]
        sx, sy = root_skip * X[layer, ROOT], root_skip * Y[layer, ROOT]
        g, h = bx * by, sx * sy
        part = mix * bias + (g * (1.0 - tau) if tau < 1.0 else g * (sigma - 1.0))
        K = part + (h * (1.0 - t) if t < 1.0 else h * (s - 1.0))
        theta = skip * theta + part + mix * weight * slope * theta
        norm = X[layer + 1, ROOT] * Y[layer + 1, ROOT]
        if norm > 0.0:
            gap = 0.0
            if q != p:
                total = norm + g + h + mix * bias
                gap = (root_mixed_bias * (bx - by)) ** 2 / total
                if skip > 0.0:
                    gap += (root_mixed_bias * (sx - sy)) ** 2 / total + (bx * sy - sx * by) ** 2 / total
            t, s = _balanced((gap + g * tau + h * t) / norm, (gap + g * sigma + h * s + 2.0 * mix * bias) / norm)


_INPUTS = types.NamedTuple((float64[::1], float64[:, :, ::1]), Inputs)
_CHOSEN = types.NamedTuple((int64[::1], int64[::1], float64[::1], float64[::1]), Chosen)
_WANTED = types.NamedTuple((int64[::1], boolean[::1]), Wanted)


@jit(signatures=[void(_DUAL, float64[::1], float64[::1], _INPUTS, _INPUTS, _CHOSEN, _WANTED, float64[:, ::1])])
def pairs(
    dual: Dual, a: Floats, c: Floats, first: Inputs, second: Inputs, chosen: Chosen, wanted: Wanted, out: Floats
) -> None:
    """out[k] : (pairs,) for every requested kernel k.

    dual, a, c: as in `points`.
    """
    values = np.empty(wanted.depths.size)
    for i in range(chosen.rows.size):
        j, k = chosen.rows[i], chosen.columns[i]
        xy, tables = (first.norms[j], second.norms[k]), (first.table[j], second.table[k])
        _pair(dual, a, c, xy, (chosen.t[i], chosen.s[i]), tables, wanted, values)
        out[:, i] = values
