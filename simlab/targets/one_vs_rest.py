"""Some classes of a stored set against the others: y = +1 for rows of a class in `positive`, −1 for all others."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, field_validator

from simlab.core.errors import BadInput, shown
from simlab.core.parsing import AsTuple
from simlab.targets._of_labels import OfLabels, checked_labels
from simlab.targets.target import Floats


class OneVsRest(OfLabels):
    """y = ±1."""

    examples: ClassVar[tuple[dict[str, Any], ...]] = ({"positive": [1]}, {"positive": [0, 2, 4, 6, 8]})

    positive: Annotated[tuple[int, ...], AsTuple] = Field(min_length=1, description="classes whose value is +1")

    @field_validator("positive")
    @classmethod
    def _each_once(cls, positive: tuple[int, ...]) -> tuple[int, ...]:
        if min(positive) < 0:
            raise ValueError(f"{min(positive)} is no class: must be 0 or more")
        if len(set(positive)) < len(positive):
            raise ValueError("must name each class once")
        return positive

    def value_kind(self) -> Literal["signs"]:
        return "signs"

    def check_classes(self, count: int) -> None:
        if beyond := [c for c in self.positive if c >= count]:
            raise BadInput(
                f"positive = {shown(list(self.positive))}: the data have no class {beyond[0]}, only 0 … {count - 1}"
            )
        if len(self.positive) == count:
            raise BadInput(
                f"positive = {shown(list(self.positive))}: all {count} classes of the data: must leave one out"
            )

    def values_of(self, labels: NDArray[np.int64]) -> Floats:
        """(n,)"""
        return np.where(np.isin(checked_labels(labels), self.positive), 1.0, -1.0)
