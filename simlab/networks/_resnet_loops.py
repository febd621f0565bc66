"""The compiled loops of `resnet3`: f, ∇R, J v and Jᵀ R, in tiles of rows. MATH §9.

For a tile of t rows X_t, neurons being the rows of every matrix (m, t), with D₁ = φ'(Z₁), D₂ = φ'(Z₂):

    Z₁ = W X_tᵀ + b₁,  H₁ = φ(Z₁),  S = A H₁,      Z₂ = V S + b₂  (factored)  or  U H₁ + b₂  (full),  H₂ = φ(Z₂)
    f = c S + A H₂     (c = 1 with the skip connection, 0 without; of two layers f = S)

and backwards, R (k, t) being ∂/∂f,

    G₂ = (Aᵀ R) ⊙ D₂,  ∂b₂ = G₂ 1,     ∂V = G₂ Sᵀ  or  ∂U = G₂ H₁ᵀ
    G₁ = (Aᵀ (c R + Vᵀ G₂)) ⊙ D₁  or  (c Aᵀ R + Uᵀ G₂) ⊙ D₁,  ∂b₁ = G₁ 1,  ∂W = G₁ X_t:

a factored step costs some 6m(d + 4k) flops per row, a full one some 6m². What is done to one tile is in
`_resnet_factored`, for two layers too, and in `_resnet_full`. Packed arguments (one thread: a sweep runs one network
per core):

- theta: W (m, d) | b₁ (m,) | V (m, k) or U (m, m) | b₂ (m,) | A (k, m); of two layers W | b₁ | A;
- sizes: (m, d, k, layers: 2 or 3, 1 with the skip, 1 if full, 1 if W is trained, 1 if V or U is trained);
- numbers: not used;
- scratch: one tile, as the files of the tiles say.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simlab.core.jit import PerReal, jit, per_real
from simlab.networks import _resnet_factored, _resnet_full
from simlab.networks.signature import GRADIENT, PULL, PUSH, VALUE

Reals = NDArray[Any]
Sizes = NDArray[np.int64]

TILE_FLOATS = 1 << 22
MOST_ROWS, LEAST_ROWS = 128, 16


@jit
def _rows(sizes: Sizes, n: int) -> int:
    """Rows of a tile: as many as four matrices (m, t) fit into `TILE_FLOATS`."""
    return int(max(1, min(n, max(LEAST_ROWS, min(MOST_ROWS, TILE_FLOATS // (4 * sizes[0]))))))


class Compiled(NamedTuple):
    """The loops over one kind of tile, and the floats of scratch space that they need: (sizes, n) → floats."""

    value: PerReal
    gradient: PerReal
    push: PerReal
    pull: PerReal
    scratch_size: Callable[[Sizes, int], int]


def _loops_over(tile: Any, name: str) -> Compiled:
    """The loops over one kind of tile. Compiled apart, so that a network does not wait for the other kind.

    tile: module with `layers`, `outputs`, `backwards`, `tangent` and `scratch_size`.
    name: name for numba's cache.
    """
    layers, outputs, backwards, tangent = tile.layers, tile.outputs, tile.backwards, tile.tangent

    @per_real(VALUE, named=name)
    def value(
        act: Any, a: Reals, theta: Reals, X: Reals, sizes: Sizes, numbers: Reals, out: Reals, scratch: Reals
    ) -> None:
        n = X.shape[0]
        rows = _rows(sizes, n)
        for begin in range(0, n, rows):
            Xt = X[begin : min(n, begin + rows)]
            layers(act, a, theta, Xt, sizes, scratch)
            f = outputs(scratch, Xt.shape[0], sizes)
            for i in range(f.shape[1]):
                for c in range(f.shape[0]):
                    out[begin + i, c] = f[c, i]

    @per_real(GRADIENT, named=name)
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
        n = X.shape[0]
        rows = _rows(sizes, n)
        total = 0.0
        for begin in range(0, n, rows):
            Xt = X[begin : min(n, begin + rows)]
            layers(act, a, theta, Xt, sizes, scratch)
            f = outputs(scratch, Xt.shape[0], sizes)
            for c in range(f.shape[0]):
                for i in range(f.shape[1]):
                    residual = alpha * f[c, i] - y[begin + i, c]
                    total += np.float64(residual) * np.float64(residual)
                    f[c, i] = residual * (alpha / n)
            backwards(theta, Xt, sizes, out, begin > 0, scratch)
        return float(total / (2 * n))

    @per_real(PULL, named=name)
    def pull(
        act: Any, a: Reals, theta: Reals, R: Reals, X: Reals, sizes: Sizes, numbers: Reals, out: Reals, scratch: Reals
    ) -> None:
        n = X.shape[0]
        rows = _rows(sizes, n)
        for begin in range(0, n, rows):
            Xt = X[begin : min(n, begin + rows)]
            layers(act, a, theta, Xt, sizes, scratch)
            f = outputs(scratch, Xt.shape[0], sizes)
            for c in range(f.shape[0]):
                for i in range(f.shape[1]):
                    f[c, i] = R[begin + i, c]
            backwards(theta, Xt, sizes, out, begin > 0, scratch)

    @per_real(PUSH, named=name)
    def push(
        act: Any, a: Reals, theta: Reals, v: Reals, X: Reals, sizes: Sizes, numbers: Reals, out: Reals, scratch: Reals
    ) -> None:
        n = X.shape[0]
        rows = _rows(sizes, n)
        for begin in range(0, n, rows):
            Xt = X[begin : min(n, begin + rows)]
            layers(act, a, theta, Xt, sizes, scratch)
            tangent(theta, v, Xt, sizes, scratch)
            f = outputs(scratch, Xt.shape[0], sizes)
            for i in range(f.shape[1]):
                for c in range(f.shape[0]):
                    out[begin + i, c] = f[c, i]

    def scratch_size(sizes: Sizes, n: int) -> int:
        return int(tile.scratch_size(sizes, _rows(sizes, n)))

    return Compiled(value, gradient, push, pull, scratch_size)


FACTORED, FULL = _loops_over(_resnet_factored, "factored"), _loops_over(_resnet_full, "full")
