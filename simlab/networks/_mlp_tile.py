"""A tile of a fully connected net: f, J v and Jᵀ R. MATH §6. What each function does: `simlab.networks.skeleton.Tile`.

    Z^ℓ = W^ℓ Ã^{ℓ−1},   Ã^ℓ = (s_ℓ φ(Z^ℓ); b),   Ã⁰ = (s_0 Xᵀ; b),   f = Z^L        (ℓ = 1 … L, s and b: factors)
    backwards  Δ^{ℓ−1} = s_{ℓ−1} φ'(Z^{ℓ−1}) ⊙ (W^ℓᵀ Δ^ℓ),   Δ^L = Rᵀ,   Σ_i J_iᵀ R_i = (Δ^ℓ Ã^{ℓ−1}ᵀ)_ℓ
    forwards   Ż^ℓ = V^ℓ Ã^{ℓ−1} + W^ℓ (s_{ℓ−1} φ'(Z^{ℓ−1}) ⊙ Ż^{ℓ−1}; 0),   J v = Ż^L,   v = (V¹, …, V^L)

Two layouts compute them: `_mlp_columns` with one column per row of X, and `_mlp_rows`, for many rows of a wide ReLU
net, which skips zeros. Bits depend neither on the layout nor on how neurons and rows are divided: each entry of a
product is one sum. Packed arguments:

- theta: W¹ | … | W^L, W^ℓ : (m_ℓ, m_{ℓ−1} + 1 with a bias), row by row;
- sizes: (T at most, 1 with a bias else 0, neurons of the widest layer and its bias, L, 1 if φ is ReLU else 0, d, m_1,
  …, m_{L−1}, c);
- numbers: (b, s_0, …, s_{L−1});
- calls: `CALLS`;
- space: `_mlp_parts`.
"""

from __future__ import annotations

from typing import Any

from simlab.core import gemm, skipping
from simlab.core.gemm import product
from simlab.core.jit import jit
from simlab.core.lines import LINE_FLOATS, aligned
from simlab.networks import _mlp_columns, _mlp_parts, _mlp_rows
from simlab.networks._mlp_parts import ADD, DOWN, SET, Sizes, backward, forward, output, room, weights
from simlab.networks.signature import Net, Reals
from simlab.networks.skeleton import Into, Tile, loops_over, stored_rows

MOST_ROWS = 1024
CALLS = (
    gemm.compiled_product,
    skipping.compiled_product,
    _mlp_columns.compiled_forward,
    _mlp_columns.compiled_backward,
    _mlp_rows.compiled_forward,
    _mlp_rows.compiled_backward,
)


@jit
def space_size(sizes: Sizes, t: int) -> int:
    by_rows = _mlp_parts.space_size(sizes, t, True) if _mlp_rows.skips(sizes, t) else 0
    return int(max(_mlp_parts.space_size(sizes, t, False), by_rows) + LINE_FLOATS)


@jit
def _forwards(call: int, act: Any, net: Net, X: Reals, space: Reals) -> Reals:
    """f, by the layout whose function has this address."""
    for number in range(net.sizes[3] + 1):
        forward(call, act, net, X, space, number)
    return output(net.sizes, X.shape[0], space)


@jit
def forwards(act: Any, net: Net, known: int, X: Reals, space: Reals) -> Reals:
    return _forwards(net.calls[4 if _mlp_rows.skips(net.sizes, X.shape[0]) else 2], act, net, X, aligned(space))


@jit
def backwards(net: Net, known: int, X: Reals, R: Reals, into: Into, add: bool, space: Reals) -> None:
    call, tile = net.calls[5 if _mlp_rows.skips(net.sizes, X.shape[0]) else 3], aligned(space)
    for number in range(net.sizes[3], 0, -1):
        if number > 1:  # before the gradient, which may be added to W itself
            backward(call, net, R, into.out, tile, number, DOWN)
        backward(call, net, R, into.out, tile, number, ADD if add else SET)


@jit
def pushed(act: Any, net: Net, known: int, v: Reals, X: Reals, space: Reals) -> Reals:
    if v.size == 0:
        return forwards(act, net, known, X, space)
    sizes, T, tile = net.sizes, X.shape[0], aligned(space)
    f = _forwards(net.calls[2], act, net, X, tile)
    bias, depth, own = sizes[1], sizes[3], room(sizes, T, False, tile)
    for number in range(1, depth + 1):
        W, below = weights(net.theta, sizes, number), _mlp_columns.layer(sizes, number - 1, T, tile)
        Z = f if number == depth else _mlp_columns.half(sizes, number, T, tile)
        product(net.calls[0], weights(v, sizes, number), below.A, Z, False, own)
        if number > 1:
            tangent = _mlp_columns.half(sizes, number - 1, T, tile)
            product(net.calls[0], W[:, : W.shape[1] - bias], tangent, Z, True, own)
        if number < depth:
            D, factor, zero = _mlp_columns.layer(sizes, number, T, tile).D, net.numbers[1 + number], net.numbers[0] * 0
            for j in range(Z.shape[0]):
                for i in range(T):
                    Z[j, i] *= (factor if D[j, i] > zero else zero) if sizes[4] else D[j, i]
    return f


# Tiles of J v and of Jᵀ R are the same rows: a deep net can be chaotic, and rounding differs with the number of rows.
LOOPS = loops_over(Tile(forwards, backwards, pushed, stored_rows, space_size, in_place=True, calls=CALLS), "mlp")
