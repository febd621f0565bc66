"""The compiled loops of `two_layer`: f, ∇R, J v and Jᵀ R, in tiles over BLAS. MATH §6.

For a tile of t rows X_t, with Z = W X_tᵀ + b (m, t), H = φ(Z), D = φ'(Z) and r the residual times αs/n:

    f = s aᵀ H,    ∂R/∂a = H r,    G = (a ⊗ r) ⊙ D,    ∂R/∂b = G 1,    ∂R/∂W = G X_t
    J v = s [v_aᵀ H + aᵀ (D ⊙ (v_W X_tᵀ + v_b))]

Neurons are the rows of Z, so that every element-wise pass runs along inputs that are adjacent in memory, and both
products take X_t as it is stored. Tiles of 128 rows, 64 in wide networks, keep Z and H : (m, t) in the cache. The rows
are divided into 1 to 4 blocks, a number that depends on n alone. Each block has its own gradient, and these are added
in order: the same bits on any number of threads. A thread reuses its tiles for all of its blocks: with tiles per block,
48 MB at (n, d, m) = (4000, 64, 4000), a step took 1.5 times as long.

A *plain* network (ReLU, no bias, both layers trained) has passes of its own, which take H and D from Z and store
neither. Packed arguments:

- theta: a (m,) | b (m,), only with a bias | W (m, d);
- sizes: (m, d, 1 with a bias else 0, what is trained: BOTH, FIRST or SECOND, 1 if plain else 0, threads). The caller
  asks numba for the number of threads: code that asks itself cannot be cached;
- numbers: (s,);
- scratch of `gradient` and `pull`: with several blocks one gradient (size,) per block, then, per thread,
  product (m, d) | Z (m, t) | H (m, t) | r (t,), t being the rows of the largest tile;
- scratch of `value` and `push`: per block, Z (m, t) | H (m, t) | r (t,).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from simlab.core.jit import jit, per_real
from simlab.networks.signature import GRADIENT, PULL, PUSH, VALUE

Reals = NDArray[Any]
Sizes = NDArray[np.int64]
BOTH, FIRST, SECOND = 0, 1, 2
TILE_ROWS, WIDE_TILE_ROWS = 128, 64
WIDE_NEURONS = 2048  # from here on a network is wide
BLOCK_ROWS = 128  # fewer rows are not worth a thread
MOST_BLOCKS = 4
PASS_NEURONS = 16  # whose Z and H stay in the first-level cache between the two halves of a pass
FAST = {"contract", "reassoc"}  # sums along a row may be vectorised


@jit
def _blocks(n: int) -> int:
    """Number of blocks of n rows."""
    return max(1, min(MOST_BLOCKS, n // BLOCK_ROWS))


@jit
def _rows(n: int, m: int) -> int:
    """Rows of the largest tile of n rows and m neurons."""
    return min(TILE_ROWS if m < WIDE_NEURONS else WIDE_TILE_ROWS, n)


@jit
def _each(n: int, m: int, d: int) -> int:
    """Reals of scratch space of one thread: product, Z, H, r."""
    t = _rows(n, m)
    return m * d + 2 * m * t + t


@jit
def scratch_size(n: int, m: int, d: int) -> int:
    """Reals of scratch space: one gradient per block (m(d + 2) with a bias), and a thread's space per block."""
    return _blocks(n) * (_each(n, m, d) + m * (d + 2))


