"""The class that separates residual nets from kernels: k coordinates and their parity. MATH §9.

    H(x) = F(x) + αG(F(x)),  F(x) = c·(x_{i₁}, …, x_{i_k}),  G(y) = (∏_j y_j) repeated k times,

i₁ < … < i_k a random set among the first `free` coordinates; c = √d, which makes y = ±1 on the cube {±1/√d}^d. There
G(F) = χ_S, S = {i₁, …, i_k}, and E‖H − F‖² = kα². Source: Allen-Zhu & Li, "What can ResNet learn efficiently, going
beyond kernels?", §4.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from simlab.core import checks
from simlab.core.errors import BadInput
from simlab.core.params import Params as Base
from simlab.targets.hierarchy import Alpha, Hierarchy, Terms

Floats = NDArray[np.float64]


class Params(Base):
    size: int = Field(3, ge=1, description="number k of coordinates, and of outputs")
    alpha: Alpha = 0.3
    factor: float | None = Field(None, gt=0, description="c; √d by default, for the cube {±1/√d}^d")
    free: int | None = Field(None, ge=1, description="d₁: the coordinates are among the first d₁; all by default")


EXAMPLES: tuple[dict[str, Any], ...] = ({}, {"size": 2, "alpha": 0.0, "factor": 1.0}, {"size": 3, "free": 4})


def outputs(params: Params) -> int:
    return params.size


def draw(params: Params, dim: int, rng: np.random.Generator) -> Hierarchy:
    dim = checks.draw_from(dim, rng)
    free = dim if params.free is None else params.free
    if free > dim:
        raise BadInput(f"free = {free}: must be at most {dim}, the dimension")
    if params.size > free:
        raise BadInput(f"size = {params.size}: must be at most {free}, the number of coordinates to choose from")
    chosen = np.sort(rng.permutation(free)[: params.size])
    factor = np.sqrt(dim) if params.factor is None else params.factor
    k = params.size

    def inner(X: Floats) -> Floats:
        return np.asarray(factor * X[:, chosen])

    def outer(Y: Floats) -> Floats:
        return np.repeat(np.prod(Y, axis=1, keepdims=True), k, axis=1)

    def walsh(scale: float) -> Terms:
        terms: Terms = {(int(i),): factor * scale * row for i, row in zip(chosen, np.eye(k), strict=True)}
        parity = tuple(int(i) for i in chosen)  # for k = 1 the same function as F: the two add up
        terms[parity] = terms.get(parity, np.zeros(k)) + params.alpha * (factor * scale) ** k
        return terms

    return Hierarchy(inner, outer, params.alpha, dim, chosen, walsh)
