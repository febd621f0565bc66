"""A tile of `three_layer_mean_field`: f, J v and Jᵀ R. MATH §8.

What each function is for: `simlab.networks.skeleton.Tile`.

    F(x) = (1/m₁) Σ_j n_j σ(v_j·x),   n_j = ‖v_j‖,        f(x) = h(F(x)),   h(z) = (1/m₂) Σ_k σ(w_k z + b_k)

The second layer is a function of one number: piecewise linear in z ≥ 0, with a kink at z = −b_k/w_k, where neuron k
stops or starts. The intervals between kinks are called bins. The slope and offset of h in each bin are computed once
per call (`prepare`). A sample then costs one search among the kinks, whatever m₂ is, and the second layer's gradient
one sum of g and one of g·F per bin (g_i = ∂R/∂f(x_i)):

    ∂R/∂w_k = (1/m₂) Σ_{bins where k is active} Σ_i g_i F_i,        ∂R/∂b_k the same without F.

In the first layer, with G_i = g_i h'(F_i) and H_j = Σ_i G_i 1{v_j·x_i > 0} x_i, Σ_i G_i σ(v_j·x_i) = v_j·H_j, so that

    ∂R/∂v_j = (1/m₁) [v̄_j (v_j·H_j) + n_j H_j],

with v̄_j = v_j/n_j, and v̄ = 0 at v = 0: two products of matrices, V Xᵀ and (G 1{·}) X, and no other pass over (m₁, n)
than those that threshold. A block of rows gives H and, in float64, the sums over bins; `finish` makes the gradient of
them. Packed arguments:

- theta: V (m₁, d) | c w (m₂,) | c b (m₂,);
- sizes: (m₁, d, m₂, what is trained: BOTH, FIRST or SECOND);
- numbers: (1/c,);
- shared: n_j/m₁ (m₁,);
- space: product (m₁, d) | Z (m₁, t) | Ż (m₁, t) | F (t,) | f (1, t).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simlab.core.jit import jit
from simlab.networks._two_layer_tile import FAST, FIRST, SECOND, add_product, plain_layer, tile_rows
from simlab.networks.signature import Net, Reals
from simlab.networks.skeleton import Into, Tile, loops_over, row_blocks

Floats = NDArray[np.float64]
Sizes = NDArray[np.int64]


class Known(NamedTuple):
    """The second layer as a function of one number, and the sizes of the neurons of the first.

    kinks: positive z where a neuron stops or starts, sorted: (bins − 1,).
    lines: slope and offset of m₂ h in each bin: (2, bins).
    active: neuron k is active in the bins active[0, k] … active[1, k] − 1: (2, m₂).
    shares: n_j/m₁, (m₁,).
    """

    kinks: Floats
    lines: Floats
    active: Sizes
    shares: Reals


class Matrices(NamedTuple):
    """Z (m₁, t), Ż (m₁, t), F (t,), f (1, t)."""

    Z: Reals
    dZ: Reals
    F: Reals
    f: Reals


@jit
def space_size(sizes: Sizes, t: int) -> int:
    m, d = sizes[:2]
    return int(m * d + 2 * m * t + 2 * t)


@jit
def shared_size(sizes: Sizes, size: int) -> int:
    return int(sizes[0])


@jit
def _matrices(space: Reals, t: int, sizes: Sizes) -> Matrices:
    m, d = sizes[:2]
    rest = space[m * d :]
    Z, dZ = rest[: m * t].reshape(m, t), rest[m * t : 2 * m * t].reshape(m, t)
    rest = rest[2 * m * t :]
    return Matrices(Z, dZ, rest[:t], rest[t : 2 * t].reshape(1, t))


@jit
def _neurons(theta: Reals, sizes: Sizes) -> Reals:
    """V (m₁, d)"""
    m, d = sizes[:2]
    return theta[: m * d].reshape(m, d)


@jit
def prepare(net: Net, shared: Reals) -> Known:
    m1, d, m2 = net.sizes[:3]
    inverse = np.float64(net.numbers[0])
    V = _neurons(net.theta, net.sizes)
    for j in range(m1):
        shared[j] = np.sqrt(np.sum(V[j] * V[j])) / m1
    outer = np.empty((2, m2))
    for k in range(m2):
        outer[0, k] = np.float64(net.theta[m1 * d + k]) * inverse
        outer[1, k] = np.float64(net.theta[m1 * d + m2 + k]) * inverse
    w, b = outer[0], outer[1]
    at = np.empty(m2)
    for k in range(m2):  # infinite for a neuron that neither stops nor starts at any z > 0
        at[k] = -b[k] / w[k] if w[k] * b[k] < 0 else np.inf
    order = np.argsort(at, kind="mergesort")
    count = 0
    while count < m2 and at[order[count]] < np.inf:
        count += 1
    active = np.zeros((2, m2), np.int64)
    lines = np.zeros((2, count + 1))
    for p in range(m2):
        k = order[p]
        if p < count and w[k] < 0:  # stops
            active[1, k] = p + 1
        elif p < count:  # starts
            active[0, k] = p + 1
            active[1, k] = count + 1
        elif b[k] > 0 or (b[k] == 0 and w[k] > 0):
            active[1, k] = count + 1
        for bin_ in range(active[0, k], active[1, k]):
            lines[0, bin_] += w[k]
            lines[1, bin_] += b[k]
    if np.isnan(np.sum(outer)):  # comparisons with NaN are false: such a neuron would count as never active
        lines[:] = np.nan
    return Known(at[order[:count]], lines, active, shared)


@jit
def sum_count(known: Known) -> int:
    """A sum of g F and one of g per bin."""
    return int(known.lines.size)


@jit
def _bin(kinks: Floats, z: float) -> int:
    """The bin that z lies in: the number of kinks at or below z."""
    low, high = 0, kinks.size
    while low < high:
        middle = (low + high) // 2
        if kinks[middle] <= z:
            low = middle + 1
        else:
            high = middle
    return low


@jit
def forwards(act: Any, net: Net, known: Known, X: Reals, space: Reals) -> Reals:
    tile, m2 = _matrices(space, X.shape[0], net.sizes), net.sizes[2]
    plain_layer(_neurons(net.theta, net.sizes), X, tile.Z, known.shares, tile.F)
    for i in range(tile.F.size):
        F = np.float64(tile.F[i])
        k = _bin(known.kinks, F)
        tile.f[0, i] = (known.lines[0, k] * F + known.lines[1, k]) / m2
    return tile.f


@jit(fastmath=FAST)
def _mask(Z: Reals, r: Reals) -> None:
    """Z ← (1 ⊗ r) 1{Z > 0}"""
    m, t = Z.shape
    zero = r.dtype.type(0)
    for j in range(m):
        for i in range(t):
            Z[j, i] = r[i] if Z[j, i] > zero else zero


@jit
def backwards(net: Net, known: Known, X: Reals, R: Reals, into: Into, add: bool, space: Reals) -> None:
    """H into the place of V's gradient, and the sums over bins."""
    m, d, m2, trained = net.sizes[:4]
    tile, bins = _matrices(space, X.shape[0], net.sizes), known.lines.shape[1]
    if not add:
        into.sums[:] = 0.0
    for i in range(tile.F.size):
        F, g = np.float64(tile.F[i]), np.float64(R[0, i])
        k = _bin(known.kinks, F)
        into.sums[k] += g * F
        into.sums[bins + k] += g
        tile.F[i] = g * known.lines[0, k] / m2
    if trained != SECOND:
        _mask(tile.Z, tile.F)
        add_product(tile.Z, X, _neurons(into.out, net.sizes), add, space[: m * d].reshape(m, d))


