"""A tile of a factored or two-layer `resnet3`: f, J v and Jᵀ R, neurons in chunks. MATH §9, equations: `_resnet_tile`.
What each function is for: `simlab.networks.skeleton.Tile`.

A step of SGD is one tile, with nine thin products (`simlab.core.thin`). Rows of every matrix (·, t) are padded to whole
vectors; the padding is never summed over. Neurons come in chunks: H and G exist for one chunk at a time, so that they
are still in the cache when they are used again. Only the slopes D₁, D₂ are stored for all neurons. The inputs of a
layer are also stored with one row per sample and a 1 appended, (x, 1) and (S, 1), so that the gradients of W and b₁, or
of V and b₂, are one product.

At (m, d, k, t) = (1000, 30, 8, 50) in float32 a gradient takes 200 µs; with BLAS and no chunks 375 µs.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simlab.core.jit import jit
from simlab.core.lines import LINE_FLOATS, aligned
from simlab.core.thin import product, whole
from simlab.networks._resnet_tile import rows_within, weights
from simlab.networks.signature import Net, Reals
from simlab.networks.skeleton import Into, Tile, loops_over

Sizes = NDArray[np.int64]
CHUNK_NEURONS = 128  # 64 and 32 take 3 and 10 % longer


class Matrices(NamedTuple):
    """The matrices of a tile, in the order in which they are packed. t, d + 1 and k + 1 are padded to whole vectors.

    D1, D2: φ' of both layers, (m, t).
    H: H or G of a chunk, (CHUNK_NEURONS, t).
    X, S, f, E: inputs (d, t); the second layer's input, outputs or R, and c R + Vᵀ G₂, (k, t).
    X1, S1: (x, 1) (t, d + 1) and (S, 1) (t, k + 1).
    P1, P2: gradients of a chunk's (W, b₁) and (V, b₂).
    """

    D1: Reals
    D2: Reals
    H: Reals
    X: Reals
    S: Reals
    f: Reals
    E: Reals
    X1: Reals
    S1: Reals
    P1: Reals
    P2: Reals


class Side(NamedTuple):
    """What a layer's gradient needs beside A and R: slopes D, inputs with a 1, and space P for a chunk of it."""

    D: Reals
    inputs: Reals
    P: Reals


@jit
def space_size(sizes: Sizes, t: int) -> int:
    """Reals of `_matrices`, and one cache line, so that it can begin at one."""
    m, d, k = sizes[:3]
    of_columns = 2 * m + CHUNK_NEURONS + d + 3 * k
    return int(of_columns * whole(t) + (CHUNK_NEURONS + t) * (whole(d + 1) + whole(k + 1)) + LINE_FLOATS)


@jit
def _cut(space: Reals, rows: int, columns: int) -> tuple[Reals, Reals]:
    """(matrix from the beginning of `space`, the rest of it)"""
    size = rows * columns
    return space[:size].reshape(rows, columns), space[size:]


@jit
def _matrices(space: Reals, t: int, sizes: Sizes) -> Matrices:
    """The first matrix begins at a line of the cache: otherwise every second vector would lie across two lines."""
    m, d, k = sizes[:3]
    T, T1, T2 = whole(t), whole(d + 1), whole(k + 1)
    rest = aligned(space)
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
    return Matrices(D1, D2, H, X, S, f, E, X1, S1, P1, P2)


@jit
def _layer(act: Any, phi: Reals, layer: tuple[Reals, Reals, Reals], X: Reals, D: Reals, H: Reals, f: Reals) -> None:
    """f += A φ(W X + b), D = φ' there, for layer = (W, b, A)."""
    W, b, A = layer
    m, none = W.shape[0], D.reshape(-1)[:0].reshape(0, 0)
    for j in range(0, m, CHUNK_NEURONS):
        e = min(m, j + CHUNK_NEURONS)
        Z, Hc = D[j:e], H[: e - j]
        product(b[j:e].reshape(-1, 1), W[j:e, :], X, none, Z)
        act(Z.reshape(-1), Hc.reshape(-1), phi)
        product(f, A[:, j:e], Hc, none, f)


