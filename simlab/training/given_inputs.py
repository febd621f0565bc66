"""Inputs that a user gave: a law of which nothing is known but the dimension, and of which no new sample can be drawn.

It stands where an experiment has its law of the data, so that observables that need to know the law refuse it.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from simlab.core.errors import BadInput
from simlab.data.law import Floats, Law


class GivenInputs(Law):
    """Rows of a matrix X : (n, d)."""

    examples: ClassVar[tuple[dict[str, Any], ...]] = ({"dim": 3},)
    finite: ClassVar[bool] = True
    dim: int = Field(ge=1, description="dimension d of an input")

    def dimension(self) -> int:
        return self.dim

    def sample(self, n: int, rng: np.random.Generator) -> Floats:
        raise BadInput("X is given as rows: there is no law to draw new inputs from")
