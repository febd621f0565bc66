"""Inputs that a user gave, as a law of the data: only the dimension is known, and no new sample can be drawn.

An experiment needs a law; this one takes its place. Observables that need to know the law refuse it.
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