@jit
def forwards(act: Any, net: Net, known: int, Xt: Reals, space: Reals) -> Reals:
    """Fills the tile: X, (x, 1), D₁, S, D₂ and f."""
    t, d = Xt.shape
    sizes, of = net.sizes, weights(net.theta, net.sizes)
    tile = _matrices(space, t, sizes)
    X, X1, S, f = tile.X, tile.X1, tile.S, tile.f
    for i in range(t):
        for p in range(X1.shape[1]):
            X1[i, p] = Xt[i, p] if p < d else p == d
    for p in range(d):
        for i in range(X.shape[1]):
            X[p, i] = Xt[i, p] if i < t else 0
    S[:] = 0
    _layer(act, net.phi, (of.W, of.b1, of.A), X, tile.D1, tile.H, S)
    skip = sizes[4] or sizes[3] == 2
    for c in range(S.shape[0]):
        for i in range(S.shape[1]):
            f[c, i] = S[c, i] if skip else 0
    if sizes[3] == 3:
        _layer(act, net.phi, (of.V, of.b2, of.A), S, tile.D2, tile.H, f)
    return f


@jit
def _behind(
    A: Reals, R: Reals, side: Side, G: Reals, grads: tuple[Reals, Reals], add: bool, through: tuple[Reals, Reals]
) -> None:
    """With G = (Aᵀ R) ⊙ D: G (x, 1) into grads = (dW, db), added to them where `add`; E += Vᵀ G, through = (V, E).

    grads, through: without entries where they are not wanted.
    """
    D, inputs, P = side
    dW, db = grads
    V, E = through
    m, t, none = A.shape[1], inputs.shape[0], D.reshape(-1)[:0].reshape(0, 0)
    for j in range(0, m, CHUNK_NEURONS):
        e = min(m, j + CHUNK_NEURONS)
        Gc = G[: e - j]
        product(none, A[:, j:e].T, R, D[j:e], Gc)
        if db.size:
            product(none, Gc[:, :t], inputs, none, P[: e - j])
            for q in range(e - j):
                for p in range(dW.shape[1]):
                    dW[j + q, p] = dW[j + q, p] + P[q, p] if add else P[q, p]
                db[j + q] = db[j + q] + P[q, dW.shape[1]] if add else P[q, dW.shape[1]]
        if V.size:
            product(E, V[j:e, :].T, Gc, none, E)


@jit
def backwards(net: Net, known: int, Xt: Reals, R: Reals, into: Into, add: bool, space: Reals) -> None:
    sizes = net.sizes
    k, layers, skip, first, second = sizes[2], sizes[3], sizes[4], sizes[6], sizes[7]
    of, grads = weights(net.theta, sizes), weights(into.out, sizes)
    tile = _matrices(space, Xt.shape[0], sizes)
    S, S1, E = tile.S, tile.S1, tile.E
    if layers == 3:
        for i in range(Xt.shape[0]):
            for c in range(S1.shape[1]):
                S1[i, c] = S[c, i] if c < k else c == k
        for c in range(k):
            for i in range(E.shape[1]):
                E[c, i] = R[c, i] if skip else 0
        side, wanted = Side(tile.D2, S1, tile.P2), (grads.V, grads.b2 if second else grads.b2[:0])
        _behind(of.A, R, side, tile.H, wanted, add, (of.V if first else of.V[:0], E))
    if first:
        side = Side(tile.D1, tile.X1, tile.P1)
        _behind(of.A, E if layers == 3 else R, side, tile.H, (grads.W, grads.b1), add, (of.V[:0], E))


@jit
def pushed(act: Any, net: Net, known: int, v: Reals, Xt: Reals, space: Reals) -> Reals:
    f = forwards(act, net, known, Xt, space)
    if v.size == 0:
        return f
    m, _, k, layers, skip, _, first, second = net.sizes[:8]
    of, along = weights(net.theta, net.sizes), weights(v, net.sizes)
    tile = _matrices(space, Xt.shape[0], net.sizes)
    H, E = tile.H, tile.E
    none = space[:0].reshape(0, 0)
    E[:] = 0
    for j in range(0, m, CHUNK_NEURONS):
        e = min(m, j + CHUNK_NEURONS)
        if first:
            product(along.b1[j:e].reshape(-1, 1), along.W[j:e, :], tile.X, tile.D1[j:e], H[: e - j])
            product(E, of.A[:, j:e], H[: e - j], none, E)
    for c in range(k):
        for i in range(E.shape[1]):
            f[c, i] = E[c, i] if skip or layers == 2 else 0
    if layers == 2:
        return f
    for j in range(0, m, CHUNK_NEURONS):
        e = min(m, j + CHUNK_NEURONS)
        Hc = H[: e - j]
        if second:
            product(along.b2[j:e].reshape(-1, 1), along.V[j:e, :], tile.S, none, Hc)
        else:
            Hc[:] = 0
        product(Hc, of.V[j:e, :], E, tile.D2[j:e], Hc)
        product(f, of.A[:, j:e], Hc, none, f)
    return f


LOOPS = loops_over(Tile(forwards, backwards, pushed, rows_within, space_size), "resnet3_factored")
