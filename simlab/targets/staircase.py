"""The staircase f(x) = z₁ + z₁z₂ + … + z₁…z_K, z = factor·x at K coordinates: leap 1, learned step by step. MATH §9."""

from __future__ import annotations

from typing import Any

import numpy as np
from pydantic import Field

from simlab.core import checks
from simlab.core.errors import BadInput
from simlab.targets.boolean_function import Monomials, OnTheCube, on_the_cube


class Params(OnTheCube):
    steps: int = Field(3, ge=1, le=64, description="number K of monomials, of degrees 1 … K")


EXAMPLES: tuple[dict[str, Any], ...] = ({}, {"steps": 2, "coordinates": "random"}, {"steps": 4, "factor": "unit"})


def draw(params: Params, dim: int, rng: np.random.Generator) -> Monomials:
    if params.steps > checks.draw_from(dim, rng):
        raise BadInput(f"steps = {params.steps}: must be at most the dimension {dim}")
    terms = [tuple(range(k + 1)) for k in range(params.steps)]
    return on_the_cube(params, terms, [1.0] * params.steps, dim, rng)
