"""The class that separates residual nets from kernels: k coordinates and their parity. MATH §9.

    H(x) = F(x) + αG(F(x)),  F(x) = c·(x_{i₁}, …, x_{i_k}),  G(y) = (∏_j y_j) repeated k times,

where i₁ < … < i_k is a random set among the first `free` coordinates. c = √d makes y = ±1 on the cube {±1/√d}^d. There
G(F) = χ_S, S = {i₁, …, i_k}, and E‖H − F‖² = kα². Source: Allen-Zhu & Li, "What can ResNet learn efficiently, going
beyond kernels?", §4.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from simlab.core import checks
from simlab.core.errors import BadInput
from simlab.targets.hierarchy import Alpha, Hierarchy, Terms
from simlab.targets.target import Floats, Target


class Separation(Target):
    """H = F + αG(F): k coordinates and their parity."""

    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {},
        {"size": 2, "alpha": 0.0, "factor": 1.0},
        {"size": 3, "free": 4},
    )
    is_hierarchy: ClassVar[bool] = True
    knows_coordinates: ClassVar[bool] = True

    size: int = Field(3, ge=1, description="number k of coordinates, and of outputs")
    alpha: Alpha = 0.3
    factor: float | None = Field(None, gt=0, description="c; √d by default, for the cube {±1/√d}^d")
    free: int | None = Field(None, ge=1, description="d₁: the coordinates are among the first d₁; all by default")

    def components(self) -> int:
        return self.size

    def check(self, dim: int) -> None:
        dim = checks.dimension(dim)
        free = dim if self.free is None else self.free
        if free > dim:
            raise BadInput(f"free = {free}: must be at most {dim}, the dimension")
        if self.size > free:
            raise BadInput(f"size = {self.size}: must be at most {free}, the number of coordinates to choose from")
        checks.memory(free, f"dim = {dim} and free = {free}")

    def draw(self, dim: int, rng: np.random.Generator) -> Hierarchy:
        dim = self.checked(dim, rng)
        free = dim if self.free is None else self.free
        chosen = np.sort(rng.permutation(free)[: self.size])
        factor = np.sqrt(dim) if self.factor is None else self.factor
        k = self.size

        def inner(X: Floats) -> Floats:
            return np.asarray(factor * X[:, chosen])

        def outer(Y: Floats) -> Floats:
            return np.repeat(np.prod(Y, axis=1, keepdims=True), k, axis=1)

        def walsh(scale: float) -> Terms:
            terms: Terms = {(int(i),): factor * scale * row for i, row in zip(chosen, np.eye(k), strict=True)}
            parity = tuple(int(i) for i in chosen)  # for k = 1 the same function as F: the two add up
            terms[parity] = terms.get(parity, np.zeros(k)) + self.alpha * (factor * scale) ** k
            return terms

        return Hierarchy(inner, outer, self.alpha, dim, chosen, walsh)
