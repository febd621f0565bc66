"""The compiled loops of `resnet3`: f, ∇R, J v and Jᵀ R, in tiles over BLAS. MATH §9.

For a tile of t rows X_t, neurons being the rows of every matrix (m, t), with D₁ = φ'(Z₁), D₂ = φ'(Z₂):

    Z₁ = W X_tᵀ + b₁,  H₁ = φ(Z₁),  S = A H₁,      Z₂ = V S + b₂  (factored)  or  U H₁ + b₂  (full),  H₂ = φ(Z₂)
    f = c S + A H₂     (c = 1 with the skip connection, 0 without; of two layers f = S)

and backwards, R (k, t) being ∂/∂f,

    G₂ = (Aᵀ R) ⊙ D₂,  ∂b₂ = G₂ 1,     ∂V = G₂ Sᵀ  or  ∂U = G₂ H₁ᵀ
    G₁ = (Aᵀ (c R + Vᵀ G₂)) ⊙ D₁  or  (c Aᵀ R + Uᵀ G₂) ⊙ D₁,  ∂b₁ = G₁ 1,  ∂W = G₁ X_t:

a factored step costs some 6m(d + 4k) flops a row, a full one some 6m². θ = (W, b₁, V or U, b₂, A).
sizes = (m, d, k, layers, skip, full, 1 if W is trained, 1 if V or U is). One thread: a sweep runs a net a core.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from simlab.core.jit import jit, per_real
from simlab.networks._signature import GRADIENT, PULL, PUSH, VALUE

Floats = NDArray[Any]
Sizes = NDArray[np.int64]

KEPT = 1 << 22
TALLEST, LOWEST = 128, 16
PASS = 16  # neurons whose Z and H stay in the first-level cache between a bias and its activation
FAST = {"contract", "reassoc"}  # sums along a row may be vectorised


@jit
def _inner(sizes: Sizes) -> int:
    """Columns of the second layer's matrix."""
    return int(sizes[0] if sizes[5] else sizes[2])


