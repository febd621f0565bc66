"""A tile of a fully connected net with one column per row of X, for any φ; by `simlab.core.gemm`. See `_mlp_tile`.

Every matrix (·, T) is contiguous, and the bias is one more row. ReLU has passes of its own, which keep φ(Z) alone and
compute in θ's precision; of others s φ'(Z) follows Ã.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from simlab.core.gemm import product, share
from simlab.core.jit import jit, per_real
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
    weights,
)
from simlab.networks.signature import Net, Reals

PASS_NEURONS = 4  # whose φ and φ' stay in the first-level cache between two passes


class Layer(NamedTuple):
    """What is kept of a layer below the last, m neurons, or of the inputs.

    A: the next layer's input, (m + 1 with a bias, T).
    D: s φ'(Z), (m, T); of ReLU A, which is positive where φ' = 1.
    """

    A: Reals
    D: Reals


@jit
def layer(sizes: Sizes, number: int, T: int, space: Reals) -> Layer:
    """Layer 0 … L − 1, 0 being the inputs."""
    at, k, m = layer_at(sizes, number, T, False), sizes[WIDTHS + number] + sizes[1], sizes[WIDTHS + number]
    A = space[at : at + T * k].reshape(k, T)
    return Layer(A, A[:m] if sizes[4] else space[at + T * k : at + T * (k + m)].reshape(m, T))


@jit
def half(sizes: Sizes, number: int, T: int, space: Reals) -> Reals:
    """Space for Δ or Ż of a layer, (m, T)"""
    at, m = half_at(sizes, number, T, False), sizes[WIDTHS + number]
    return space[at : at + m * T].reshape(m, T)


@per_real(FORWARD)
def compiled_forward(net: Net, act: Any, X: Reals, space: Reals, number: int, part: int, parts: int) -> int:
    sizes, numbers, T = net.sizes, net.numbers, X.shape[0]
    if number == 0:
        A, d = layer(sizes, 0, T, space).A, X.shape[1]
        for i in range(T):
            for j in range(d):
                A[j, i] = numbers[1] * X[i, j]
        A[d:] = numbers[0]
        return 0
    W, all_room = weights(net.theta, sizes, number), room(sizes, T, False, space)
    below, m = layer(sizes, number - 1, T, space).A, W.shape[0]
    first, last, own = share(m, all_room, part, parts)
    if number == sizes[3]:
        product(net.calls[0], W[first:last], below, output(sizes, T, space)[first:last], False, own)
        return 0
    here, factor = layer(sizes, number, T, space), numbers[1 + number]
    product(net.calls[0], W[first:last], below, here.D[first:last], False, own)
    if last == m:
        here.A[m:] = numbers[0]
    if sizes[4]:
        H, zero = here.A[first:last].reshape(-1), factor * 0
        for i in range(H.size):
            H[i] = factor * H[i] if H[i] > zero else zero
        return 0
    for j in range(first, last, PASS_NEURONS):
        e = min(last, j + PASS_NEURONS)
        D, H = here.D[j:e].reshape(-1), here.A[j:e].reshape(-1)
        act(D, H, net.phi)
        for i in range(D.size):
            H[i] *= factor
            D[i] *= factor
    return 0


@per_real(BACKWARD)
def compiled_backward(
    net: Net, R: Reals, out: Reals, space: Reals, number: int, what: int, part: int, parts: int
) -> int:
    sizes, T = net.sizes, R.shape[1]
    Delta = R if number == sizes[3] else half(sizes, number, T, space)
    below, all_room = layer(sizes, number - 1, T, space), room(sizes, T, False, space)
    if what != DOWN:
        G = weights(out, sizes, number)
        first, last, own = share(G.shape[0], all_room, part, parts)
        product(net.calls[0], Delta[first:last], below.A.T, G[first:last], what == ADD, own)
        return 0
    W, into, factor = weights(net.theta, sizes, number), half(sizes, number - 1, T, space), net.numbers[number]
    first, last, own = share(into.shape[0], all_room, part, parts)
    product(net.calls[0], W[:, first:last].T, Delta, into[first:last], False, own)
    found, D, zero = into[first:last].reshape(-1), below.D[first:last].reshape(-1), factor * 0
    if sizes[4]:
        for i in range(found.size):
            found[i] = factor * found[i] if D[i] > zero else zero
    else:
        for i in range(found.size):
            found[i] *= D[i]
    return 0
