"""The compiled loops of `three_layer_mean_field`: f, ∇R, J v and Jᵀ R. MATH §8.

    F(x) = (1/m₁) Σ_j n_j σ(v_j·x),   n_j = ‖v_j‖,        f(x) = h(F(x)),   h(z) = (1/m₂) Σ_k σ(w_k z + b_k)

The second layer is a function of one number: piecewise linear in z ≥ 0, with a kink at z = −b_k/w_k, where neuron k
stops or starts. The intervals between kinks are called bins. The slope and offset of h in each bin are computed once
per call. A sample then costs one search among the kinks, whatever m₂ is, and the second layer's gradient one sum of g
and one of g·F per bin (g_i = ∂R/∂f(x_i)):

    ∂R/∂w_k = (1/m₂) Σ_{bins where k is active} Σ_i g_i F_i,        ∂R/∂b_k the same without F.

In the first layer, with G_i = g_i h'(F_i) and H_j = Σ_i G_i 1{v_j·x_i > 0} x_i, Σ_i G_i σ(v_j·x_i) = v_j·H_j, so that

    ∂R/∂v_j = (1/m₁) [v̄_j (v_j·H_j) + n_j H_j],

with v̄_j = v_j/n_j, and v̄ = 0 at v = 0: two products of matrices, V Xᵀ and (G 1{·}) X, and no other pass over (m₁, n)
than those that threshold. Tiles and blocks of rows are those of `_two_layer_loops`; the number of blocks depends on n
alone, and they are added in order. Sums over bins are in float64. Packed arguments:

- theta: V (m₁, d) | c w (m₂,) | c b (m₂,);
- sizes: (m₁, d, m₂, what is trained: BOTH, FIRST or SECOND, threads);
- numbers: (1/c,);
- scratch of `gradient` and `pull`: n_j/m₁ (m₁,) | H (m₁, d) per block | per thread: product (m₁, d), Z (m₁, t), r (t,);
- scratch of `value` and `push`: n_j/m₁ (m₁,) | Z (m₁, t) | Ż (m₁, t) | r (t,).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from simlab.core.jit import jit, per_real
from simlab.networks._two_layer_loops import BOTH, FAST, FIRST, SECOND, _blocks, _plain_layer, _rows
from simlab.networks.signature import GRADIENT, PULL, PUSH, VALUE

__all__ = ["BOTH", "FIRST", "SECOND", "gradient", "pull", "push", "scratch_size", "value"]

Reals = NDArray[Any]
Sizes = NDArray[np.int64]


@jit
def _each(n: int, m: int, d: int) -> int:
    """Reals of scratch space of one thread: product, Z and r."""
    t = _rows(n, m)
    return m * d + m * t + t


@jit
def scratch_size(n: int, m: int, d: int) -> int:
    """Reals of scratch space: n_j/m₁, then H and a thread's space per block, or Z, Ż and r of a push."""
    t = _rows(n, m)
    return m + max(_blocks(n) * (_each(n, m, d) + m * d), 2 * m * t + t)


@jit
def _bins(theta: Reals, m1: int, d: int, m2: int, inverse: float) -> tuple[Reals, Reals, Sizes]:
    """(kinks, lines, active) of the second layer.

    kinks: positive z where a neuron stops or starts, sorted: (bins − 1,).
    lines: slope and offset of m₂ h in each bin: (2, bins).
    active: neuron k is active in the bins active[0, k] … active[1, k] − 1: (2, m₂).
    """
    outer = np.empty((2, m2))
    for k in range(m2):
        outer[0, k] = np.float64(theta[m1 * d + k]) * inverse
        outer[1, k] = np.float64(theta[m1 * d + m2 + k]) * inverse
    w, b = outer[0], outer[1]
    at = np.empty(m2)
    for k in range(m2):  # infinite for a neuron that neither stops nor starts at any z > 0
        at[k] = -b[k] / w[k] if w[k] * b[k] < 0 else np.inf
    order = np.argsort(at, kind="mergesort")
    count = 0
    while count < m2 and at[order[count]] < np.inf:
        count += 1
    kinks = at[order[:count]]
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
    return kinks, lines, active


@jit
def _bin(kinks: Reals, z: float) -> int:
    """The bin that z lies in: the number of kinks at or below z."""
    low, high = 0, kinks.size
    while low < high:
        middle = (low + high) // 2
        if kinks[middle] <= z:
            low = middle + 1
        else:
            high = middle
    return low


@jit(fastmath=FAST)
def _mask(Z: Reals, r: Reals) -> None:
    """Z ← (1 ⊗ r) 1{Z > 0}"""
    m, t = Z.shape
    zero = r.dtype.type(0)
    for j in range(m):
        for i in range(t):
            Z[j, i] = r[i] if Z[j, i] > zero else zero


