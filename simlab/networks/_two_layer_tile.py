"""A tile of `two_layer`: f, J v and Jᵀ R over BLAS. MATH §6.

What each function is for: `simlab.networks.skeleton.Tile`.

For a tile of t rows X_t, with Z = W X_tᵀ + b (m, t), H = φ(Z), D = φ'(Z) and r = ∂R/∂f times s:

    f = s aᵀ H,    ∂R/∂a = H r,    G = (a ⊗ r) ⊙ D,    ∂R/∂b = G 1,    ∂R/∂W = G X_t
    J v = s [v_aᵀ H + aᵀ (D ⊙ (v_W X_tᵀ + v_b))]

Neurons are the rows of Z, so that every element-wise pass runs along inputs that are adjacent in memory, and both
products take X_t as it is stored. Tiles of 128 rows, 64 in wide networks, keep Z and H : (m, t) in the cache.

A *plain* network (ReLU, no bias, both layers trained) has passes of its own, which take H and D from Z and store
neither. Packed arguments:

- theta: a (m,) | b (m,), only with a bias | W (m, d);
- sizes: (m, d, 1 with a bias else 0, what is trained: BOTH, FIRST or SECOND, 1 if plain else 0);
- numbers: (s,);
- space: product (m, d) | Z (m, t) | H (m, t) | r (1, t).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simlab.core.jit import jit
from simlab.networks.signature import Net, Reals
from simlab.networks.skeleton import Into, Tile, loops_over, row_blocks

Sizes = NDArray[np.int64]
BOTH, FIRST, SECOND = 0, 1, 2
TILE_ROWS, WIDE_TILE_ROWS = 128, 64
WIDE_NEURONS = 2048  # from here on a network is wide
PASS_NEURONS = 16  # whose Z and H stay in the first-level cache between the two halves of a pass
FAST = {"contract", "reassoc"}  # sums along a row may be vectorised


class Matrices(NamedTuple):
    """Z or φ'(Z) (m, t), H (m, t), r (1, t)."""

    Z: Reals
    H: Reals
    r: Reals


@jit
def scale(numbers: Reals) -> Any:
    return numbers[0]


@jit
def tile_rows(sizes: Sizes, n: int) -> int:
    return min(TILE_ROWS if sizes[0] < WIDE_NEURONS else WIDE_TILE_ROWS, n)


@jit
def space_size(sizes: Sizes, t: int) -> int:
    m, d = sizes[:2]
    return int(m * d + 2 * m * t + t)


@jit
def _weights(theta: Reals, sizes: Sizes) -> tuple[Reals, Reals, Reals]:
    """a (m,), b (m,) or empty, W (m, d)"""
    m, d, bias = sizes[:3]
    return theta[:m], theta[m : m + bias * m], theta[m + bias * m :].reshape(m, d)


@jit
def _matrices(space: Reals, t: int, sizes: Sizes) -> Matrices:
    m, d = sizes[:2]
    rest = space[m * d :]
    Z, H = rest[: m * t].reshape(m, t), rest[m * t : 2 * m * t].reshape(m, t)
    return Matrices(Z, H, rest[2 * m * t : 2 * m * t + t].reshape(1, t))


