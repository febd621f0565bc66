"""A teacher of k ReLU neurons on the unit sphere with random signs: f*(x) = Σ_j s_j relu(v_j·x). MATH §6."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from simlab.core.params import Params as Base


class Params(Base):
    neurons: int = Field(3, ge=1, description="number k of neurons")


def draw(params: Params, dim: int, rng: np.random.Generator) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
    v = rng.standard_normal((params.neurons, dim))
    v /= np.linalg.norm(v, axis=1, keepdims=True)
    signs = rng.choice([-1.0, 1.0], size=params.neurons)

    def target(X: NDArray[np.float64]) -> NDArray[np.float64]:
        values: NDArray[np.float64] = np.maximum(X @ v.T, 0.0) @ signs
        return values

    return target
