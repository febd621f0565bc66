"""The compiled loops of `resnet3`: f, ∇R, J v and Jᵀ R, in tiles of rows. MATH §9.

For a tile of t rows X_t, neurons being the rows of every matrix (m, t), with D₁ = φ'(Z₁), D₂ = φ'(Z₂):

    Z₁ = W X_tᵀ + b₁,  H₁ = φ(Z₁),  S = A H₁,      Z₂ = V S + b₂  (factored)  or  U H₁ + b₂  (full),  H₂ = φ(Z₂)
    f = c S + A H₂     (c = 1 with the skip connection, 0 without; of two layers f = S)

and backwards, R (k, t) being ∂/∂f,

    G₂ = (Aᵀ R) ⊙ D₂,  ∂b₂ = G₂ 1,     ∂V = G₂ Sᵀ  or  ∂U = G₂ H₁ᵀ
    G₁ = (Aᵀ (c R + Vᵀ G₂)) ⊙ D₁  or  (c Aᵀ R + Uᵀ G₂) ⊙ D₁,  ∂b₁ = G₁ 1,  ∂W = G₁ X_t:

a factored step costs some 6m(d + 4k) flops a row, a full one some 6m². θ = (W, b₁, V or U, b₂, A). The tiles:
`_resnet_factored`, which has two layers as well, and `_resnet_full`.
sizes = (m, d, k, layers, skip, full, 1 if W is trained, 1 if V or U is). One thread: a sweep runs a net a core.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from simlab.core.jit import jit, per_real
from simlab.networks import _resnet_factored as factored
from simlab.networks import _resnet_full as full
from simlab.networks._signature import GRADIENT, PULL, PUSH, VALUE

Floats = NDArray[Any]
Sizes = NDArray[np.int64]

KEPT = 1 << 22
TALLEST, LOWEST = 128, 16


@jit
def _rows(sizes: Sizes, n: int) -> int:
    """The most rows of a tile: four matrices (m, t) fit into `KEPT` floats."""
    return int(max(1, min(n, max(LOWEST, min(TALLEST, KEPT // (4 * sizes[0]))))))


@jit
def scratch_size(sizes: Sizes, n: int) -> int:
    rows = _rows(sizes, n)
    return full.scratch_size(sizes, rows) if sizes[5] else factored.scratch_size(sizes, rows)


@jit
def _outputs(scratch: Floats, t: int, sizes: Sizes) -> Floats:
    """Where a tile has f, or J v, or R : (k, t)"""
    return full.outputs(scratch, t, sizes) if sizes[5] else factored.outputs(scratch, t, sizes)


@jit
def _layers(act: Any, a: Floats, theta: Floats, Xt: Floats, sizes: Sizes, scratch: Floats) -> None:
    """Fill the tile, up to f."""
    if sizes[5]:
        full.layers(act, a, theta, Xt, sizes, scratch)
    else:
        factored.layers(act, a, theta, Xt, sizes, scratch)


@jit
def _backwards(theta: Floats, Xt: Floats, sizes: Sizes, out: Floats, add: bool, scratch: Floats) -> None:
    """Σ_i J_iᵀ R_i into `out`."""
    if sizes[5]:
        full.backwards(theta, Xt, sizes, out, add, scratch)
    else:
        factored.backwards(theta, Xt.shape[0], sizes, out, add, scratch)


@per_real(VALUE)
def value(
    act: Any, a: Floats, theta: Floats, X: Floats, sizes: Sizes, numbers: Floats, out: Floats, scratch: Floats
) -> None:
    n = X.shape[0]
    rows = _rows(sizes, n)
    for begin in range(0, n, rows):
        Xt = X[begin : min(n, begin + rows)]
        _layers(act, a, theta, Xt, sizes, scratch)
        out[begin : begin + Xt.shape[0]] = _outputs(scratch, Xt.shape[0], sizes).T


@per_real(GRADIENT)
def gradient(
    act: Any,
    a: Floats,
    theta: Floats,
    X: Floats,
    y: Floats,
    alpha: float,
    sizes: Sizes,
    numbers: Floats,
    out: Floats,
    scratch: Floats,
) -> float:
    n = X.shape[0]
    rows = _rows(sizes, n)
    total = 0.0
    for begin in range(0, n, rows):
        Xt = X[begin : min(n, begin + rows)]
        _layers(act, a, theta, Xt, sizes, scratch)
        f = _outputs(scratch, Xt.shape[0], sizes)
        for c in range(f.shape[0]):
            for i in range(f.shape[1]):
                residual = alpha * f[c, i] - y[begin + i, c]
                total += np.float64(residual) * np.float64(residual)
                f[c, i] = residual * (alpha / n)
        _backwards(theta, Xt, sizes, out, begin > 0, scratch)
    return float(total / (2 * n))


@per_real(PULL)
def pull(
    act: Any,
    a: Floats,
    theta: Floats,
    R: Floats,
    X: Floats,
    sizes: Sizes,
    numbers: Floats,
    out: Floats,
    scratch: Floats,
) -> None:
    n = X.shape[0]
    rows = _rows(sizes, n)
    for begin in range(0, n, rows):
        Xt = X[begin : min(n, begin + rows)]
        _layers(act, a, theta, Xt, sizes, scratch)
        _outputs(scratch, Xt.shape[0], sizes)[:] = R[begin : begin + Xt.shape[0]].T
        _backwards(theta, Xt, sizes, out, begin > 0, scratch)


@per_real(PUSH)
def push(
    act: Any,
    a: Floats,
    theta: Floats,
    v: Floats,
    X: Floats,
    sizes: Sizes,
    numbers: Floats,
    out: Floats,
    scratch: Floats,
) -> None:
    n = X.shape[0]
    rows = _rows(sizes, n)
    for begin in range(0, n, rows):
        Xt = X[begin : min(n, begin + rows)]
        _layers(act, a, theta, Xt, sizes, scratch)
        if sizes[5]:
            full.tangent(theta, v, Xt, sizes, scratch)
        else:
            factored.tangent(theta, v, Xt.shape[0], sizes, scratch)
        out[begin : begin + Xt.shape[0]] = _outputs(scratch, Xt.shape[0], sizes).T
