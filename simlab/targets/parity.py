"""Sparse parity f(x) = ∏_{i∈S} z_i over k of the d coordinates, at random, z = factor·x: of leap k. MATH §9."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from pydantic import Field

from simlab.core import checks
from simlab.core.errors import BadInput
from simlab.targets.boolean_function import Monomials, OnTheCube, on_the_cube


class Params(OnTheCube):
    degree: int = Field(3, ge=1, description="number k of coordinates")
    coordinates: Literal["first", "random"] = Field("random", description="which of the d coordinates: first or random")


EXAMPLES: tuple[dict[str, Any], ...] = ({}, {"degree": 2, "factor": "unit"}, {"degree": 4, "coordinates": "first"})


def draw(params: Params, dim: int, rng: np.random.Generator) -> Monomials:
    if params.degree > checks.draw_from(dim, rng):
        raise BadInput(f"degree = {params.degree}: must be at most the dimension {dim}")
    return on_the_cube(params, [tuple(range(params.degree))], [1.0], dim, rng)
