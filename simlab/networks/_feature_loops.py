"""The compiled loops of functions linear in θ's trained part over frozen neurons. MATH §5, §7.

    f(x) = s Σ_j a_j φ(w_j·x̃) + b a_{N+1} + s Σ_j ⟨s_j, x̃⟩ φ'(w_j·x̃),   x̃ = (s_0 x, b)

with W : (N, k) frozen, k = d, or d + 1 with a bias. Random features have no S; tangent features of the first layer
alone have no a. In tiles of T rows, with one column per row of X and Z = W X̃ᵀ, H = φ(Z), D = φ'(Z): (N, T)

    f = s (aᵀH + 1ᵀ(D ⊙ S X̃ᵀ)) + b a_{N+1},     Σ_i R_i ∇f(x_i) = (s H R, b 1ᵀR, s (D ⊙ R) X̃):

the N k features of S are never formed. Packed arguments:

- theta: a (N,) or, with a bias, (N + 1,) | S (N, k) | W (N, k), row by row;
- sizes: (T, 1 with a bias else 0, d, N, 1 with a else 0, 1 with S else 0);
- numbers: (b, s_0, s);
- scratch: X̃ᵀ (k, T) | H (N, T) | D (N, T) | f (T,) | space for a product: (N, T) or (N, k).
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


def tile_rows(width: int) -> int:
    """T: as large as the three (N, T) matrices of a tile fit into `TILE_FLOATS`."""
    return max(LEAST_ROWS, min(MOST_ROWS, TILE_FLOATS // (3 * width)))


def scratch_size(sizes: Sizes, n: int) -> int:
    """Floats of scratch space for n rows."""
    T, bias, d, N, _, first = (int(size) for size in sizes)
    T = min(T, n)
    return T * (d + bias + 2 * N + 1) + max(N * T, N * (d + bias if first else 1))


@jit
def _neurons(
    act: Any, a: Reals, weights: Reals, X: Reals, begin: int, T: int, sizes: Sizes, numbers: Reals, scratch: Reals
) -> int:
    """Fill `scratch` with X̃ᵀ, H and D of rows begin … begin + T − 1; returns the index where f starts."""
    bias, d, N = sizes[1], sizes[2], sizes[3]
    k = d + bias
    A = scratch[: k * T].reshape(k, T)
    for i in range(T):
        for j in range(d):
            A[j, i] = numbers[1] * X[begin + i, j]
        if bias:
            A[d, i] = numbers[0]
    H = scratch[k * T : (k + N) * T]
    D = scratch[(k + N) * T : (k + 2 * N) * T]
    np.dot(weights.reshape(N, k), A, D.reshape(N, T))
    act(D, H, a)
    return int((k + 2 * N) * T)


@jit
def _combine(coefficients: Reals, T: int, sizes: Sizes, numbers: Reals, at: int, scratch: Reals) -> None:
    """Write f at index `at` of `scratch`, for these coefficients (a, S)."""
    bias, d, N, second, first = sizes[1], sizes[2], sizes[3], sizes[4], sizes[5]
    k = d + bias
    f, spare = scratch[at : at + T], scratch[at + T :]
    f[:] = 0.0
    if second:
        np.dot(coefficients[:N].reshape(1, N), scratch[k * T : (k + N) * T].reshape(N, T), f.reshape(1, T))
    if first:
        S = coefficients[second * (N + bias) :].reshape(N, k)
        G = spare[: N * T].reshape(N, T)
        D = scratch[(k + N) * T : (k + 2 * N) * T].reshape(N, T)
        np.dot(S, scratch[: k * T].reshape(k, T), G)
        for j in range(N):
            for i in range(T):
                f[i] += D[j, i] * G[j, i]
    constant = numbers[0] * coefficients[N] if second and bias else numbers[0] * 0
    for i in range(T):
        f[i] = numbers[2] * f[i] + constant


@jit
def _collect(T: int, sizes: Sizes, numbers: Reals, at: int, out: Reals, add: bool, scratch: Reals) -> None:
    """Σ_i R_i ∇f(x_i) into `out`, added to it where `add`. R is expected in place of f; D is overwritten."""
    bias, d, N, second, first = sizes[1], sizes[2], sizes[3], sizes[4], sizes[5]
    k = d + bias
    R, spare = scratch[at : at + T], scratch[at + T :]
    if second and bias and not add:
        out[N] = 0.0
    for i in range(T):
        if second and bias:
            out[N] += numbers[0] * R[i]
        R[i] *= numbers[2]
    if second:
        P = spare[:N]
        np.dot(scratch[k * T : (k + N) * T].reshape(N, T), R.reshape(T, 1), P.reshape(N, 1))
        for j in range(N):
            out[j] = out[j] + P[j] if add else P[j]
    if first:
        D = scratch[(k + N) * T : (k + 2 * N) * T].reshape(N, T)
        for j in range(N):
            for i in range(T):
                D[j, i] *= R[i]
        G = out[second * (N + bias) : second * (N + bias) + N * k]
        P = spare[: N * k]
        np.dot(D, scratch[: k * T].reshape(k, T).T, P.reshape(N, k))
        for j in range(N * k):
            G[j] = G[j] + P[j] if add else P[j]


@jit
def _evaluate(
    act: Any, a: Reals, theta: Reals, v: Reals, X: Reals, sizes: Sizes, numbers: Reals, out: Reals, scratch: Reals
) -> None:
    """out ← the function with coefficients v over the neurons of θ: f for v = θ, J v for any v, f being linear."""
    n = len(X)
    trained = theta.size - sizes[3] * (sizes[1] + sizes[2])
    for begin in range(0, n, sizes[0]):
        T = min(sizes[0], n - begin)
        at = _neurons(act, a, theta[trained:], X, begin, T, sizes, numbers, scratch)
        _combine(v[:trained], T, sizes, numbers, at, scratch)
        for i in range(T):
            out[begin + i, 0] = scratch[at + i]


@per_real(VALUE)
def value(act: Any, a: Reals, theta: Reals, X: Reals, sizes: Sizes, numbers: Reals, out: Reals, scratch: Reals) -> None:
    _evaluate(act, a, theta, theta, X, sizes, numbers, out, scratch)


@per_real(PUSH)
def push(
    act: Any, a: Reals, theta: Reals, v: Reals, X: Reals, sizes: Sizes, numbers: Reals, out: Reals, scratch: Reals
) -> None:
    _evaluate(act, a, theta, v, X, sizes, numbers, out, scratch)


@per_real(PULL)
def pull(
    act: Any, a: Reals, theta: Reals, R: Reals, X: Reals, sizes: Sizes, numbers: Reals, out: Reals, scratch: Reals
) -> None:
    n = len(X)
    trained = theta.size - sizes[3] * (sizes[1] + sizes[2])
    for begin in range(0, n, sizes[0]):
        T = min(sizes[0], n - begin)
        at = _neurons(act, a, theta[trained:], X, begin, T, sizes, numbers, scratch)
        for i in range(T):
            scratch[at + i] = R[begin + i, 0]
        _collect(T, sizes, numbers, at, out, begin > 0, scratch)


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
    n = len(X)
    trained = theta.size - sizes[3] * (sizes[1] + sizes[2])
    loss = 0.0
    for begin in range(0, n, sizes[0]):
        T = min(sizes[0], n - begin)
        at = _neurons(act, a, theta[trained:], X, begin, T, sizes, numbers, scratch)
        _combine(theta[:trained], T, sizes, numbers, at, scratch)
        for i in range(T):
            residual = alpha * scratch[at + i] - y[begin + i, 0]
            loss += float64(residual) * residual
            scratch[at + i] = residual * (alpha / n)
        _collect(T, sizes, numbers, at, out, begin > 0, scratch)
    return float(loss / (2 * n))
