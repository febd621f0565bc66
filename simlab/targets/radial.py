"""Any profile of the radius: piecewise linear through (knots, values), constant before the first, beyond the last.

The kind is `simlab.targets.radial.Radial`; `simlab.targets.Radial` is the function that it draws.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field, model_validator

from simlab.core.parsing import AsTuple
from simlab.targets import radial_function
from simlab.targets.target import Target


class Radial(Target):
    """g(x) = profile(‖x‖), piecewise linear."""

    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {"knots": [0.0, 1.0, 2.5, 4.0], "values": [1.0, 0.0, -0.5, 0.25]},
        {"knots": [2.0], "values": [3.0]},
    )
    is_radial: ClassVar[bool] = True

    knots: Annotated[tuple[float, ...], AsTuple] = Field(min_length=1, description="radii, increasing")
    values: Annotated[tuple[float, ...], AsTuple] = Field(min_length=1, description="values of the function at them")

    @model_validator(mode="after")
    def _a_profile(self) -> Radial:
        if len(self.values) != len(self.knots):
            raise ValueError(f"values has {len(self.values)} entries: must have one per knot, {len(self.knots)}")
        if self.knots[0] < 0 or np.any(np.diff(self.knots) <= 0) or self.knots[-1] == 0:
            raise ValueError(f"knots = {list(self.knots)}: must be radii, increasing, the last greater than 0")
        return self

    def break_radii(self) -> tuple[float, ...]:
        return tuple(knot for knot in self.knots if knot > 0)

    def draw(self, dim: int, rng: np.random.Generator) -> radial_function.Radial:
        self.checked(dim, rng)
        return radial_function.Radial(lambda r: np.interp(r, self.knots, self.values), self.break_radii())
