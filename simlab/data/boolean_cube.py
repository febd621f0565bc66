"""The uniform law on the cube {±s}^d, alone or beside another law: Unif({±s}^{d₁}) × D₂. MATH §4, §9.

``scale = "unit"`` is s = 1/√d, d the number of all coordinates together, so that the cube {±s}^d lies on the unit
sphere. Where `rest` is a cube with that scale as well, it has the same s.
"""

from __future__ import annotations

from math import sqrt
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field, field_validator

from simlab.core import checks
from simlab.core.fields import number_or
from simlab.data.law import Floats, Law


class BooleanCube(Law):
    """x = (±s, …, ±s), signs independent and fair; `rest` draws the coordinates that follow."""

    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {"dim": 10},
        {"dim": 4, "scale": 0.5},
        {"dim": 5, "scale": "unit", "rest": {"kind": "gaussian", "dim": 3, "scale": 0.2}},
    )
    is_cube: ClassVar[bool] = True

    dim: int = Field(ge=1, description="dimension of the cube: d, or d₁ beside `rest`")
    scale: Annotated[float | Literal["unit"], number_or("unit", meaning=" for 1/√d")] = Field(
        1.0, description='size s of a coordinate; "unit": 1/√d, which puts the cube on the unit sphere'
    )
    rest: Law | None = Field(None, description="law D₂ of the coordinates that follow, independent; none by default")

    @field_validator("rest")
    @classmethod
    def _has_moments(cls, value: Law | None) -> Law | None:
        if value is not None and value.finite:
            raise ValueError(f"{value.kind} has a fixed number of rows: must be a law, such as gaussian")
        if value is not None and value.heavy_tail:
            raise ValueError(f"{value.kind} has no mean: must be a law with moments, such as gaussian")
        return value

    def dimension(self) -> int:
        return self.dim if self.rest is None else self.dim + self.rest.dimension()

    def cube_dimension(self) -> int:
        return self.dim

    def coordinate_size(self) -> float:
        return self._size_among(self.dimension())

    def _size_among(self, total: int) -> float:
        """s, where there are `total` coordinates."""
        return 1.0 / sqrt(total) if self.scale == "unit" else self.scale

    def together(self) -> bool:
        return self.rest is not None and self.rest.together()

    def sample(self, n: int, rng: np.random.Generator) -> Floats:
        dim = self.dimension()
        return self._sample_among(checks.sample(n, rng, 2 * dim), rng, dim)

    def _sample_among(self, n: int, rng: np.random.Generator, total: int) -> Floats:
        s = self._size_among(total)
        if self.rest is None:
            bits = rng.integers(0, 2, size=(n, self.dim))
            return np.asarray(s * (2.0 * bits - 1.0))
        # A generator of its own, seeded before anything is drawn: otherwise the rest of a row would depend on n.
        own = np.random.default_rng(rng.integers(0, 1 << 32, size=4))
        X = np.empty((n, self.dimension()))
        X[:, : self.dim] = s * (2.0 * rng.integers(0, 2, size=(n, self.dim)) - 1.0)
        if isinstance(self.rest, BooleanCube):
            X[:, self.dim :] = self.rest._sample_among(n, own, total)
        else:
            X[:, self.dim :] = self.rest.sample(n, own)
        return X