@jit(fastmath=FAST)
def _layer(act: Any, net: Net, X: Reals, tile: Matrices, c: Reals) -> None:
    """H ← φ(W Xᵀ + b), Z ← φ' of it, and r ← cᵀ H."""
    _, b, W = _weights(net.theta, net.sizes)
    Z, H, r = tile.Z, tile.H, tile.r[0]
    m, t = Z.shape
    np.dot(W, X.T, Z)
    r[:] = 0
    for first in range(0, m, PASS_NEURONS):
        last = min(m, first + PASS_NEURONS)
        if b.size:
            for j in range(first, last):
                for i in range(t):
                    Z[j, i] += b[j]
        act(Z[first:last].reshape(-1), H[first:last].reshape(-1), net.phi)
        # Four neurons at a time: r is loaded and stored once for them.
        for j in range(first, last - 3, 4):
            c_0, c_1, c_2, c_3 = c[j], c[j + 1], c[j + 2], c[j + 3]
            for i in range(t):
                r[i] += c_0 * H[j, i] + c_1 * H[j + 1, i] + c_2 * H[j + 2, i] + c_3 * H[j + 3, i]
        for j in range(first + (last - first) // 4 * 4, last):
            for i in range(t):
                r[i] += c[j] * H[j, i]


@jit(fastmath=FAST)
def plain_layer(W: Reals, X: Reals, Z: Reals, c: Reals, r: Reals) -> None:
    """Z ← W Xᵀ and r ← cᵀ relu(Z)."""
    m, t = Z.shape
    zero = r.dtype.type(0)
    np.dot(W, X.T, Z)
    r[:] = 0
    for j in range(m):
        c_j = c[j]  # read once: the compiler cannot know that r and Z are not c, and would not vectorise the loop
        for i in range(t):
            z = Z[j, i]
            r[i] += c_j * (z if z > zero else zero)


@jit
def forwards(act: Any, net: Net, known: int, X: Reals, space: Reals) -> Reals:
    outer, _, W = _weights(net.theta, net.sizes)
    tile = _matrices(space, X.shape[0], net.sizes)
    if net.sizes[4]:
        plain_layer(W, X, tile.Z, outer, tile.r[0])
    else:
        _layer(act, net, X, tile, outer)
    return tile.r


@jit(fastmath=FAST)
def _plain_back(Z: Reals, c: Reals, r: Reals, add: bool, out: Reals) -> None:
    """out ← relu(Z) r, added to it where `add`; then Z ← (c ⊗ r) 1{Z > 0}."""
    m, t = Z.shape
    zero = r.dtype.type(0)
    for j in range(m):
        along, c_j = zero, c[j]
        for i in range(t):
            z = Z[j, i]
            along += (z if z > zero else zero) * r[i]
            Z[j, i] = c_j * r[i] if z > zero else zero
        out[j] = out[j] + along if add else along


@jit(fastmath=FAST)
def _back(net: Net, tile: Matrices, add: bool, out: Reals) -> None:
    """∂R/∂a and ∂R/∂b of a tile into `out`, added where `add`; then Z ← G."""
    c, b, _ = _weights(net.theta, net.sizes)
    trained = net.sizes[3]
    Z, H, r = tile.Z, tile.H, tile.r[0]
    m, t = Z.shape
    for j in range(m):
        if trained != FIRST:
            along = r.dtype.type(0)
            for i in range(t):
                along += H[j, i] * r[i]
            out[j] = out[j] + along if add else along
        if trained != SECOND:
            c_j = c[j]
            for i in range(t):
                Z[j, i] *= c_j * r[i]
            if b.size:
                along = np.sum(Z[j])
                out[m + j] = out[m + j] + along if add else along


@jit
def add_product(G: Reals, X: Reals, out: Reals, add: bool, product: Reals) -> None:
    """out (m, d) ← G X, added to it where `add`; `product` is space for it."""
    if not add:
        np.dot(G, X, out)
        return
    np.dot(G, X, product)
    for j in range(out.shape[0]):
        for p in range(out.shape[1]):
            out[j, p] += product[j, p]


@jit
def backwards(net: Net, known: int, X: Reals, R: Reals, into: Into, add: bool, space: Reals) -> None:
    m, d, _, trained, plain = net.sizes[:5]
    tile = _matrices(space, X.shape[0], net.sizes)
    if plain:
        _plain_back(tile.Z, net.theta[:m], R[0], add, into.out)
    else:
        _back(net, tile, add, into.out)
    if trained != SECOND:
        add_product(tile.Z, X, _weights(into.out, net.sizes)[2], add, space[: m * d].reshape(m, d))


@jit(fastmath=FAST)
def pushed(act: Any, net: Net, known: int, v: Reals, X: Reals, space: Reals) -> Reals:
    m, _, bias, trained = net.sizes[:4]
    tile = _matrices(space, X.shape[0], net.sizes)
    outer, tangent = net.theta[:m], v.size > 0
    _layer(act, net, X, tile, v[:m] if tangent else outer)
    Z, H, r = tile.Z, tile.H, tile.r[0]
    if tangent and trained == FIRST:
        r[:] = 0
    if tangent and trained != SECOND:
        np.dot(_weights(v, net.sizes)[2], X.T, H)
        for j in range(m):
            shift = v[m + j] if bias else r.dtype.type(0)
            for i in range(r.size):
                r[i] += outer[j] * Z[j, i] * (H[j, i] + shift)
    return tile.r


LOOPS = loops_over(
    Tile(forwards, backwards, pushed, tile_rows, space_size, blocks=row_blocks, scale=scale, even=True), "two_layer"
)
