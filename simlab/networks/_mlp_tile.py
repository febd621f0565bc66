"""A tile of a fully connected net: f, J v and Jᵀ R by `simlab.core.gemm`. MATH §6. What each function is for:
`simlab.networks.skeleton.Tile`.

Each layer of a tile of T rows is a matrix with one column per row of X, so that the bias is one more row and every
matrix is contiguous:

    Z^ℓ = W^ℓ Ã^{ℓ−1},   Ã^ℓ = (s_ℓ φ(Z^ℓ); b),   Ã⁰ = (s_0 Xᵀ; b),   f = Z^L        (ℓ = 1 … L, s and b: factors)
    backwards  Δ^{ℓ−1} = s_{ℓ−1} φ'(Z^{ℓ−1}) ⊙ (W^ℓᵀ Δ^ℓ),   Δ^L = Rᵀ,   Σ_i J_iᵀ R_i = (Δ^ℓ Ã^{ℓ−1}ᵀ)_ℓ
    forwards   Ż^ℓ = V^ℓ Ã^{ℓ−1} + W^ℓ (s_{ℓ−1} φ'(Z^{ℓ−1}) ⊙ Ż^{ℓ−1}; 0),   J v = Ż^L,   v = (V¹, …, V^L)

Threads divide the *neurons* of a layer among themselves, not the rows: every weight is then read, and its gradient
written, by one thread alone, also in a batch of few rows, and nothing is added up between threads. Bits do not depend
on how neurons and rows are divided: each entry of a product is one sum.

ReLU has passes of its own, which keep φ(Z) alone and compute in θ's precision. Packed arguments:

- theta: W¹ | … | W^L, W^ℓ : (m_ℓ, m_{ℓ−1} + 1 with a bias), row by row;
- sizes: (T at most, 1 with a bias else 0, neurons of the widest layer and its bias, L, 1 if φ is ReLU else 0, d, m_1,
  …, m_{L−1}, c);
- numbers: (b, s_0, …, s_{L−1});
- space: Ã⁰ | Ã¹, s_1 φ'(Z¹) | … | Ã^{L−1}, s_{L−1} φ'(Z^{L−1}) | Z^L | Δ or Ż of two layers | what products need.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray

from simlab.core.gemm import product, product_space, share
from simlab.core.jit import jit
from simlab.networks.signature import Net, Reals
from simlab.networks.skeleton import Into, Tile, loops_over, stored_rows

Sizes = NDArray[np.int64]
MOST_ROWS = 1024
WIDTHS = 5  # where d, m_1, … begin in `sizes`
LEAST_NEURONS = 128  # of a layer that is divided
BLOCK_NEURONS = 512  # of a part of a layer that is divided into more than two
PASS_NEURONS = 4  # whose φ and φ' stay in the first-level cache between two passes
THREADED_FLOPS = 1 << 20  # a layer of fewer multiplications is not worth waking a thread


class Layer(NamedTuple):
    """One layer of a tile.

    W: its weights, (m, k), k counting the bias.
    A: its input Ã, (k, T).
    D: space for Z, then s φ'(Z), (m, T); of ReLU H, which is positive where φ' = 1; f of the last layer.
    H: space for s φ(Z), (m, T), within the next layer's input; of the last layer not used.
    room: space for products.
    """

    W: Reals
    A: Reals
    D: Reals
    H: Reals
    room: Reals


@jit
def space_size(sizes: Sizes, t: int) -> int:
    return int(_room_at(sizes, t) + product_space(sizes[2], _block_count(sizes[2])))


@jit
def _room_at(sizes: Sizes, t: int) -> int:
    """Where the space for products begins."""
    return int(t * (2 * np.sum(sizes[WIDTHS:] + sizes[1]) + 2 * sizes[2]))


@jit
def _layer(theta: Reals, sizes: Sizes, layer: int, T: int, space: Reals) -> Layer:
    """Layer 1 … L of a tile."""
    bias, depth, k, at, weight = sizes[1], sizes[3], sizes[WIDTHS], 0, 0
    for below in range(1, layer):
        at += (k + bias) * T if below == 1 else (2 * k + bias) * T
        weight += sizes[WIDTHS + below] * (k + bias)
        k = sizes[WIDTHS + below]
    m = sizes[WIDTHS + layer]
    room = space[_room_at(sizes, T) : space_size(sizes, T)]
    W = theta[weight : weight + m * (k + bias)].reshape(m, k + bias)
    A = space[at : at + (k + bias) * T].reshape(k + bias, T)
    at += (k + bias) * T if layer == 1 else (2 * k + bias) * T
    H = space[at : at + m * T].reshape(m, T)
    D = H if sizes[4] or layer == depth else space[at + (m + bias) * T : at + (2 * m + bias) * T].reshape(m, T)
    return Layer(W, A, D, H, room)


@jit
def _block_count(m: int) -> int:
    return int(max(2 if m >= LEAST_NEURONS else 1, m // BLOCK_NEURONS))


@jit
def _worth_threads(net: Net, layer: Layer) -> bool:
    return bool(net.threads > 1 and layer.W.size * layer.A.shape[1] >= THREADED_FLOPS)


@jit
def _hidden(act: Any, net: Net, layer: Layer, factor: Any, part: int, parts: int) -> None:
    """H ← s φ(W A) and D ← s φ'(W A), of one part of the neurons; of ReLU H alone."""
    first, last, room = share(layer.D.shape[0], layer.room, part, parts)
    product(layer.W[first:last], layer.A, layer.D[first:last], False, room)
    if net.sizes[4]:
        H, zero = layer.H[first:last].reshape(-1), factor * 0
        for i in range(H.size):
            H[i] = factor * H[i] if H[i] > zero else zero
        return
    for j in range(first, last, PASS_NEURONS):
        e = min(last, j + PASS_NEURONS)
        D, H = layer.D[j:e].reshape(-1), layer.H[j:e].reshape(-1)
        act(D, H, net.phi)
        for i in range(D.size):
            H[i] *= factor
            D[i] *= factor


