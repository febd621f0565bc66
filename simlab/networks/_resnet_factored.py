"""A tile of a factored or two-layer `resnet3`: f, J v and Jᵀ R, neurons in chunks. MATH §9, equations: `_resnet_loops`.

A step of SGD is one tile, with nine thin products (`_thin`). Rows of every matrix (·, t) are padded to whole vectors;
the padding is never summed over. Neurons come in chunks: H and G exist for one chunk at a time, so that they are still
in the cache when they are used again. Only the slopes D₁, D₂ are stored for all neurons. The inputs of a layer are also
stored with one row per sample and a 1 appended, (x, 1) and (S, 1), so that the gradients of W and b₁, or of V and b₂,
are one product.

At (m, d, k, t) = (1000, 30, 8, 50) in float32 a gradient takes 200 µs; with BLAS and no chunks 375 µs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from simlab.core.jit import jit
from simlab.networks._thin import product, whole

Reals = NDArray[Any]
Sizes = NDArray[np.int64]
Tile = tuple[Reals, Reals, Reals, Reals, Reals, Reals, Reals, Reals, Reals, Reals, Reals]

CHUNK_NEURONS = 128  # 64 and 32 take 3 and 10 % longer
LINE_BYTES = 64  # of the cache


@jit
def weights(theta: Reals, sizes: Sizes) -> tuple[Reals, Reals, Reals, Reals, Reals]:
    """W, b₁, V or U, b₂, A; of two layers V and b₂ are empty."""
    m, d, k, layers, _, full = sizes[:6]
    inner = 0 if layers == 2 else m if full else k
    at = m * d
    W, b1 = theta[:at].reshape(m, d), theta[at : at + m]
    at += m
    V, b2 = theta[at : at + m * inner].reshape(m, inner), theta[at + m * inner : at + m * inner + (layers - 2) * m]
    return W, b1, V, b2, theta[theta.size - k * m :].reshape(k, m)


@jit
def scratch_size(sizes: Sizes, t: int) -> int:
    """Reals of `_tile`, and one cache line, so that it can begin at one."""
    m, d, k = sizes[:3]
    of_columns = 2 * m + CHUNK_NEURONS + d + 3 * k
    return int(of_columns * whole(t) + (CHUNK_NEURONS + t) * (whole(d + 1) + whole(k + 1)) + LINE_BYTES)


@jit
def _cut(scratch: Reals, rows: int, columns: int) -> tuple[Reals, Reals]:
    """(matrix from the beginning of `scratch`, the rest of it)"""
    size = rows * columns
    return scratch[:size].reshape(rows, columns), scratch[size:]


@jit
def _tile(scratch: Reals, t: int, sizes: Sizes) -> Tile:
    """The matrices of a tile, in the order in which they are packed. t, d + 1 and k + 1 are padded to whole vectors.

    D₁, D₂ (m, t) | H or G of a chunk (CHUNK_NEURONS, t) | X (d, t) | S (k, t) | f or R (k, t) | E (k, t)
    | (x, 1) (t, d + 1) | (S, 1) (t, k + 1) | gradients of a chunk's (W, b₁) and (V, b₂).

    The first begins at a line of the cache: otherwise every second vector would lie across two lines.
    """
    m, d, k = sizes[:3]
    T, T1, T2 = whole(t), whole(d + 1), whole(k + 1)
    rest = scratch[-scratch.ctypes.data % LINE_BYTES // scratch.itemsize :]
    D1, rest = _cut(rest, m, T)
    D2, rest = _cut(rest, m, T)
    H, rest = _cut(rest, CHUNK_NEURONS, T)
    X, rest = _cut(rest, d, T)
    S, rest = _cut(rest, k, T)
    f, rest = _cut(rest, k, T)
    E, rest = _cut(rest, k, T)
    X1, rest = _cut(rest, t, T1)
    S1, rest = _cut(rest, t, T2)
    P1, rest = _cut(rest, CHUNK_NEURONS, T1)
    P2, rest = _cut(rest, CHUNK_NEURONS, T2)
    return D1, D2, H, X, S, f, E, X1, S1, P1, P2


@jit
def outputs(scratch: Reals, t: int, sizes: Sizes) -> Reals:
    """The part of the tile, (k, t), with f after `layers` and J v after `tangent`; `backwards` expects R there."""
    return _tile(scratch, t, sizes)[5][:, :t]


@jit
def _layer(act: Any, a: Reals, W: Reals, b: Reals, A: Reals, X: Reals, D: Reals, H: Reals, f: Reals) -> None:
    """f += A φ(W X + b), D = φ' there."""
    m, none = W.shape[0], D.reshape(-1)[:0].reshape(0, 0)
    for j in range(0, m, CHUNK_NEURONS):
        e = min(m, j + CHUNK_NEURONS)
        Z, Hc = D[j:e], H[: e - j]
        product(b[j:e].reshape(-1, 1), W[j:e, :], X, none, Z)
        act(Z.reshape(-1), Hc.reshape(-1), a)
        product(f, A[:, j:e], Hc, none, f)


