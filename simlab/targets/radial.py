"""Any profile of the radius: piecewise linear through (knots, values), constant before the first, beyond the last."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field, model_validator

from simlab.core import checks
from simlab.core.params import AsTuple
from simlab.core.params import Params as Base
from simlab.targets.radial_function import Radial


class Params(Base):
    knots: Annotated[tuple[float, ...], AsTuple] = Field(min_length=1, description="radii, increasing")
    values: Annotated[tuple[float, ...], AsTuple] = Field(min_length=1, description="values of the function at them")

    @model_validator(mode="after")
    def _a_profile(self) -> Params:
        if len(self.values) != len(self.knots):
            raise ValueError(f"values has {len(self.values)} entries: must have one a knot, {len(self.knots)}")
        if self.knots[0] < 0 or np.any(np.diff(self.knots) <= 0) or self.knots[-1] == 0:
            raise ValueError(f"knots = {list(self.knots)}: must be radii, increasing, the last greater than 0")
        return self


EXAMPLES = ({"knots": [0.0, 1.0, 2.5, 4.0], "values": [1.0, 0.0, -0.5, 0.25]}, {"knots": [2.0], "values": [3.0]})


def draw(params: Params, dim: int, rng: np.random.Generator) -> Radial:
    checks.draw_from(dim, rng)
    breaks = tuple(knot for knot in params.knots if knot > 0)
    return Radial(lambda r: np.interp(r, params.knots, params.values), breaks)
