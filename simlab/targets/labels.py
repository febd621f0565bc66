"""The labels of a stored set as values (n, k), k = `classes`: row i is e_{c(i)}, or e_{c(i)} − 1/k where `centred`.

e_c is the c-th unit vector, c(i) the class of row i. Centred values sum to 0 in each row, as in `real_data`.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from simlab.core import checks
from simlab.core.errors import BadInput
from simlab.targets._of_labels import OfLabels, checked_labels
from simlab.targets.target import Floats

MOST_CLASSES = 1_000_000


class Labels(OfLabels):
    """y_i = e_{c(i)}, or e_{c(i)} − 1/k."""

    examples: ClassVar[tuple[dict[str, Any], ...]] = ({"classes": 10}, {"classes": 3, "centred": True})

    classes: int = Field(ge=2, le=MOST_CLASSES, description="number k of classes")
    centred: bool = Field(False, description="subtract 1/k from every value")

    def components(self) -> int:
        return self.classes

    def value_kind(self) -> Literal["real", "one_hot"]:
        return "real" if self.centred else "one_hot"

    def check_classes(self, count: int) -> None:
        if count > self.classes:
            raise BadInput(f"classes = {self.classes}: must be {count} or more, as many as the data have")

    def values_of(self, labels: NDArray[np.int64]) -> Floats:
        """(n, classes)"""
        chosen = checked_labels(labels, self.classes, "classes")
        checks.memory(len(chosen) * self.classes, f"classes = {self.classes}: values of {len(chosen)} rows")
        values = np.zeros((len(chosen), self.classes))
        values[np.arange(len(chosen)), chosen] = 1.0
        if self.centred:
            values -= 1.0 / self.classes
        return values