@jit(parallel=True)
def _hidden_on_all(act: Any, net: Net, layer: Layer, factor: Any) -> None:
    parts = _block_count(layer.D.shape[0])
    for part in prange(parts):
        _hidden(act, net, layer, factor, part, parts)


@jit
def forwards(act: Any, net: Net, known: int, X: Reals, space: Reals) -> Reals:
    sizes, numbers, (T, k) = net.sizes, net.numbers, X.shape
    bias, depth = sizes[1], sizes[3]
    A = space[: (k + bias) * T].reshape(k + bias, T)
    for i in range(T):
        for j in range(k):
            A[j, i] = numbers[1] * X[i, j]
        if bias:
            A[k, i] = numbers[0]
    for number in range(1, depth):
        layer = _layer(net.theta, sizes, number, T, space)
        if _worth_threads(net, layer):
            _hidden_on_all(act, net, layer, numbers[1 + number])
        else:
            _hidden(act, net, layer, numbers[1 + number], 0, 1)
        if bias:
            _layer(net.theta, sizes, number + 1, T, space).A[-1] = numbers[0]
    layer = _layer(net.theta, sizes, depth, T, space)
    product(layer.W, layer.A, layer.D, False, layer.room)
    return layer.D


@jit
def _down(layer: Layer, below: Layer, Delta: Reals, into: Reals, factor: Any, part: int, parts: int) -> None:
    """into ← (Wᵀ Δ) ⊙ s φ', Δ of the layer below, of one part of its neurons.

    factor: s for ReLU; otherwise 0.
    """
    first, last, room = share(into.shape[0], layer.room, part, parts)
    product(layer.W[:, first:last].T, Delta, into[first:last], False, room)
    found, D, zero = into[first:last].reshape(-1), below.D[first:last].reshape(-1), factor * 0
    if factor > 0:
        for i in range(found.size):
            found[i] = factor * found[i] if D[i] > zero else zero
    else:
        for i in range(found.size):
            found[i] *= D[i]


