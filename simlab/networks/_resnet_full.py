"""A tile of a `resnet3` whose U is trained itself: f, J v and Jᵀ R over BLAS. MATH §9, equations: `_resnet_tile`.

What each function is for: `simlab.networks.skeleton.Tile`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simlab.core.jit import jit
from simlab.networks._resnet_tile import rows_within, weights
from simlab.networks._two_layer_tile import add_product
from simlab.networks.signature import Net, Reals
from simlab.networks.skeleton import Into, Tile, loops_over

Sizes = NDArray[np.int64]

PASS_NEURONS = 16  # whose Z and H stay in the first-level cache between a bias and its activation
FAST = {"contract", "reassoc"}  # sums along a row may be vectorised


class Matrices(NamedTuple):
    """The matrices of a tile, in the order in which they are packed.

    Z1, H1, Z2, H2: pre-activations or slopes, and activations of both layers, (m, t).
    S, f: A H₁ and outputs or R, (k, t).
    spare: space for the gradient of the largest matrix with its bias.
    """

    Z1: Reals
    H1: Reals
    Z2: Reals
    H2: Reals
    S: Reals
    f: Reals
    spare: Reals


@jit
def space_size(sizes: Sizes, t: int) -> int:
    """Reals of a tile: four (m, t), two (k, t), and the gradient of the largest matrix with its bias."""
    m, d, k = sizes[:3]
    return int((4 * m + 2 * k) * t + m * (max(d, m) + 1))


@jit
def _activate(act: Any, a: Reals, b: Reals, Z: Reals, H: Reals) -> None:
    """H ← φ(Z + b) and Z ← φ' of it."""
    m, t = Z.shape
    for first in range(0, m, PASS_NEURONS):
        last = min(m, first + PASS_NEURONS)
        for j in range(first, last):
            shift = b[j]
            for i in range(t):
                Z[j, i] += shift
        act(Z[first:last].reshape(-1), H[first:last].reshape(-1), a)


@jit
def _matrices(space: Reals, t: int, sizes: Sizes) -> Matrices:
    m, k = sizes[0], sizes[2]
    Z1, H1 = space[: m * t].reshape(m, t), space[m * t : 2 * m * t].reshape(m, t)
    Z2, H2 = space[2 * m * t : 3 * m * t].reshape(m, t), space[3 * m * t : 4 * m * t].reshape(m, t)
    at = 4 * m * t
    S, f = space[at : at + k * t].reshape(k, t), space[at + k * t : at + 2 * k * t].reshape(k, t)
    return Matrices(Z1, H1, Z2, H2, S, f, space[at + 2 * k * t :])


@jit
def _read_out(A: Reals, H1: Reals, H2: Reals, S: Reals, f: Reals, skip: bool) -> None:
    """f ← A(c H₁ + H₂), c = 1 with the skip and 0 without; S is overwritten"""
    np.dot(A, H2, f)
    if skip:
        np.dot(A, H1, S)
        for c in range(f.shape[0]):
            for i in range(f.shape[1]):
                f[c, i] += S[c, i]


@jit
def forwards(act: Any, net: Net, known: int, Xt: Reals, space: Reals) -> Reals:
    """Fills the tile: H₁, H₂ and f, and D₁, D₂ in place of Z₁, Z₂."""
    of, tile = weights(net.theta, net.sizes), _matrices(space, Xt.shape[0], net.sizes)
    np.dot(of.W, Xt.T, tile.Z1)
    _activate(act, net.phi, of.b1, tile.Z1, tile.H1)
    np.dot(of.V, tile.H1, tile.Z2)
    _activate(act, net.phi, of.b2, tile.Z2, tile.H2)
    _read_out(of.A, tile.H1, tile.H2, tile.S, tile.f, net.sizes[4] > 0)
    return tile.f


@jit(fastmath=FAST)
def _slope(G: Reals, D: Reals, out: Reals, add: bool) -> None:
    """G ← G ⊙ D, and its sums along rows into `out`, added to it where `add`."""
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
def backwards(net: Net, known: int, Xt: Reals, R: Reals, into: Into, add: bool, space: Reals) -> None:
    """The tile is overwritten."""
    skip, first, second = net.sizes[4], net.sizes[6], net.sizes[7]
    of, grads = weights(net.theta, net.sizes), weights(into.out, net.sizes)
    Z1, H1, Z2, H2, _, _, spare = _matrices(space, Xt.shape[0], net.sizes)
    np.dot(of.A.T, R, H2)
    _slope(H2, Z2, grads.b2 if second else spare[: net.sizes[0]], add and second > 0)
    if second:
        add_product(H2, H1.T, grads.V, add, spare[: grads.V.size].reshape(grads.V.shape))
    if not first:
        return
    np.dot(of.V.T, H2, H1)
    if skip:
        np.dot(of.A.T, R, Z2)
        for j in range(H1.shape[0]):
            for i in range(H1.shape[1]):
                H1[j, i] += Z2[j, i]
    _slope(H1, Z1, grads.b1, add)
    add_product(H1, Xt, grads.W, add, spare[: grads.W.size].reshape(grads.W.shape))


@jit
def pushed(act: Any, net: Net, known: int, v: Reals, Xt: Reals, space: Reals) -> Reals:
    """Where v is not empty, the tile that `forwards` fills is overwritten."""
    f = forwards(act, net, known, Xt, space)
    if v.size == 0:
        return f
    skip, first, second = net.sizes[4], net.sizes[6], net.sizes[7]
    of, along = weights(net.theta, net.sizes), weights(v, net.sizes)
    Z1, H1, Z2, H2, S, _, _ = _matrices(space, Xt.shape[0], net.sizes)
    if second:
        np.dot(along.V, H1, H2)  # before H₁ is written over
        for j in range(H2.shape[0]):
            for i in range(H2.shape[1]):
                H2[j, i] += along.b2[j]
    else:
        H2[:] = 0
    if first:
        np.dot(along.W, Xt.T, H1)
        for j in range(H1.shape[0]):
            for i in range(H1.shape[1]):
                H1[j, i] = (H1[j, i] + along.b1[j]) * Z1[j, i]
    else:
        H1[:] = 0
    np.dot(of.V, H1, Z1)
    for j in range(H2.shape[0]):
        for i in range(H2.shape[1]):
            H2[j, i] = (H2[j, i] + Z1[j, i]) * Z2[j, i]
    _read_out(of.A, H1, H2, S, f, skip > 0)
    return f


LOOPS = loops_over(Tile(forwards, backwards, pushed, rows_within, space_size), "resnet3_full")