@jit
def _sizes_of_neurons(V: Reals, out: Reals) -> None:
    """out ← n_j/m₁"""
    m = V.shape[0]
    for j in range(m):
        out[j] = np.sqrt(np.sum(V[j] * V[j])) / m


@jit
def _block(
    V: Reals,
    sizes_over_m: Reals,
    X: Reals,
    y: Reals,
    alpha: float,
    first: bool,
    rows: int,
    kinks: Reals,
    lines: Reals,
    m2: int,
    H: Reals,
    sums: Reals,
    scratch: Reals,
) -> float:
    """H of these rows, sums of g F and of g in each bin, and Σ (αf − y)² returned. α = 0 means: g = y.

    sizes_over_m: n_j/m₁, (m₁,).
    first: whether H is wanted.
    rows: number of rows of all blocks together, the n in R.
    kinks, lines: as `_bins` gives them.
    sums: out, (2, bins).
    scratch: the space of one thread.
    """
    m, d = V.shape
    n = X.shape[0]
    t_max = _rows(rows, m)
    product, rest = scratch[: m * d], scratch[m * d :]
    total = 0.0
    sums[:] = 0.0
    tiles = -(-n // t_max)
    for k in range(tiles):
        begin, end = k * n // tiles, (k + 1) * n // tiles
        t = end - begin
        Xt = X[begin:end]
        Z, r = rest[: m * t].reshape(m, t), rest[m * t_max : m * t_max + t]
        _plain_layer(V, Xt, Z, sizes_over_m, r)
        for i in range(t):
            F = np.float64(r[i])
            at = _bin(kinks, F)
            if alpha > 0:
                residual = alpha * (lines[0, at] * F + lines[1, at]) / m2 - np.float64(y[begin + i, 0])
                total += residual * residual
                g = residual * (alpha / rows)
            else:
                g = np.float64(y[begin + i, 0])
            sums[0, at] += g * F
            sums[1, at] += g
            r[i] = g * lines[0, at] / m2
        if first:
            _mask(Z, r)
            if k == 0:
                np.dot(Z, Xt, H.reshape(m, d))
            else:
                np.dot(Z, Xt, product.reshape(m, d))
                for p in range(m * d):
                    H[p] += product[p]
    return total


@jit(parallel=True)
def _blockwise(
    theta: Reals,
    X: Reals,
    y: Reals,
    alpha: float,
    sizes: Sizes,
    kinks: Reals,
    lines: Reals,
    sums: Reals,
    scratch: Reals,
) -> float:
    """As `_block`, over several blocks of rows. Thread i takes the blocks i, i + threads, …

    sums: out, (blocks, 2, bins).
    """
    m1, d, m2, trained, threads = sizes
    n = X.shape[0]
    V = theta[: m1 * d].reshape(m1, d)
    blocks, each = _blocks(n), _each(n, m1, d)
    totals = np.zeros(blocks)
    threads = min(blocks, threads)
    weights, space = scratch[:m1], scratch[m1 + blocks * m1 * d :]
    for thread in prange(threads):
        for k in range(thread, blocks, threads):
            begin, end = k * n // blocks, (k + 1) * n // blocks
            H = scratch[m1 + k * m1 * d : m1 + (k + 1) * m1 * d]
            own = space[thread * each : (thread + 1) * each]
            first = trained != SECOND
            totals[k] = _block(
                V, weights, X[begin:end], y[begin:end], alpha, first, n, kinks, lines, m2, H, sums[k], own
            )
    return float(np.sum(totals))


@jit
def _all(
    theta: Reals, X: Reals, y: Reals, alpha: float, sizes: Sizes, inverse: float, out: Reals, scratch: Reals
) -> float:
    """∇R into `out`, and Σ (αf − y)² returned; α = 0 means: Jᵀ y into `out`."""
    m1, d, m2, trained, _ = sizes
    n = X.shape[0]
    blocks = _blocks(n)
    kinks, lines, active = _bins(theta, m1, d, m2, inverse)
    sums = np.empty((blocks, 2, kinks.size + 1))
    V = theta[: m1 * d].reshape(m1, d)
    _sizes_of_neurons(V, scratch[:m1])
    H = scratch[m1 : m1 + m1 * d]
    if blocks == 1:  # without threads: a parallel region costs more than a small batch
        rest = scratch[m1 + m1 * d :]
        total = _block(V, scratch[:m1], X, y, alpha, trained != SECOND, n, kinks, lines, m2, H, sums[0], rest)
    else:
        total = _blockwise(theta, X, y, alpha, sizes, kinks, lines, sums, scratch)
    if trained != FIRST:
        until = np.zeros((2, kinks.size + 2))  # until[:, p]: sums of g F and g over the bins before bin p
        for k in range(blocks):
            for row in range(2):
                for at in range(kinks.size + 1):
                    until[row, at + 1] += sums[k, row, at]
        for at in range(kinks.size + 1):
            until[:, at + 1] += until[:, at]
        for k in range(m2):
            for row in range(2):
                of = until[row, active[1, k]] - until[row, active[0, k]]
                out[m1 * d + row * m2 + k] = of * inverse / m2
    if trained != SECOND:
        for k in range(1, blocks):
            more = scratch[m1 + k * m1 * d : m1 + (k + 1) * m1 * d]
            for p in range(m1 * d):
                H[p] += more[p]
        for j in range(m1):
            along, size = H.dtype.type(0), scratch[j] * m1
            for p in range(j * d, (j + 1) * d):
                along += theta[p] * H[p]
            toward = along / (size * m1) if size > 0 else along * 0
            for p in range(j * d, (j + 1) * d):
                out[p] = toward * theta[p] + scratch[j] * H[p]
    return total


@per_real(GRADIENT)
def gradient(
    act: Any,
    a: Reals,
    theta: Reals,
    X: Reals,
    y: Reals,
    alpha: float,
    sizes: Sizes,
    numbers: Reals,
    out: Reals,
    scratch: Reals,
) -> float:
    return float(_all(theta, X, y, np.float64(alpha), sizes, np.float64(numbers[0]), out, scratch) / (2 * X.shape[0]))


@per_real(PULL)
def pull(
    act: Any, a: Reals, theta: Reals, R: Reals, X: Reals, sizes: Sizes, numbers: Reals, out: Reals, scratch: Reals
) -> None:
    _all(theta, X, R, 0.0, sizes, np.float64(numbers[0]), out, scratch)


@jit
def _pushed(theta: Reals, v: Reals, X: Reals, sizes: Sizes, inverse: float, out: Reals, scratch: Reals) -> None:
    """out ← J v; or f, where v is empty."""
    m1, d, m2, trained, _ = sizes
    n = X.shape[0]
    V = theta[: m1 * d].reshape(m1, d)
    kinks, lines, active = _bins(theta, m1, d, m2, inverse)
    moved = np.zeros((2, kinks.size + 1))  # derivative of `lines` along v
    radial = np.zeros(m1, theta.dtype)  # v̄_j·dv_j/m₁
    weights = scratch[:m1]
    _sizes_of_neurons(V, weights)
    if v.size > 0 and trained != FIRST:
        for k in range(m2):
            for row in range(2):
                moved[row, active[0, k] : active[1, k]] += v[m1 * d + row * m2 + k] * inverse
    if v.size > 0 and trained != SECOND:
        for j in range(m1):
            if weights[j] > 0:
                radial[j] = np.sum(V[j] * v[j * d : (j + 1) * d]) / (weights[j] * m1 * m1)
    t_max = _rows(n, m1)
    zero = theta.dtype.type(0)
    dF = np.zeros(t_max, theta.dtype)
    for begin in range(0, n, t_max):
        t = min(t_max, n - begin)
        Xt = X[begin : begin + t]
        Z, rest = scratch[m1 : m1 + m1 * t].reshape(m1, t), scratch[m1 + m1 * t :]
        dZ, r = rest[: m1 * t].reshape(m1, t), rest[m1 * t : m1 * t + t]
        _plain_layer(V, Xt, Z, weights, r)
        if v.size > 0 and trained != SECOND:
            np.dot(v[: m1 * d].reshape(m1, d), Xt.T, dZ)
            dF[:t] = 0
            for j in range(m1):
                n_j, radial_j = weights[j], radial[j]
                for i in range(t):
                    dF[i] += radial_j * Z[j, i] + n_j * dZ[j, i] if Z[j, i] > 0 else zero
        for i in range(t):
            F = np.float64(r[i])
            k = _bin(kinks, F)
            if v.size == 0:
                out[begin + i, 0] = (lines[0, k] * F + lines[1, k]) / m2
            else:
                out[begin + i, 0] = (lines[0, k] * dF[i] + moved[0, k] * F + moved[1, k]) / m2


@per_real(VALUE)
def value(act: Any, a: Reals, theta: Reals, X: Reals, sizes: Sizes, numbers: Reals, out: Reals, scratch: Reals) -> None:
    _pushed(theta, theta[:0], X, sizes, np.float64(numbers[0]), out, scratch)


@per_real(PUSH)
def push(
    act: Any, a: Reals, theta: Reals, v: Reals, X: Reals, sizes: Sizes, numbers: Reals, out: Reals, scratch: Reals
) -> None:
    _pushed(theta, v, X, sizes, np.float64(numbers[0]), out, scratch)
