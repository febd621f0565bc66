"""The compiled loops of a fully connected net: value, loss gradient, and products with its Jacobian. MATH §6.

Rows are taken in tiles of T. Each layer of a tile is a matrix with one column per row of X, so that the bias is one
more row and every matrix is contiguous:

    Z^ℓ = W^ℓ Ã^{ℓ−1},   Ã^ℓ = (s_ℓ φ(Z^ℓ); b),   Ã⁰ = (s_0 Xᵀ; b),   f = Z^L        (ℓ = 1 … L, s and b: factors)
    backwards  Δ^{ℓ−1} = s_{ℓ−1} φ'(Z^{ℓ−1}) ⊙ (W^ℓᵀ Δ^ℓ),   Δ^L = Rᵀ,   Σ_i J_iᵀ R_i = (Δ^ℓ Ã^{ℓ−1}ᵀ)_ℓ
    forwards   Ż^ℓ = V^ℓ Ã^{ℓ−1} + W^ℓ (s_{ℓ−1} φ'(Z^{ℓ−1}) ⊙ Ż^{ℓ−1}; 0),   J v = Ż^L,   v = (V¹, …, V^L)

Packed arguments (one thread: a sweep runs one network per core):

- theta: W¹ | … | W^L, W^ℓ : (m_ℓ, m_{ℓ−1} + 1 with a bias), row by row;
- sizes: (T, 1 with a bias else 0, neurons of the widest layer and its bias, L, d, m_1, …, m_{L−1}, c);
- numbers: (b, s_0, …, s_{L−1});
- scratch: the layers of a tile, Ã⁰ | Ã¹, s_1 φ'(Z¹) | … | Ã^{L−1}, s_{L−1} φ'(Z^{L−1}) | Z^L, then space for Δ or Ż of
  two layers and for the gradient of one layer.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import float64
from numpy.typing import NDArray

from simlab.core.jit import jit, per_real
from simlab.networks.signature import GRADIENT, PULL, PUSH, VALUE

Reals = NDArray[Any]
Sizes = NDArray[np.int64]

TILE_FLOATS = 1 << 22
MOST_ROWS, LEAST_ROWS = 256, 16


def tile_rows(widths: list[int]) -> int:
    """T: as large as the layers of a tile fit into `TILE_FLOATS`. Each tile costs a pass over the gradient, to add its
    own."""
    return max(LEAST_ROWS, min(MOST_ROWS, TILE_FLOATS // (2 * sum(widths))))


def scratch_size(sizes: Sizes, n: int) -> int:
    """Floats of scratch space for n rows."""
    widths = sizes[4:] + sizes[1]
    return int(min(n, sizes[0]) * (2 * widths.sum() + 3 * sizes[2]) + (widths[1:] * widths[:-1]).max())


@jit
def _layers(
    act: Any, a: Reals, theta: Reals, X: Reals, begin: int, T: int, sizes: Sizes, numbers: Reals, scratch: Reals
) -> int:
    """Fill `scratch` with the layers of rows begin … begin + T − 1; returns the index where Z^L starts."""
    bias, depth, k = sizes[1], sizes[3], sizes[4]
    A = scratch[: (k + bias) * T].reshape(k + bias, T)
    for i in range(T):
        for j in range(k):
            A[j, i] = numbers[1] * X[begin + i, j]
        if bias:
            A[k, i] = numbers[0]
    at, weight = (k + bias) * T, 0
    for layer in range(1, depth + 1):
        m = sizes[4 + layer]
        W = theta[weight : weight + m * (k + bias)].reshape(m, k + bias)
        weight += m * (k + bias)
        if layer == depth:
            np.dot(W, A, scratch[at : at + m * T].reshape(m, T))
            break
        H = scratch[at : at + m * T]
        D = scratch[at + (m + bias) * T : at + (2 * m + bias) * T]
        np.dot(W, A, D.reshape(m, T))
        act(D, H, a)
        factor = numbers[1 + layer]
        for j in range(m * T):
            H[j] *= factor
            D[j] *= factor
        A = scratch[at : at + (m + bias) * T].reshape(m + bias, T)
        scratch[at + m * T : at + (m + bias) * T] = numbers[0]
        at += (2 * m + bias) * T
        k = m
    return int(at)


@jit
def _backwards(theta: Reals, T: int, sizes: Sizes, at: int, out: Reals, add: bool, scratch: Reals) -> None:
    """Σ_i J_iᵀ R_i into `out`, added to it where `add`. Δ^L = Rᵀ is expected in place of Z^L, at index `at`."""
    bias, widest, depth = sizes[1], sizes[2], sizes[3]
    m = sizes[4 + depth]
    D = scratch[at : at + m * T].reshape(m, T)
    free = at + m * T
    spare, product = scratch[free : free + 2 * widest * T], scratch[free + 2 * widest * T :]
    weight = theta.size
    for layer in range(depth, 0, -1):
        k = sizes[3 + layer]
        weight -= m * (k + bias)
        at -= (k + bias) * T if layer == 1 else (2 * k + bias) * T
        A = scratch[at : at + (k + bias) * T].reshape(k + bias, T)
        W = theta[weight : weight + m * (k + bias)].reshape(m, k + bias)
        G = out[weight : weight + m * (k + bias)]
        if add:
            P = product[: m * (k + bias)]
            np.dot(D, A.T, P.reshape(m, k + bias))
            for j in range(P.size):
                G[j] += P[j]
        else:
            np.dot(D, A.T, G.reshape(m, k + bias))
        if layer > 1:
            half = (layer % 2) * widest * T  # Δ^{ℓ−1} and Δ^ℓ take turns in the two halves of `spare`
            below = spare[half : half + (k + bias) * T]
            np.dot(W.T, D, below.reshape(k + bias, T))
            slope = scratch[at + (k + bias) * T : at + (2 * k + bias) * T]
            for j in range(k * T):
                below[j] *= slope[j]
            D = below[: k * T].reshape(k, T)
            m = k


@per_real(VALUE)
def value(act: Any, a: Reals, theta: Reals, X: Reals, sizes: Sizes, numbers: Reals, out: Reals, scratch: Reals) -> None:
    n, outputs = out.shape
    for begin in range(0, n, sizes[0]):
        T = min(sizes[0], n - begin)
        at = _layers(act, a, theta, X, begin, T, sizes, numbers, scratch)
        f = scratch[at : at + outputs * T].reshape(outputs, T)
        for i in range(T):
            for c in range(outputs):
                out[begin + i, c] = f[c, i]


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
    n, outputs = y.shape
    loss = 0.0
    for begin in range(0, n, sizes[0]):
        T = min(sizes[0], n - begin)
        at = _layers(act, a, theta, X, begin, T, sizes, numbers, scratch)
        f = scratch[at : at + outputs * T].reshape(outputs, T)
        for i in range(T):
            for c in range(outputs):
                residual = alpha * f[c, i] - y[begin + i, c]
                loss += float64(residual) * residual
                f[c, i] = residual * (alpha / n)
        _backwards(theta, T, sizes, at, out, begin > 0, scratch)
    return float(loss / (2 * n))


@per_real(PULL)
def pull(
    act: Any, a: Reals, theta: Reals, R: Reals, X: Reals, sizes: Sizes, numbers: Reals, out: Reals, scratch: Reals
) -> None:
    n, outputs = R.shape
    for begin in range(0, n, sizes[0]):
        T = min(sizes[0], n - begin)
        at = _layers(act, a, theta, X, begin, T, sizes, numbers, scratch)
        f = scratch[at : at + outputs * T].reshape(outputs, T)
        for i in range(T):
            for c in range(outputs):
                f[c, i] = R[begin + i, c]
        _backwards(theta, T, sizes, at, out, begin > 0, scratch)


@jit
def _forwards(theta: Reals, v: Reals, T: int, sizes: Sizes, at: int, scratch: Reals) -> None:
    """Write J v in place of Z^L, at index `at` of `scratch`."""
    bias, widest, depth = sizes[1], sizes[2], sizes[3]
    free = at + sizes[4 + depth] * T
    tangent, product = scratch[free : free + widest * T], scratch[free + widest * T :]
    at, weight, k = 0, 0, sizes[4]
    for layer in range(1, depth + 1):
        m = sizes[4 + layer]
        A = scratch[at : at + (k + bias) * T].reshape(k + bias, T)
        at += (k + bias) * T if layer == 1 else (2 * k + bias) * T
        Z = scratch[at : at + m * T] if layer == depth else product[: m * T]
        np.dot(v[weight : weight + m * (k + bias)].reshape(m, k + bias), A, Z.reshape(m, T))
        if layer > 1:
            W = theta[weight : weight + m * (k + bias)].reshape(m, k + bias)
            through = product[m * T : 2 * m * T]
            np.dot(W, tangent[: (k + bias) * T].reshape(k + bias, T), through.reshape(m, T))
            for j in range(m * T):
                Z[j] += through[j]
        if layer < depth:
            slope = scratch[at + (m + bias) * T : at + (2 * m + bias) * T]
            for j in range(m * T):
                tangent[j] = slope[j] * Z[j]
            tangent[m * T : (m + bias) * T] = 0.0
        weight += m * (k + bias)
        k = m


@per_real(PUSH)
def push(
    act: Any, a: Reals, theta: Reals, v: Reals, X: Reals, sizes: Sizes, numbers: Reals, out: Reals, scratch: Reals
) -> None:
    n, outputs = out.shape
    for begin in range(0, n, sizes[0]):
        T = min(sizes[0], n - begin)
        at = _layers(act, a, theta, X, begin, T, sizes, numbers, scratch)
        _forwards(theta, v, T, sizes, at, scratch)
        f = scratch[at : at + outputs * T].reshape(outputs, T)
        for i in range(T):
            for c in range(outputs):
                out[begin + i, c] = f[c, i]
