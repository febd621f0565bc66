"""What both layouts of a tile of `mlp` share: packed sizes, parts of a layer and their threads. Equations: `_mlp_tile`.

Threads divide the *neurons* of a layer among themselves, not the rows: every weight is then read, and its gradient
written, by one thread alone, also in a batch of few rows, and nothing is added up between threads.

A layout has its matrices by rows (`by_rows`), one row per row of X, or by columns; in the order

    f | Ã⁰ | … | Ã^{L−1}, each with what else is kept of the layer | Δ or Ż of two layers | by rows: Δᵀ of one layer |
    what products need.

It has two functions, which are called by address (`simlab.core.outlined`), for one part of a layer's neurons:

- ``forward(net, act, X, space, number, part, parts)``: the input Ã of layer `number` + 1, or f for the last layer;
  `number` = 0 are the inputs X;
- ``backward(net, R, out, space, number, what, part, parts)``: Δ of the layer below `number` (what = DOWN), or ∂R/∂W of
  the layer into its place in `out` (what = SET), or added to it (what = ADD). R, (c, T), is Δ of the last layer.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import int64, prange
from numpy.typing import NDArray

from simlab.core.gemm import product_space
from simlab.core.jit import jit
from simlab.core.lines import padded
from simlab.core.outlined import caller
from simlab.core.skipping import marked_size
from simlab.networks.signature import GRADIENT, Net, Reals

Sizes = NDArray[np.int64]
WIDTHS = 5  # where d, m_1, … begin in `sizes`
LEAST_NEURONS = 128  # of a layer that is divided
BLOCK_NEURONS = 512  # of a part of a layer that is divided into more than two
THREADED_FLOPS = 1 << 20  # a layer of fewer multiplications is not worth waking a thread
DOWN, SET, ADD = range(3)


def FORWARD(real: Any) -> Any:
    # act is not the first of the tuple that a call takes: numba would warn of tuples of functions.
    act, _, net, _, _, vector, _ = GRADIENT(real).args
    return int64(net, act, real[:, ::1], vector, *(int64,) * 3)


def BACKWARD(real: Any) -> Any:
    return int64(FORWARD(real).args[0], real[:, ::1], real[::1], real[::1], *(int64,) * 4)


call_forward, call_backward = caller(FORWARD), caller(BACKWARD)


@jit
def block_count(m: int) -> int:
    """Parts that m neurons are divided into."""
    return int(max(2 if m >= LEAST_NEURONS else 1, m // BLOCK_NEURONS))


@jit
def weights(theta: Reals, sizes: Sizes, number: int) -> Reals:
    """W : (m, k) of a layer, k counting the bias, or what lies in its place in another vector."""
    at, bias = 0, sizes[1]
    for below in range(1, number):
        at += sizes[WIDTHS + below] * (sizes[WIDTHS + below - 1] + bias)
    m, k = sizes[WIDTHS + number], sizes[WIDTHS + number - 1] + bias
    return theta[at : at + m * k].reshape(m, k)


@jit
def output(sizes: Sizes, T: int, space: Reals) -> Reals:
    """f : (c, T)"""
    return space[: sizes[-1] * T].reshape(sizes[-1], T)


@jit
def layer_at(sizes: Sizes, number: int, T: int, by_rows: bool) -> int:
    """Where what is kept of layer `number` begins, 0 being the inputs; for L, what follows them all."""
    at, bias = padded(sizes[-1] * T), sizes[1]
    for m in sizes[WIDTHS : WIDTHS + number]:
        at += marked_size(T, m + bias) if by_rows else padded(T * (2 * m + bias))
    return at


@jit
def half_at(sizes: Sizes, number: int, T: int, by_rows: bool) -> int:
    """Where the space for Δ or Ż of a layer begins; consecutive layers take turns in the two halves of one space."""
    return int(layer_at(sizes, sizes[3], T, by_rows) + number % 2 * T * padded(sizes[2]))


@jit
def turned_at(sizes: Sizes, T: int, by_rows: bool) -> int:
    """Where the two halves end: by rows the space for Δᵀ begins there, by columns that for products."""
    return int(half_at(sizes, 0, T, by_rows) + 2 * T * padded(sizes[2]))


@jit
def room(sizes: Sizes, T: int, by_rows: bool, space: Reals) -> Reals:
    """Space for products."""
    return space[turned_at(sizes, T, by_rows) + marked_size(sizes[2], T) * by_rows : space_size(sizes, T, by_rows)]


@jit
def space_size(sizes: Sizes, T: int, by_rows: bool) -> int:
    """Reals of the whole tile. By rows the left factor of a product can be all T rows, in each part."""
    widest, parts = sizes[2], block_count(sizes[2])
    products = product_space(max(widest, parts * T) if by_rows else widest, parts)
    return int(turned_at(sizes, T, by_rows) + marked_size(widest, T) * by_rows + products)


@jit
def _parts(net: Net, number: int, neurons: int, T: int) -> int:
    """As many as so many neurons are divided into, or 1 where the layer is not worth waking a thread."""
    size = weights(net.theta, net.sizes, number).size if number else 0
    return block_count(neurons) if net.threads > 1 and size * T >= THREADED_FLOPS else 1


@jit(parallel=True)
def _forward_on_all(call: int, act: Any, net: Net, X: Reals, space: Reals, number: int, parts: int) -> None:
    for part in prange(parts):
        call_forward(call, (net, act, X, space, number, part, parts))


@jit
def forward(call: int, act: Any, net: Net, X: Reals, space: Reals, number: int) -> None:
    """All parts of a layer, by the function with this address."""
    parts = _parts(net, number, net.sizes[WIDTHS + number], X.shape[0])
    if parts > 1:
        _forward_on_all(call, act, net, X, space, number, parts)
    else:
        call_forward(call, (net, act, X, space, number, 0, 1))


@jit(parallel=True)
def _backward_on_all(
    call: int, net: Net, R: Reals, out: Reals, space: Reals, number: int, what: int, parts: int
) -> None:
    for part in prange(parts):
        call_backward(call, (net, R, out, space, number, what, part, parts))


@jit
def backward(call: int, net: Net, R: Reals, out: Reals, space: Reals, number: int, what: int) -> None:
    """All parts of a layer, by the function with this address."""
    parts = _parts(net, number, net.sizes[WIDTHS + number - (what == DOWN)], R.shape[1])
    if parts > 1:
        _backward_on_all(call, net, R, out, space, number, what, parts)
    else:
        call_backward(call, (net, R, out, space, number, what, 0, 1))
