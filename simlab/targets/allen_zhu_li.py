"""The target of Allen-Zhu and Li's experiment: products of pairs, and products of groups of those. MATH §9.

    F(x) = c²·(x₁x₂, x₃x₄, …) ∈ R^p,  G(y)_r = ∏ of the y's of r's group,  H = F + αG(F),

A group is g successive pairs: with p = 8 and g = 4, G is y₁y₂y₃y₄ four times and y₅y₆y₇y₈ four times. c is the factor
of x, 1 for x ∈ {±1}^d. Nothing is random. Source: "What can ResNet learn efficiently, going beyond kernels?", §6.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from pydantic import Field, model_validator

from simlab.core import checks
from simlab.core.errors import BadInput
from simlab.targets.hierarchy import Alpha, Hierarchy, Terms
from simlab.targets.target import Floats, Target


class AllenZhuLi(Target):
    """H = F + αG(F) of products of pairs of coordinates."""

    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {"pairs": 2, "group": 2},
        {"pairs": 2, "group": 1, "alpha": 0.0},
    )
    is_hierarchy: ClassVar[bool] = True
    knows_coordinates: ClassVar[bool] = True

    pairs: int = Field(8, ge=1, description="number p of pairs, and of outputs")
    group: int = Field(4, ge=1, description="number g of pairs that G multiplies; divides p")
    alpha: Alpha = 0.3
    factor: float = Field(1.0, gt=0, description="factor c of x: 1 for x of ±1")

    @model_validator(mode="after")
    def _whole_groups(self) -> AllenZhuLi:
        if self.pairs % self.group:
            raise ValueError(f"group = {self.group}: must divide pairs = {self.pairs}")
        return self

    def components(self) -> int:
        return self.pairs

    def check(self, dim: int) -> None:
        if 2 * self.pairs > checks.dimension(dim):
            raise BadInput(f"pairs = {self.pairs}: must be at most {dim // 2}, half the dimension {dim}")
        checks.memory(2 * self.pairs, f"pairs = {self.pairs}")

    def draw(self, dim: int, rng: np.random.Generator) -> Hierarchy:
        p, g, dim = self.pairs, self.group, self.checked(dim, rng)
        square = self.factor**2

        def inner(X: Floats) -> Floats:
            return np.asarray(square * X[:, 0 : 2 * p : 2] * X[:, 1 : 2 * p : 2])

        def outer(Y: Floats) -> Floats:
            return np.repeat(np.prod(Y.reshape(len(Y), p // g, g), axis=2), g, axis=1)

        def walsh(scale: float) -> Terms:
            size = square * scale**2
            terms: Terms = {(2 * r, 2 * r + 1): size * row for r, row in enumerate(np.eye(p))}
            for first in range(0, p, g):
                group, c = tuple(range(2 * first, 2 * (first + g))), np.zeros(p)
                c[first : first + g] = self.alpha * size**g
                terms[group] = terms.get(group, np.zeros(p)) + c
            return terms

        return Hierarchy(inner, outer, self.alpha, dim, np.arange(2 * p), walsh)