@jit
def finish(net: Net, known: Known, sums: Floats, out: Reals) -> None:
    m1, d, m2, trained = net.sizes[:4]
    theta, inverse = net.theta, np.float64(net.numbers[0])
    bins = known.lines.shape[1]
    if trained != FIRST:
        until = np.zeros((2, bins + 1))  # until[:, p]: sums of g F and g over the bins before bin p
        for begin in range(0, sums.size, 2 * bins):  # block by block
            for row in range(2):
                for at in range(bins):
                    until[row, at + 1] += sums[begin + row * bins + at]
        for at in range(bins):
            until[:, at + 1] += until[:, at]
        for k in range(m2):
            for row in range(2):
                of = until[row, known.active[1, k]] - until[row, known.active[0, k]]
                out[m1 * d + row * m2 + k] = of * inverse / m2
    if trained != SECOND:
        for j in range(m1):
            along, size = out.dtype.type(0), known.shares[j] * m1
            for p in range(j * d, (j + 1) * d):
                along += theta[p] * out[p]
            toward = along / (size * m1) if size > 0 else along * 0
            for p in range(j * d, (j + 1) * d):
                out[p] = toward * theta[p] + known.shares[j] * out[p]


@jit
def pushed(act: Any, net: Net, known: Known, v: Reals, X: Reals, space: Reals) -> Reals:
    f = forwards(act, net, known, X, space)
    if v.size == 0:
        return f
    m1, d, m2, trained = net.sizes[:4]
    tile, inverse, zero = _matrices(space, X.shape[0], net.sizes), np.float64(net.numbers[0]), net.theta.dtype.type(0)
    V, moved = _neurons(net.theta, net.sizes), np.zeros_like(known.lines)  # derivative of `lines` along v
    dF = np.zeros(X.shape[0], net.theta.dtype)
    if trained != FIRST:
        for k in range(m2):
            for row in range(2):
                moved[row, known.active[0, k] : known.active[1, k]] += v[m1 * d + row * m2 + k] * inverse
    if trained != SECOND:
        np.dot(_neurons(v, net.sizes), X.T, tile.dZ)
        for j in range(m1):
            share, radial = known.shares[j], zero  # radial: v̄_j·dv_j/m₁
            if share > 0:
                radial = net.theta.dtype.type(np.sum(V[j] * v[j * d : (j + 1) * d]) / (share * m1 * m1))
            for i in range(dF.size):
                dF[i] += radial * tile.Z[j, i] + share * tile.dZ[j, i] if tile.Z[j, i] > 0 else zero
    for i in range(dF.size):
        F = np.float64(tile.F[i])
        k = _bin(known.kinks, F)
        f[0, i] = (known.lines[0, k] * dF[i] + moved[0, k] * F + moved[1, k]) / m2
    return f


LOOPS = loops_over(
    Tile(
        forwards, backwards, pushed, tile_rows, space_size, row_blocks, shared_size, prepare, sum_count, finish,
        even=True,
    ),
    "three_layer_mean_field",
)  # fmt: skip
