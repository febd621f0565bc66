"""A tile of a function linear in θ's trained part over frozen neurons: f, J v and Jᵀ R. MATH §5, §7. What each function
is for: `simlab.networks.skeleton.Tile`.

    f(x) = s Σ_j a_j φ(w_j·x̃) + b a_{N+1} + s Σ_j ⟨s_j, x̃⟩ φ'(w_j·x̃),   x̃ = (s_0 x, b)

with W : (N, k) frozen, k = d, or d + 1 with a bias. Random features have no S; tangent features of the first layer
alone have no a. In tiles of T rows, with one column per row of X and Z = W X̃ᵀ, H = φ(Z), D = φ'(Z): (N, T)

    f = s (aᵀH + 1ᵀ(D ⊙ S X̃ᵀ)) + b a_{N+1},     Σ_i R_i ∇f(x_i) = (s H R, b 1ᵀR, s (D ⊙ R) X̃):

the N k features of S are never formed. f is linear in the coefficients (a, S), so that J v is f with v in their place.
Packed arguments:

- theta: a (N,) or, with a bias, (N + 1,) | S (N, k) | W (N, k), row by row;
- sizes: (T at most, 1 with a bias else 0, d, N, 1 with a else 0, 1 with S else 0);
- numbers: (b, s_0, s);
- space: X̃ᵀ (k, T) | H (N, T) | D (N, T) | f (1, T) | space for a product: (N, T) or (N, k).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simlab.core.jit import jit
from simlab.networks._two_layer_tile import add_product
from simlab.networks.signature import Net, Reals
from simlab.networks.skeleton import Into, Tile, loops_over, row_blocks, stored_rows

Sizes = NDArray[np.int64]
MOST_ROWS = 256


class Matrices(NamedTuple):
    """X̃ᵀ (k, T), H (N, T), D (N, T), f (1, T), and space for a product."""

    A: Reals
    H: Reals
    D: Reals
    f: Reals
    spare: Reals


@jit
def space_size(sizes: Sizes, t: int) -> int:
    _, bias, d, N, _, first = sizes
    return int(t * (d + bias + 2 * N + 1) + max(N * t, N * (d + bias if first else 1)))


@jit
def _matrices(space: Reals, T: int, sizes: Sizes) -> Matrices:
    k, N = sizes[1] + sizes[2], sizes[3]
    at = (k + 2 * N) * T
    A, H = space[: k * T].reshape(k, T), space[k * T : (k + N) * T].reshape(N, T)
    return Matrices(A, H, space[(k + N) * T : at].reshape(N, T), space[at : at + T].reshape(1, T), space[at + T :])


@jit
def _trained(net: Net) -> int:
    """Number of coefficients."""
    return int(net.theta.size - net.sizes[3] * (net.sizes[1] + net.sizes[2]))


@jit
def pushed(act: Any, net: Net, known: int, v: Reals, X: Reals, space: Reals) -> Reals:
    T, numbers = X.shape[0], net.numbers
    _, bias, d, N, second, first = net.sizes
    A, H, D, f, spare = _matrices(space, T, net.sizes)
    for i in range(T):
        for j in range(d):
            A[j, i] = numbers[1] * X[i, j]
        if bias:
            A[d, i] = numbers[0]
    np.dot(net.theta[_trained(net) :].reshape(N, d + bias), A, D)
    act(D.reshape(-1), H.reshape(-1), net.phi)
    coefficients = v if v.size > 0 else net.theta
    f[:] = 0.0
    if second:
        np.dot(coefficients[:N].reshape(1, N), H, f)
    if first:
        begin = second * (N + bias)
        G = spare[: N * T].reshape(N, T)
        np.dot(coefficients[begin : begin + N * (d + bias)].reshape(N, d + bias), A, G)
        for j in range(N):
            for i in range(T):
                f[0, i] += D[j, i] * G[j, i]
    constant = numbers[0] * coefficients[N] if second and bias else numbers[0] * 0
    for i in range(T):
        f[0, i] = numbers[2] * f[0, i] + constant
    return f


@jit
def forwards(act: Any, net: Net, known: int, X: Reals, space: Reals) -> Reals:
    return pushed(act, net, known, net.theta[:0], X, space)


@jit
def backwards(net: Net, known: int, X: Reals, F: Reals, into: Into, add: bool, space: Reals) -> None:
    """D is overwritten."""
    T, numbers, out = X.shape[0], net.numbers, into.out
    _, bias, d, N, second, first = net.sizes
    k = d + bias
    A, H, D, _, spare = _matrices(space, T, net.sizes)
    R = F[0]
    if second and bias and not add:
        out[N] = 0.0
    for i in range(T):
        if second and bias:
            out[N] += numbers[0] * R[i]
        R[i] *= numbers[2]
    if second:
        add_product(H, R.reshape(T, 1), out[:N].reshape(N, 1), add, spare[:N].reshape(N, 1))
    if first:
        for j in range(N):
            for i in range(T):
                D[j, i] *= R[i]
        begin = second * (N + bias)
        add_product(D, A.T, out[begin : begin + N * k].reshape(N, k), add, spare[: N * k].reshape(N, k))


LOOPS = loops_over(Tile(forwards, backwards, pushed, stored_rows, space_size, blocks=row_blocks), "features")
