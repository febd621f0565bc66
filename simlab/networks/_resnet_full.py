"""A tile of a `resnet3` whose U is trained itself: f, J v and Jᵀ R over BLAS. MATH §9, equations: `_resnet_loops`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from simlab.core.jit import jit
from simlab.networks._resnet_factored import weights

Reals = NDArray[Any]
Sizes = NDArray[np.int64]

PASS_NEURONS = 16  # whose Z and H stay in the first-level cache between a bias and its activation
FAST = {"contract", "reassoc"}  # sums along a row may be vectorised


@jit
def scratch_size(sizes: Sizes, t: int) -> int:
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
def _tile(scratch: Reals, t: int, sizes: Sizes) -> tuple[Reals, Reals, Reals, Reals, Reals, Reals, Reals]:
    """The matrices of a tile, in the order in which they are packed: Z₁, H₁, Z₂, H₂ (m, t) | A H₁, f (k, t) | rest"""
    m, k = sizes[0], sizes[2]
    Z1, H1 = scratch[: m * t].reshape(m, t), scratch[m * t : 2 * m * t].reshape(m, t)
    Z2, H2 = scratch[2 * m * t : 3 * m * t].reshape(m, t), scratch[3 * m * t : 4 * m * t].reshape(m, t)
    at = 4 * m * t
    S, f = scratch[at : at + k * t].reshape(k, t), scratch[at + k * t : at + 2 * k * t].reshape(k, t)
    return Z1, H1, Z2, H2, S, f, scratch[at + 2 * k * t :]


@jit
def outputs(scratch: Reals, t: int, sizes: Sizes) -> Reals:
    """The part of the tile, (k, t), with f after `layers` and J v after `tangent`; `backwards` expects R there."""
    return _tile(scratch, t, sizes)[5][:, :t]


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
def layers(act: Any, a: Reals, theta: Reals, Xt: Reals, sizes: Sizes, scratch: Reals) -> None:
    """Fill the tile: H₁, H₂ and f, and D₁, D₂ in place of Z₁, Z₂."""
    W, b1, U, b2, A = weights(theta, sizes)
    Z1, H1, Z2, H2, S, f, _ = _tile(scratch, Xt.shape[0], sizes)
    np.dot(W, Xt.T, Z1)
    _activate(act, a, b1, Z1, H1)
    np.dot(U, H1, Z2)
    _activate(act, a, b2, Z2, H2)
    _read_out(A, H1, H2, S, f, sizes[4] > 0)


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
def _product(G: Reals, right: Reals, out: Reals, add: bool, spare: Reals) -> None:
    """out ← G right, added to it where `add`."""
    if not add:
        np.dot(G, right, out)
        return
    product = spare[: out.size].reshape(out.shape)
    np.dot(G, right, product)
    for j in range(out.shape[0]):
        for p in range(out.shape[1]):
            out[j, p] += product[j, p]


@jit
def backwards(theta: Reals, Xt: Reals, sizes: Sizes, out: Reals, add: bool, scratch: Reals) -> None:
    """Σ_i J_iᵀ R_i into `out`, added to it where `add`. R is expected in `outputs`; the tile is overwritten."""
    skip, first, second = sizes[4], sizes[6], sizes[7]
    _, _, U, _, A = weights(theta, sizes)
    dW, db1, dU, db2, _ = weights(out, sizes)
    Z1, H1, Z2, H2, _, R, spare = _tile(scratch, Xt.shape[0], sizes)
    np.dot(A.T, R, H2)
    _slope(H2, Z2, db2 if second else spare[: sizes[0]], add and second > 0)
    if second:
        _product(H2, H1.T, dU, add, spare)
    if not first:
        return
    np.dot(U.T, H2, H1)
    if skip:
        np.dot(A.T, R, Z2)
        for j in range(H1.shape[0]):
            for i in range(H1.shape[1]):
                H1[j, i] += Z2[j, i]
    _slope(H1, Z1, db1, add)
    _product(H1, Xt, dW, add, spare)


@jit
def tangent(theta: Reals, v: Reals, Xt: Reals, sizes: Sizes, scratch: Reals) -> None:
    """Write J v into `outputs`, from the tile that `layers` filled, which is overwritten."""
    skip, first, second = sizes[4], sizes[6], sizes[7]
    _, _, U, _, A = weights(theta, sizes)
    v_W, v_b1, v_U, v_b2, _ = weights(v, sizes)
    Z1, H1, Z2, H2, S, f, _ = _tile(scratch, Xt.shape[0], sizes)
    if second:
        np.dot(v_U, H1, H2)  # before H₁ is written over
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
    np.dot(U, H1, Z1)
    for j in range(H2.shape[0]):
        for i in range(H2.shape[1]):
            H2[j, i] = (H2[j, i] + Z1[j, i]) * Z2[j, i]
    _read_out(A, H1, H2, S, f, skip > 0)