@jit
def layers(act: Any, a: Reals, theta: Reals, Xt: Reals, sizes: Sizes, scratch: Reals) -> None:
    """Fill the tile: X, (x, 1), D₁, S, D₂ and f."""
    t, d = Xt.shape
    W, b1, V, b2, A = weights(theta, sizes)
    D1, D2, H, X, S, f, _, X1, _, _, _ = _tile(scratch, t, sizes)
    for i in range(t):
        for p in range(X1.shape[1]):
            X1[i, p] = Xt[i, p] if p < d else p == d
    for p in range(d):
        for i in range(X.shape[1]):
            X[p, i] = Xt[i, p] if i < t else 0
    S[:] = 0
    _layer(act, a, W, b1, A, X, D1, H, S)
    skip = sizes[4] or sizes[3] == 2
    for c in range(S.shape[0]):
        for i in range(S.shape[1]):
            f[c, i] = S[c, i] if skip else 0
    if sizes[3] == 3:
        _layer(act, a, V, b2, A, S, D2, H, f)


@jit
def _behind(
    A: Reals,
    R: Reals,
    D: Reals,
    X1: Reals,
    G: Reals,
    P: Reals,
    dW: Reals,
    db: Reals,
    trained: bool,
    add: bool,
    V: Reals,
    E: Reals,
) -> None:
    """With G = (Aᵀ R) ⊙ D: G X1 into (dW, db) if `trained`, added to them where `add`; E += Vᵀ G unless V is empty."""
    m, t, none = A.shape[1], X1.shape[0], D.reshape(-1)[:0].reshape(0, 0)
    for j in range(0, m, CHUNK_NEURONS):
        e = min(m, j + CHUNK_NEURONS)
        Gc = G[: e - j]
        product(none, A[:, j:e].T, R, D[j:e], Gc)
        if trained:
            product(none, Gc[:, :t], X1, none, P[: e - j])
            for q in range(e - j):
                for p in range(dW.shape[1]):
                    dW[j + q, p] = dW[j + q, p] + P[q, p] if add else P[q, p]
                db[j + q] = db[j + q] + P[q, dW.shape[1]] if add else P[q, dW.shape[1]]
        if V.size:
            product(E, V[j:e, :].T, Gc, none, E)


@jit
def backwards(theta: Reals, Xt: Reals, sizes: Sizes, out: Reals, add: bool, scratch: Reals) -> None:
    """Σ_i J_iᵀ R_i into `out`, added to it where `add`. R is expected in `outputs`."""
    t, k, layers, skip, first, second = Xt.shape[0], sizes[2], sizes[3], sizes[4], sizes[6], sizes[7]
    _, _, V, _, A = weights(theta, sizes)
    dW, db1, dV, db2, _ = weights(out, sizes)
    D1, D2, H, _, S, R, E, X1, S1, P1, P2 = _tile(scratch, t, sizes)
    if layers == 3:
        for i in range(t):
            for c in range(S1.shape[1]):
                S1[i, c] = S[c, i] if c < k else c == k
        for c in range(k):
            for i in range(E.shape[1]):
                E[c, i] = R[c, i] if skip else 0
        _behind(A, R, D2, S1, H, P2, dV, db2, second > 0, add, V if first else V[:0], E)
    if first:
        _behind(A, E if layers == 3 else R, D1, X1, H, P1, dW, db1, first > 0, add, V[:0], E)


@jit
def tangent(theta: Reals, v: Reals, Xt: Reals, sizes: Sizes, scratch: Reals) -> None:
    """Write J v into `outputs`, from the tile that `layers` filled."""
    m, _, k, layers, skip, _, first, second = sizes[:8]
    _, _, V, _, A = weights(theta, sizes)
    v_W, v_b1, v_V, v_b2, _ = weights(v, sizes)
    D1, D2, H, X, S, f, E, _, _, _, _ = _tile(scratch, Xt.shape[0], sizes)
    none = scratch[:0].reshape(0, 0)
    E[:] = 0
    for j in range(0, m, CHUNK_NEURONS):
        e = min(m, j + CHUNK_NEURONS)
        if first:
            product(v_b1[j:e].reshape(-1, 1), v_W[j:e, :], X, D1[j:e], H[: e - j])
            product(E, A[:, j:e], H[: e - j], none, E)
    for c in range(k):
        for i in range(E.shape[1]):
            f[c, i] = E[c, i] if skip or layers == 2 else 0
    if layers == 2:
        return
    for j in range(0, m, CHUNK_NEURONS):
        e = min(m, j + CHUNK_NEURONS)
        Hc = H[: e - j]
        if second:
            product(v_b2[j:e].reshape(-1, 1), v_V[j:e, :], S, none, Hc)
        else:
            Hc[:] = 0
        product(Hc, V[j:e, :], E, D2[j:e], Hc)
        product(f, A[:, j:e], Hc, none, f)
