"""The two-layer ReLU network f(x) = s Σ_{j≤m} a_j relu(w_j·x), both layers trained. MATH §6.

s = 1/√m ("ntk": a limit where training is linear) or 1/m ("mean_field"). θ = (a, W), W : (m, d) row by row;
every entry of a and W starts from N(0, 1).

Gradient of L = (1/2n) Σ (f−y)², with Z = W Xᵀ (m, n), H = relu(Z) and r = (f−y)/n:
∂L/∂a = s H r,  ∂L/∂W = s (a ⊗ r ⊙ 1{Z>0}) X.
Tangent kernel: K = s² [Hᵀ H + (X Xᵀ) ⊙ (D^T diag(a²) D)], D = 1{Z>0}.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from simlab.core.jit import jit
from simlab.core.params import Params as Base
from simlab.networks._signature import GRADIENT

Floats = NDArray[np.float64]


class Params(Base):
    width: int = Field(ge=1, description="number m of neurons")
    scaling: Literal["ntk", "mean_field"] = Field("ntk", description="output scale: 1/√m or 1/m")


EXAMPLES = ({"width": 7}, {"width": 4, "scaling": "mean_field"})


def initialise(params: Params, dim: int, rng: np.random.Generator) -> Floats:
    """θ : (m + m d,)"""
    return rng.standard_normal(params.width * (dim + 1))


def sizes(params: Params, dim: int) -> NDArray[np.int64]:
    return np.array([params.width, dim], dtype=np.int64)


def output_scale(params: Params) -> float:
    return params.width**-0.5 if params.scaling == "ntk" else 1.0 / params.width


def scratch_size(params: Params, dim: int, n: int) -> int:
    return 2 * params.width * n + n


@jit(signatures=[GRADIENT])
def gradient(
    theta: Floats, X: Floats, y: Floats, sizes: NDArray[np.int64], scale: float, out: Floats, scratch: Floats
) -> float:
    m, d = sizes
    n = X.shape[0]
    a, W = theta[:m], theta[m:].reshape(m, d)
    Z = scratch[: m * n].reshape(m, n)
    H = scratch[m * n : 2 * m * n].reshape(m, n)
    r = scratch[2 * m * n :]
    np.dot(W, X.T, Z)
    r[:] = 0.0
    for j in range(m):
        for i in range(n):
            H[j, i] = max(Z[j, i], 0.0)
            r[i] += a[j] * H[j, i]
    loss = 0.0
    for i in range(n):
        residual = scale * r[i] - y[i]
        loss += residual * residual
        r[i] = residual * scale / n
    np.dot(H, r, out[:m])
    for j in range(m):
        for i in range(n):
            Z[j, i] = a[j] * r[i] if Z[j, i] > 0.0 else 0.0
    np.dot(Z, X, out[m:].reshape(m, d))
    return float(loss / (2 * n))


def forward(params: Params, theta: Floats, X: Floats) -> Floats:
    """f : (n,)"""
    a, W = theta[: params.width], theta[params.width :].reshape(params.width, -1)
    f: Floats = output_scale(params) * (np.maximum(X @ W.T, 0.0) @ a)
    return f


def tangent_gram(params: Params, theta: Floats, X: Floats) -> Floats:
    """K : (n, n)"""
    a, W = theta[: params.width], theta[params.width :].reshape(params.width, -1)
    Z = X @ W.T
    H = np.maximum(Z, 0.0)
    D = np.where(Z > 0.0, a, 0.0)
    K: Floats = output_scale(params) ** 2 * (H @ H.T + (X @ X.T) * (D @ D.T))
    return K