@jit
def _across(layer: Layer, Delta: Reals, G: Reals, add: bool, part: int, parts: int) -> None:
    """G ← Δ Ãᵀ, added to it where `add`, of one part of the layer's neurons."""
    first, last, room = share(Delta.shape[0], layer.room, part, parts)
    product(Delta[first:last], layer.A.T, G[first:last], add, room)


@jit(parallel=True)
def _behind_on_all(layer: Layer, below: Layer, Delta: Reals, into: Reals, factor: Any, G: Reals, add: bool) -> None:
    downs, acrosses = _block_count(into.shape[0]), _block_count(Delta.shape[0])
    if into.size:
        for part in prange(downs):
            _down(layer, below, Delta, into, factor, part, downs)
    for part in prange(acrosses):
        _across(layer, Delta, G, add, part, acrosses)


@jit
def backwards(net: Net, known: int, X: Reals, R: Reals, into: Into, add: bool, space: Reals) -> None:
    sizes, T, weight = net.sizes, X.shape[0], net.theta.size
    spare = space[_room_at(sizes, T) - 2 * sizes[2] * T :]
    Delta = R
    for number in range(sizes[3], 0, -1):
        layer = _layer(net.theta, sizes, number, T, space)
        below = _layer(net.theta, sizes, max(1, number - 1), T, space)
        weight -= layer.W.size
        G = into.out[weight : weight + layer.W.size].reshape(layer.W.shape)
        half = (number % 2) * sizes[2] * T  # Δ^{ℓ−1} and Δ^ℓ take turns in the two halves of `spare`
        k = sizes[WIDTHS + number - 1] if number > 1 else 0
        inner = spare[half : half + k * T].reshape(k, T)
        factor = net.numbers[number] if sizes[4] else net.numbers[number] * 0
        if _worth_threads(net, layer):
            _behind_on_all(layer, below, Delta, inner, factor, G, add)
        else:  # Δ first, here and there: G may be W itself
            if k:
                _down(layer, below, Delta, inner, factor, 0, 1)
            _across(layer, Delta, G, add, 0, 1)
        Delta = inner


@jit
def pushed(act: Any, net: Net, known: int, v: Reals, X: Reals, space: Reals) -> Reals:
    f = forwards(act, net, known, X, space)
    if v.size == 0:
        return f
    sizes, T, weight = net.sizes, X.shape[0], 0
    bias, widest, depth = sizes[1], sizes[2], sizes[3]
    spare = space[_room_at(sizes, T) - 2 * widest * T :]
    tangent = spare[:0].reshape(0, T)
    for number in range(1, depth + 1):
        layer = _layer(net.theta, sizes, number, T, space)
        m, k = layer.W.shape
        half = (number % 2) * widest * T
        Z = f if number == depth else spare[half : half + m * T].reshape(m, T)
        product(v[weight : weight + m * k].reshape(m, k), layer.A, Z, False, layer.room)
        if number > 1:
            product(layer.W[:, : k - bias], tangent, Z, True, layer.room)
        if number < depth:
            factor, zero = net.numbers[1 + number], net.numbers[0] * 0
            for j in range(m):
                for i in range(T):
                    slope = (factor if layer.D[j, i] > zero else zero) if sizes[4] else layer.D[j, i]
                    Z[j, i] *= slope
        weight += m * k
        tangent = Z
    return f


# Tiles of J v and of Jᵀ R are the same rows: a deep net can be chaotic, and rounding differs with the number of rows.
LOOPS = loops_over(Tile(forwards, backwards, pushed, stored_rows, space_size, in_place=True), "mlp")
