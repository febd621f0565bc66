"""Values that a user gave, as a target: it is known at the given inputs and nowhere else.

An experiment needs a target; this one takes its place. Observables that need to know the function refuse it.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from simlab.core.errors import BadInput
from simlab.targets.target import Floats, Function, Target, ValueKind

KINDS: dict[str, ValueKind] = {"real": "real", "signs": "signs", "classes": "one_hot"}
"""Labels of a loss → what its encoded labels are."""


class GivenValues(Target):
    """Values y : (n,), or (n, c) with c > 1."""

    examples: ClassVar[tuple[dict[str, Any], ...]] = ({}, {"columns": 2})
    columns: int = Field(1, ge=1, description="number c of values per input")
    labels: Literal["real", "signs", "classes"] = Field("real", description="what the values are, checked before")

    def value_kind(self) -> ValueKind:
        return KINDS[self.labels]

    def components(self) -> int | None:
        return None if self.columns == 1 else self.columns

    def draw(self, dim: int, rng: np.random.Generator) -> Function:
        def unknown(X: Floats) -> Floats:
            raise BadInput("y is given as values: the function is known at the rows of X alone")

        return unknown
