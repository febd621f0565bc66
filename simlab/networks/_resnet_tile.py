"""What both kinds of tile of `resnet3` share: the equations, the weights, and how many rows a tile has. MATH §9.

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
- numbers: not used.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simlab.core.jit import jit
from simlab.networks.signature import Reals
from simlab.networks.skeleton import fitting_rows

Sizes = NDArray[np.int64]
MOST_ROWS = 128


class Weights(NamedTuple):
    """W (m, d), b₁ (m,), V (m, k) or U (m, m), b₂ (m,), A (k, m); of two layers V and b₂ are empty."""

    W: Reals
    b1: Reals
    V: Reals
    b2: Reals
    A: Reals


@jit
def weights(theta: Reals, sizes: Sizes) -> Weights:
    """The matrices that θ, or a vector like it, holds."""
    m, d, k, layers, _, full = sizes[:6]
    inner = 0 if layers == 2 else m if full else k
    at = m * d
    W, b1 = theta[:at].reshape(m, d), theta[at : at + m]
    at += m
    V, b2 = theta[at : at + m * inner].reshape(m, inner), theta[at + m * inner : at + m * inner + (layers - 2) * m]
    return Weights(W, b1, V, b2, theta[theta.size - k * m :].reshape(k, m))


@jit
def rows_within(sizes: Sizes, n: int) -> int:
    """Rows of a tile, which has four matrices (m, t)."""
    return int(max(1, min(n, fitting_rows(4 * sizes[0], MOST_ROWS))))
