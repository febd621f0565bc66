"""The compiled loops of `two_layer`: f, ∇R, J v and Jᵀ R, in tiles over BLAS. MATH §6, DESIGN §5.

For a tile of t rows X_t, with Z = W X_tᵀ + b (m, t), H = φ(Z), D = φ'(Z) and r the residual times αs/n:

    f = s aᵀ H,    ∂R/∂a = H r,    G = (a ⊗ r) ⊙ D,    ∂R/∂b = G 1,    ∂R/∂W = G X_t
    J v = s [v_aᵀ H + aᵀ (D ⊙ (v_W X_tᵀ + v_b))]

Neurons are the rows of Z, so that every element-wise pass runs along inputs that lie side by side, and both products
take X_t as it lies in memory. Tiles of about 128 rows keep Z and H (m, t) near the core for m up to 1000; the rows are
divided into 1 to 4 blocks, by n alone, each with a gradient of its own, which are added in order: the same bits on any
number of threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from simlab.core.jit import jit, per_real
from simlab.networks._signature import GRADIENT, PULL, PUSH, VALUE

Floats = NDArray[Any]
BOTH, FIRST, SECOND = 0, 1, 2
TILE = 128
BLOCK = 128  # fewer rows are not worth a thread
BLOCKS = 4
PASS = 16  # neurons whose Z and H stay in the first-level cache between the two halves of a pass
FAST = {"contract", "reassoc"}  # sums along a row may be vectorised


@jit
def _blocks(n: int) -> int:
    return max(1, min(BLOCKS, n // BLOCK))


@jit
def _each(n: int, m: int, d: int) -> int:
    """Scratch space of one block: gradient, product, Z, H, r."""
    t = min(TILE, n)
    return m * (d + 2) + m * d + 2 * m * t + t


@jit
def scratch_size(n: int, m: int, d: int) -> int:
    return _blocks(n) * _each(n, m, d)


@jit(fastmath=FAST)
def _layer(act: Any, a: Floats, W: Floats, b: Floats, Xt: Floats, Z: Floats, H: Floats, c: Floats, r: Floats) -> None:
    """H = φ(W Xᵀ + b), Z = φ' of it, and r = cᵀ H."""
    m, t = Z.shape
    np.dot(W, Xt.T, Z)
    r[:] = 0
    for first in range(0, m, PASS):
        last = min(m, first + PASS)
        if b.size:
            for j in range(first, last):
                for i in range(t):
                    Z[j, i] += b[j]
        act(Z[first:last].reshape(-1), H[first:last].reshape(-1), a)
        # Four neurons at a time: r is loaded and stored once for them.
        for j in range(first, last - 3, 4):
            for i in range(t):
                r[i] += c[j] * H[j, i] + c[j + 1] * H[j + 1, i] + c[j + 2] * H[j + 2, i] + c[j + 3] * H[j + 3, i]
        for j in range(first + (last - first) // 4 * 4, last):
            for i in range(t):
                r[i] += c[j] * H[j, i]


@jit(fastmath=FAST)
def _block(
    act: Any,
    a: Floats,
    theta: Floats,
    X: Floats,
    y: Floats,
    alpha: float,
    sizes: NDArray[np.int64],
    scale: float,
    rows: int,
    out: Floats,
    scratch: Floats,
) -> float:
    """∇R over these rows of the `rows` in all, and Σ‖αf − y‖²; or, where α = 0, Jᵀ y."""
    m, d, bias, trained = sizes
    n = X.shape[0]
    outer, b = theta[:m], theta[m : m + bias * m]
    W = theta[m + bias * m :].reshape(m, d)
    inner = out[m + bias * m :]
    t_max = min(TILE, n)
    product, rest = scratch[: m * d], scratch[m * d :]
    total = 0.0
    tiles = -(-n // TILE)
    for k in range(tiles):
        begin, end = k * n // tiles, (k + 1) * n // tiles
        t = end - begin
        Xt = X[begin:end]
        Z, H = rest[: m * t].reshape(m, t), rest[m * t_max : m * t_max + m * t].reshape(m, t)
        r = rest[2 * m * t_max : 2 * m * t_max + t]
        _layer(act, a, W, b, Xt, Z, H, outer, r)
        for i in range(t):
            if alpha > 0:
                residual = alpha * scale * r[i] - y[begin + i, 0]
                total += np.float64(residual) * np.float64(residual)
                r[i] = residual * (alpha * scale / rows)
            else:
                r[i] = scale * y[begin + i, 0]
        for j in range(m):
            along = r.dtype.type(0)
            if trained != FIRST:
                for i in range(t):
                    along += H[j, i] * r[i]
                out[j] = along if k == 0 else out[j] + along
            if trained != SECOND:
                for i in range(t):
                    Z[j, i] *= outer[j] * r[i]
                if bias:
                    along = np.sum(Z[j])
                    out[m + j] = along if k == 0 else out[m + j] + along
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
    a: Floats,
    theta: Floats,
    X: Floats,
    y: Floats,
    alpha: float,
    sizes: NDArray[np.int64],
    scale: float,
    out: Floats,
    scratch: Floats,
) -> float:
    m, d, _, trained = sizes
    n, P = X.shape[0], theta.size
    blocks, each = _blocks(n), _each(n, m, d)
    totals = np.zeros(blocks)
    for k in prange(blocks):
        begin, end = k * n // blocks, (k + 1) * n // blocks
        own = scratch[k * each : (k + 1) * each]
        totals[k] = _block(act, a, theta, X[begin:end], y[begin:end], alpha, sizes, scale, n, own[:P], own[P:])
    begin, end = (m if trained == FIRST else 0), (m if trained == SECOND else P)
    for p in range(begin, end):
        along = scratch[p]
        for k in range(1, blocks):
            along += scratch[k * each + p]
        out[p] = along
    return float(np.sum(totals))


@jit
def _all(
    act: Any,
    a: Floats,
    theta: Floats,
    X: Floats,
    y: Floats,
    alpha: float,
    sizes: NDArray[np.int64],
    scale: float,
    out: Floats,
    scratch: Floats,
) -> float:
    if _blocks(X.shape[0]) == 1:  # without threads: a parallel region costs more than a small batch
        return float(_block(act, a, theta, X, y, alpha, sizes, scale, X.shape[0], out, scratch))
    return float(_blockwise(act, a, theta, X, y, alpha, sizes, scale, out, scratch))


@per_real(GRADIENT)
def gradient(
    act: Any,
    a: Floats,
    theta: Floats,
    X: Floats,
    y: Floats,
    alpha: float,
    sizes: NDArray[np.int64],
    numbers: Floats,
    out: Floats,
    scratch: Floats,
) -> float:
    total = _all(act, a, theta, X, y, alpha, sizes, numbers[0], out, scratch)
    return float(total / (2 * X.shape[0]))


@per_real(PULL)
def pull(
    act: Any,
    a: Floats,
    theta: Floats,
    R: Floats,
    X: Floats,
    sizes: NDArray[np.int64],
    numbers: Floats,
    out: Floats,
    scratch: Floats,
) -> None:
    _all(act, a, theta, X, R, theta.dtype.type(0), sizes, numbers[0], out, scratch)


@jit(parallel=True, fastmath=FAST)
def _pushed(
    act: Any,
    a: Floats,
    theta: Floats,
    v: Floats,
    X: Floats,
    sizes: NDArray[np.int64],
    scale: float,
    out: Floats,
    scratch: Floats,
) -> None:
    """J v, or f where v is empty."""
    m, d, bias, trained = sizes
    n = X.shape[0]
    outer, b = theta[:m], theta[m : m + bias * m]
    W = theta[m + bias * m :].reshape(m, d)
    tangent = v.size > 0
    v_W = (v if tangent else theta)[m + bias * m :].reshape(m, d)
    blocks, each = _blocks(n), _each(n, m, d)
    t_max = min(TILE, n)
    for k in prange(blocks):
        rest = scratch[k * each : (k + 1) * each]
        begin, stop = k * n // blocks, (k + 1) * n // blocks
        while begin < stop:
            end = min(begin + TILE, stop)
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
def value(
    act: Any,
    a: Floats,
    theta: Floats,
    X: Floats,
    sizes: NDArray[np.int64],
    numbers: Floats,
    out: Floats,
    scratch: Floats,
) -> None:
    _pushed(act, a, theta, theta[:0], X, sizes, numbers[0], out, scratch)


@per_real(PUSH)
def push(
    act: Any,
    a: Floats,
    theta: Floats,
    v: Floats,
    X: Floats,
    sizes: NDArray[np.int64],
    numbers: Floats,
    out: Floats,
    scratch: Floats,
) -> None:
    _pushed(act, a, theta, v, X, sizes, numbers[0], out, scratch)