@jit(fastmath=FAST)
def _layer(act: Any, a: Reals, W: Reals, b: Reals, Xt: Reals, Z: Reals, H: Reals, c: Reals, r: Reals) -> None:
    """H ← φ(W Xᵀ + b), Z ← φ' of it, and r ← cᵀ H."""
    m, t = Z.shape
    np.dot(W, Xt.T, Z)
    r[:] = 0
    for first in range(0, m, PASS_NEURONS):
        last = min(m, first + PASS_NEURONS)
        if b.size:
            for j in range(first, last):
                for i in range(t):
                    Z[j, i] += b[j]
        act(Z[first:last].reshape(-1), H[first:last].reshape(-1), a)
        # Four neurons at a time: r is loaded and stored once for them.
        for j in range(first, last - 3, 4):
            c_0, c_1, c_2, c_3 = c[j], c[j + 1], c[j + 2], c[j + 3]
            for i in range(t):
                r[i] += c_0 * H[j, i] + c_1 * H[j + 1, i] + c_2 * H[j + 2, i] + c_3 * H[j + 3, i]
        for j in range(first + (last - first) // 4 * 4, last):
            for i in range(t):
                r[i] += c[j] * H[j, i]


@jit(fastmath=FAST)
def _plain_layer(W: Reals, Xt: Reals, Z: Reals, c: Reals, r: Reals) -> None:
    """Z ← W Xᵀ and r ← cᵀ relu(Z)."""
    m, t = Z.shape
    zero = r.dtype.type(0)
    np.dot(W, Xt.T, Z)
    r[:] = 0
    for j in range(m):
        c_j = c[j]  # read once: the compiler cannot know that r and Z are not c, and would not vectorise the loop
        for i in range(t):
            z = Z[j, i]
            r[i] += c_j * (z if z > zero else zero)


@jit(fastmath=FAST)
def _plain_back(Z: Reals, c: Reals, r: Reals, first: bool, out: Reals) -> None:
    """out ← relu(Z) r, added to it unless `first`; then Z ← (c ⊗ r) 1{Z > 0}."""
    m, t = Z.shape
    zero = r.dtype.type(0)
    for j in range(m):
        along, c_j = zero, c[j]
        for i in range(t):
            z = Z[j, i]
            along += (z if z > zero else zero) * r[i]
            Z[j, i] = c_j * r[i] if z > zero else zero
        out[j] = along if first else out[j] + along


@jit(fastmath=FAST)
def _back(Z: Reals, H: Reals, c: Reals, r: Reals, bias: int, trained: int, first: bool, out: Reals) -> None:
    """∂R/∂a and ∂R/∂b of a tile into `out`, added unless `first`; then Z ← G."""
    m, t = Z.shape
    for j in range(m):
        if trained != FIRST:
            along = r.dtype.type(0)
            for i in range(t):
                along += H[j, i] * r[i]
            out[j] = along if first else out[j] + along
        if trained != SECOND:
            c_j = c[j]
            for i in range(t):
                Z[j, i] *= c_j * r[i]
            if bias:
                along = np.sum(Z[j])
                out[m + j] = along if first else out[m + j] + along


@jit(fastmath=FAST)
def _block(
    act: Any,
    a: Reals,
    theta: Reals,
    X: Reals,
    y: Reals,
    alpha: float,
    sizes: Sizes,
    scale: float,
    rows: int,
    out: Reals,
    scratch: Reals,
) -> float:
    """∇R over these rows into `out`, and Σ‖αf − y‖² returned; α = 0 means: Jᵀ y into `out`.

    rows: number of rows of all blocks together, the n in R.
    scratch: the space of one thread.
    """
    m, d, bias, trained, plain = sizes[:5]
    n = X.shape[0]
    outer, b = theta[:m], theta[m : m + bias * m]
    W = theta[m + bias * m :].reshape(m, d)
    inner = out[m + bias * m :]
    t_max = _rows(rows, m)
    product, rest = scratch[: m * d], scratch[m * d :]
    total = 0.0
    tiles = -(-n // t_max)
    for k in range(tiles):
        begin, end = k * n // tiles, (k + 1) * n // tiles
        t = end - begin
        Xt = X[begin:end]
        Z, H = rest[: m * t].reshape(m, t), rest[m * t_max : m * t_max + m * t].reshape(m, t)
        r = rest[2 * m * t_max : 2 * m * t_max + t]
        if plain:
            _plain_layer(W, Xt, Z, outer, r)
        else:
            _layer(act, a, W, b, Xt, Z, H, outer, r)
        for i in range(t):
            if alpha > 0:
                residual = alpha * scale * r[i] - y[begin + i, 0]
                total += np.float64(residual) * np.float64(residual)
                r[i] = residual * (alpha * scale / rows)
            else:
                r[i] = scale * y[begin + i, 0]
        if plain:
            _plain_back(Z, outer, r, k == 0, out)
        else:
            _back(Z, H, outer, r, bias, trained, k == 0, out)
        if trained != SECOND:
            if k == 0:
                np.dot(Z, Xt, inner.reshape(m, d))
            else:
                np.dot(Z, Xt, product.reshape(m, d))
                for p in range(m * d):
                    inner[p] += product[p]
    return total


@jit(parallel=True)
def _blockwise(
    act: Any,
    a: Reals,
    theta: Reals,
    X: Reals,
    y: Reals,
    alpha: float,
    sizes: Sizes,
    scale: float,
    out: Reals,
    scratch: Reals,
) -> float:
    """As `_block`, over several blocks of rows. Thread i takes the blocks i, i + threads, …"""
    m, d, trained = sizes[0], sizes[1], sizes[3]
    n, P = X.shape[0], theta.size
    blocks, each = _blocks(n), _each(n, m, d)
    totals = np.zeros(blocks)
    threads = min(blocks, sizes[5])
    for thread in prange(threads):
        own = scratch[blocks * P + thread * each : blocks * P + (thread + 1) * each]
        for k in range(thread, blocks, threads):
            first, last = k * n // blocks, (k + 1) * n // blocks
            totals[k] = _block(
                act, a, theta, X[first:last], y[first:last], alpha, sizes, scale, n, scratch[k * P : (k + 1) * P], own
            )
    begin, end = (m if trained == FIRST else 0), (m if trained == SECOND else P)
    for p in range(begin, end):  # block by block in order, whatever thread computed it
        along = scratch[p]
        for k in range(1, blocks):
            along += scratch[k * P + p]
        out[p] = along
    return float(np.sum(totals))


@jit
def _all(
    act: Any,
    a: Reals,
    theta: Reals,
    X: Reals,
    y: Reals,
    alpha: float,
    sizes: Sizes,
    scale: float,
    out: Reals,
    scratch: Reals,
) -> float:
    """As `_block`, over all rows."""
    if _blocks(X.shape[0]) == 1:  # without threads: a parallel region costs more than a small batch
        return float(_block(act, a, theta, X, y, alpha, sizes, scale, X.shape[0], out, scratch))
    return float(_blockwise(act, a, theta, X, y, alpha, sizes, scale, out, scratch))


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
    total = _all(act, a, theta, X, y, alpha, sizes, numbers[0], out, scratch)
    return float(total / (2 * X.shape[0]))


@per_real(PULL)
def pull(
    act: Any, a: Reals, theta: Reals, R: Reals, X: Reals, sizes: Sizes, numbers: Reals, out: Reals, scratch: Reals
) -> None:
    _all(act, a, theta, X, R, theta.dtype.type(0), sizes, numbers[0], out, scratch)


@jit(parallel=True, fastmath=FAST)
def _pushed(
    act: Any, a: Reals, theta: Reals, v: Reals, X: Reals, sizes: Sizes, scale: float, out: Reals, scratch: Reals
) -> None:
    """out ← J v; or f, where v is empty."""
    m, d, bias, trained = sizes[:4]
    n = X.shape[0]
    outer, b = theta[:m], theta[m : m + bias * m]
    W = theta[m + bias * m :].reshape(m, d)
    tangent = v.size > 0
    v_W = (v if tangent else theta)[m + bias * m :].reshape(m, d)
    blocks, each = _blocks(n), _each(n, m, d)
    t_max = _rows(n, m)
    for k in prange(blocks):
        rest = scratch[k * each : (k + 1) * each]
        begin, stop = k * n // blocks, (k + 1) * n // blocks
        while begin < stop:
            end = min(begin + t_max, stop)
            t = end - begin
            Z, H = rest[: m * t].reshape(m, t), rest[m * t_max : m * t_max + m * t].reshape(m, t)
            r = rest[2 * m * t_max : 2 * m * t_max + t]
            _layer(act, a, W, b, X[begin:end], Z, H, v[:m] if tangent else outer, r)
            if tangent and trained == FIRST:
                r[:] = 0
            if tangent and trained != SECOND:
                np.dot(v_W, X[begin:end].T, H)
                for j in range(m):
                    shift = v[m + j] if bias else r.dtype.type(0)
                    for i in range(t):
                        r[i] += outer[j] * Z[j, i] * (H[j, i] + shift)
            for i in range(t):
                out[begin + i, 0] = scale * r[i]
            begin = end


@per_real(VALUE)
def value(act: Any, a: Reals, theta: Reals, X: Reals, sizes: Sizes, numbers: Reals, out: Reals, scratch: Reals) -> None:
    _pushed(act, a, theta, theta[:0], X, sizes, numbers[0], out, scratch)


@per_real(PUSH)
def push(
    act: Any, a: Reals, theta: Reals, v: Reals, X: Reals, sizes: Sizes, numbers: Reals, out: Reals, scratch: Reals
) -> None:
    _pushed(act, a, theta, v, X, sizes, numbers[0], out, scratch)