@jit
def _rows(sizes: Sizes, n: int) -> int:
    """The most rows of a tile: four matrices (m, t) fit into `KEPT` floats."""
    return int(max(1, min(n, max(LOWEST, min(TALLEST, KEPT // (4 * sizes[0]))))))


@jit
def scratch_size(sizes: Sizes, n: int) -> int:
    """Four (m, t), three (k, t), and the gradient of the largest matrix with its bias."""
    m, d, k = sizes[0], sizes[1], sizes[2]
    return int((4 * m + 3 * k) * _rows(sizes, n) + m * (max(d, _inner(sizes)) + 1))


@jit
def _activate(act: Any, a: Floats, b: Floats, Z: Floats, H: Floats) -> None:
    """H = φ(Z + b) and Z ← φ' of it."""
    m, t = Z.shape
    for first in range(0, m, PASS):
        last = min(m, first + PASS)
        for j in range(first, last):
            shift = b[j]
            for i in range(t):
                Z[j, i] += shift
        act(Z[first:last].reshape(-1), H[first:last].reshape(-1), a)


@jit
def _weights(theta: Floats, sizes: Sizes) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """W, b₁, V or U, b₂, A; of two layers V and b₂ are empty."""
    m, d, k, layers = sizes[:4]
    inner = _inner(sizes) if layers == 3 else 0
    at = m * d
    W, b1 = theta[:at].reshape(m, d), theta[at : at + m]
    at += m
    V, b2 = theta[at : at + m * inner].reshape(m, inner), theta[at + m * inner : at + m * inner + (layers - 2) * m]
    return W, b1, V, b2, theta[theta.size - k * m :].reshape(k, m)


@jit
def _tile(scratch: Floats, t: int, sizes: Sizes) -> tuple[Floats, Floats, Floats, Floats, Floats, Floats, Floats]:
    """Z₁, H₁, Z₂, H₂ (m, t), and S, f, Ṡ (k, t)"""
    m, k = sizes[0], sizes[2]
    Z1, H1 = scratch[: m * t].reshape(m, t), scratch[m * t : 2 * m * t].reshape(m, t)
    Z2, H2 = scratch[2 * m * t : 3 * m * t].reshape(m, t), scratch[3 * m * t : 4 * m * t].reshape(m, t)
    at = 4 * m * t
    S, f = scratch[at : at + k * t].reshape(k, t), scratch[at + k * t : at + 2 * k * t].reshape(k, t)
    return Z1, H1, Z2, H2, S, f, scratch[at + 2 * k * t : at + 3 * k * t].reshape(k, t)


@jit
def _layers(act: Any, a: Floats, theta: Floats, Xt: Floats, sizes: Sizes, scratch: Floats) -> None:
    """Fill the tile: H, D in place of Z, S and f."""
    W, b1, V, b2, A = _weights(theta, sizes)
    Z1, H1, Z2, H2, S, f, _ = _tile(scratch, Xt.shape[0], sizes)
    layers, skip, full = sizes[3], sizes[4], sizes[5]
    np.dot(W, Xt.T, Z1)
    _activate(act, a, b1, Z1, H1)
    if layers == 2:
        np.dot(A, H1, f)
        return
    if skip or not full:
        np.dot(A, H1, S)
    np.dot(V, H1 if full else S, Z2)
    _activate(act, a, b2, Z2, H2)
    np.dot(A, H2, f)
    if skip:
        for c in range(f.shape[0]):
            for i in range(f.shape[1]):
                f[c, i] += S[c, i]


@jit(fastmath=FAST)
def _slope(G: Floats, D: Floats, out: Floats, add: bool) -> None:
    """G ← G ⊙ D, and its sums along rows into `out`."""
    m, t = G.shape
    zero = out.dtype.type(0)
    for j in range(m):
        along = zero
        for i in range(t):
            g = G[j, i] * D[j, i]
            G[j, i] = g
            along += g
        out[j] = out[j] + along if add else along


@jit
def _product(G: Floats, right: Floats, out: Floats, add: bool, spare: Floats) -> None:
    """out = G right, or added to it."""
    if not add:
        np.dot(G, right, out.reshape(G.shape[0], right.shape[1]))
        return
    product = spare[: out.size]
    np.dot(G, right, product.reshape(G.shape[0], right.shape[1]))
    for p in range(out.size):
        out[p] += product[p]


@jit
def _backwards(theta: Floats, Xt: Floats, sizes: Sizes, out: Floats, add: bool, scratch: Floats) -> None:
    """Σ_i J_iᵀ R_i into `out`, R standing where the tile has f."""
    m, d, k, layers, skip, full, first, second = sizes[:8]
    _, _, V, _, A = _weights(theta, sizes)
    Z1, H1, Z2, H2, S, R, E = _tile(scratch, Xt.shape[0], sizes)
    spare = scratch[(4 * m + 3 * k) * Xt.shape[0] :]
    if layers == 3:
        at, inner = m * (d + 1), _inner(sizes)
        np.dot(A.T, R, H2)
        _slope(H2, Z2, out[at + m * inner : at + m * (inner + 1)] if second else spare[:m], add and second > 0)
        if second and full:
            _product(H2, H1.T, out[at : at + m * m], add, spare)
        elif second:
            _product(H2, S.T, out[at : at + m * k], add, spare)
        if not first:
            return
        if full:
            np.dot(V.T, H2, H1)
            if skip:
                np.dot(A.T, R, Z2)
                for j in range(m):
                    for i in range(Xt.shape[0]):
                        H1[j, i] += Z2[j, i]
        else:
            np.dot(V.T, H2, E)
            if skip:
                for c in range(k):
                    for i in range(Xt.shape[0]):
                        E[c, i] += R[c, i]
            np.dot(A.T, E, H1)
    else:
        np.dot(A.T, R, H1)
    _slope(H1, Z1, out[m * d : m * (d + 1)], add)
    _product(H1, Xt, out[: m * d], add, spare)


@per_real(VALUE)
def value(
    act: Any, a: Floats, theta: Floats, X: Floats, sizes: Sizes, numbers: Floats, out: Floats, scratch: Floats
) -> None:
    n = X.shape[0]
    rows = _rows(sizes, n)
    for begin in range(0, n, rows):
        Xt = X[begin : min(n, begin + rows)]
        _layers(act, a, theta, Xt, sizes, scratch)
        f = _tile(scratch, Xt.shape[0], sizes)[5]
        for i in range(Xt.shape[0]):
            for c in range(f.shape[0]):
                out[begin + i, c] = f[c, i]


@per_real(GRADIENT)
def gradient(
    act: Any,
    a: Floats,
    theta: Floats,
    X: Floats,
    y: Floats,
    alpha: float,
    sizes: Sizes,
    numbers: Floats,
    out: Floats,
    scratch: Floats,
) -> float:
    n = X.shape[0]
    rows = _rows(sizes, n)
    total = 0.0
    for begin in range(0, n, rows):
        Xt = X[begin : min(n, begin + rows)]
        _layers(act, a, theta, Xt, sizes, scratch)
        f = _tile(scratch, Xt.shape[0], sizes)[5]
        for c in range(f.shape[0]):
            for i in range(Xt.shape[0]):
                residual = alpha * f[c, i] - y[begin + i, c]
                total += np.float64(residual) * np.float64(residual)
                f[c, i] = residual * (alpha / n)
        _backwards(theta, Xt, sizes, out, begin > 0, scratch)
    return float(total / (2 * n))


@per_real(PULL)
def pull(
    act: Any,
    a: Floats,
    theta: Floats,
    R: Floats,
    X: Floats,
    sizes: Sizes,
    numbers: Floats,
    out: Floats,
    scratch: Floats,
) -> None:
    n = X.shape[0]
    rows = _rows(sizes, n)
    for begin in range(0, n, rows):
        Xt = X[begin : min(n, begin + rows)]
        _layers(act, a, theta, Xt, sizes, scratch)
        f = _tile(scratch, Xt.shape[0], sizes)[5]
        for c in range(f.shape[0]):
            for i in range(Xt.shape[0]):
                f[c, i] = R[begin + i, c]
        _backwards(theta, Xt, sizes, out, begin > 0, scratch)


@jit
def _forwards(theta: Floats, v: Floats, Xt: Floats, sizes: Sizes, scratch: Floats) -> None:
    """From H, D and S of the tile to J v in place of f."""
    layers, skip, full, first, second = sizes[3:8]
    _, _, V, _, A = _weights(theta, sizes)
    v_W, v_b1, v_V, v_b2, _ = _weights(v, sizes)
    Z1, H1, Z2, H2, S, f, E = _tile(scratch, Xt.shape[0], sizes)
    if second:
        np.dot(v_V, H1 if full else S, H2)  # before H₁ is written over
        for j in range(H2.shape[0]):
            for i in range(H2.shape[1]):
                H2[j, i] += v_b2[j]
    else:
        H2[:] = 0
    if first:
        np.dot(v_W, Xt.T, H1)
        for j in range(H1.shape[0]):
            for i in range(H1.shape[1]):
                H1[j, i] = (H1[j, i] + v_b1[j]) * Z1[j, i]
    else:
        H1[:] = 0
    if layers == 2:
        np.dot(A, H1, f)
        return
    np.dot(A, H1, E)
    np.dot(V, H1 if full else E, Z1)
    for j in range(H2.shape[0]):
        for i in range(H2.shape[1]):
            H2[j, i] = (H2[j, i] + Z1[j, i]) * Z2[j, i]
    np.dot(A, H2, f)
    if skip:
        for c in range(f.shape[0]):
            for i in range(f.shape[1]):
                f[c, i] += E[c, i]


@per_real(PUSH)
def push(
    act: Any,
    a: Floats,
    theta: Floats,
    v: Floats,
    X: Floats,
    sizes: Sizes,
    numbers: Floats,
    out: Floats,
    scratch: Floats,
) -> None:
    n = X.shape[0]
    rows = _rows(sizes, n)
    for begin in range(0, n, rows):
        Xt = X[begin : min(n, begin + rows)]
        _layers(act, a, theta, Xt, sizes, scratch)
        _forwards(theta, v, Xt, sizes, scratch)
        f = _tile(scratch, Xt.shape[0], sizes)[5]
        for i in range(Xt.shape[0]):
            for c in range(f.shape[0]):
                out[begin + i, c] = f[c, i]
