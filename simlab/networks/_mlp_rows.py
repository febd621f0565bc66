"""A tile of a fully connected ReLU net with one row per row of X, that skips zeros; by `simlab.core.skipping`.

About half of Ã^ℓ and of Δ^ℓ is 0, each where the other is. With the equations of `_mlp_tile` transposed,

    Z^ℓ = Ã^{ℓ−1} W^ℓᵀ,     Δ^{ℓ−1} = s_{ℓ−1} 1{Z^{ℓ−1} > 0} ⊙ (Δ^ℓ W^ℓ),     ∂R/∂W^ℓ = Δ^ℓᵀ Ã^{ℓ−1},

each product skips the zeros of its left factor. Every entry is the same sum as in `_mlp_columns`, to the bit. Rows are
padded to whole lines of the cache, and bits follow their matrix.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from simlab.core.gemm import copy_panel, product, share
from simlab.core.jit import jit, per_real
from simlab.core.lines import padded
from simlab.core.skipping import TERMS, mark, marked, product_of_marked
from simlab.networks._mlp_parts import (
    ADD,
    BACKWARD,
    DOWN,
    FORWARD,
    WIDTHS,
    Sizes,
    half_at,
    layer_at,
    output,
    room,
    turned_at,
    weights,
)
from simlab.networks.signature import Net, Reals

Words = NDArray[np.int64]
LEAST_ROWS, LEAST_NEURONS = 64, 64  # of a tile, and of every hidden layer: with fewer, copies cost what zeros save


@jit
def skips(sizes: Sizes, t: int) -> bool:
    """Whether a tile of t rows is computed here."""
    hidden = sizes[WIDTHS + 1 : -1]
    return bool(sizes[4] and t >= LEAST_ROWS and hidden.size > 0 and hidden.min() >= LEAST_NEURONS)


@jit
def _layer(sizes: Sizes, number: int, T: int, space: Reals) -> tuple[Reals, Words]:
    """(input of layer `number` + 1, its bits)"""
    return marked(space[layer_at(sizes, number, T, True) :], T, sizes[WIDTHS + number] + sizes[1])


@jit
def _half(sizes: Sizes, number: int, T: int, space: Reals) -> Reals:
    """Space for Δ of a layer, (T, m)"""
    at, width = half_at(sizes, number, T, True), padded(sizes[2])
    return space[at : at + T * width].reshape(T, width)


@per_real(FORWARD)
def compiled_forward(net: Net, act: Any, X: Reals, space: Reals, number: int, part: int, parts: int) -> int:
    sizes, numbers, T = net.sizes, net.numbers, X.shape[0]
    if number == 0:
        A, d = _layer(sizes, 0, T, space)[0], X.shape[1]
        for i in range(T):
            for j in range(d):
                A[i, j] = numbers[1] * X[i, j]
            A[i, d:] = numbers[0]
        return 0
    W, all_room = weights(net.theta, sizes, number), room(sizes, T, True, space)
    (below, below_bits), (m, k) = _layer(sizes, number - 1, T, space), W.shape
    A = below[:, :k]
    first, last, own = share(m, all_room, part, parts, TERMS)
    if number == sizes[3]:
        product(net.calls[0], W[first:last], A.T, output(sizes, T, space)[first:last], False, own)
        return 0
    (H, bits), factor = _layer(sizes, number, T, space), numbers[1 + number]
    right, into, zero = W[first:last].T, H[:, first:last], factor * 0
    if number == 1:
        product(net.calls[0], A, right, into, False, own)
    else:
        product_of_marked(net.calls[1], A, below_bits, right, into, False, own)
    end = m + sizes[1] if last == m else last
    for i in range(T):
        row = H[i, first:last]
        for j in range(row.size):
            row[j] = factor * row[j] if row[j] > zero else zero
        H[i, last:end] = numbers[0]
    mark(H, first, end, bits)
    return 0


@per_real(BACKWARD)
def compiled_backward(
    net: Net, R: Reals, out: Reals, space: Reals, number: int, what: int, part: int, parts: int
) -> int:
    sizes, T, depth = net.sizes, R.shape[1], net.sizes[3]
    W, all_room = weights(net.theta, sizes, number), room(sizes, T, True, space)
    below, (m, k) = _layer(sizes, number - 1, T, space)[0], W.shape
    Delta = R if number == depth else _half(sizes, number, T, space)
    if what == DOWN:
        into, factor = _half(sizes, number - 1, T, space), net.numbers[number]
        first, last, own = share(sizes[WIDTHS + number - 1], all_room, part, parts, TERMS)
        right, some, zero = W[:, first:last], into[:, first:last], factor * 0
        if number == depth:
            product(net.calls[0], Delta.T, right, some, False, own)
        else:
            bits = _layer(sizes, number, T, space)[1]
            product_of_marked(net.calls[1], Delta[:, :m], bits, right, some, False, own)
        for i in range(T):
            row, H = into[i, first:last], below[i, first:last]
            for j in range(row.size):
                row[j] = factor * row[j] if H[j] > zero else zero
        return 0
    first, last, own = share(m, all_room, part, parts)
    A, G, add = below[:, :k], weights(out, sizes, number)[first:last], what == ADD
    if number == depth:
        product(net.calls[0], Delta[first:last], A, G, add, own)
        return 0
    all_turned, all_bits = marked(space[turned_at(sizes, T, True) :], m, T)
    turned, bits = all_turned[first:last], all_bits[first:last]
    copy_panel(Delta[:, first:last].T, turned)
    mark(turned, 0, T, bits)
    product_of_marked(net.calls[1], turned[:, :T], bits, A, G, add, own)
    return 0
