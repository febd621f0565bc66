"""The training loss by class, and how many training samples each class has. MATH §10.

For one output and y = ±1 there are two classes: first −1, then +1. For c outputs there are c. The training loss is the
mean of these with weights `class_count`. A class without samples has no loss: NaN.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np

from simlab.observables._labels import check_labels, class_count, class_numbers
from simlab.observables.observable import Observable
from simlab.observables.view import Setting, View
from simlab.record.schema import RECORD, Output


class ClassLoss(Observable):
    """Mean loss of the training samples of each class."""

    several_outputs: ClassVar[bool] = True
    losses: ClassVar[Literal["any", "real", "squared"]] = "any"

    def check(self, setting: Setting) -> None:
        check_labels(setting, self.kind)
        if setting.samples < 1:
            raise ValueError("samples = 0: class_loss needs training samples")

    def outputs(self) -> dict[str, Output]:
        return {
            "class_loss": Output("mean loss of the training samples of the class (of ±1: −1, +1)", (RECORD, "class")),
            "class_count": Output("number of training samples of the class", ("class",), dtype="int64"),
        }

    def measure(self, view: View) -> dict[str, Any]:
        y = view.y.reshape(len(view.y), -1)
        numbers, many = class_numbers(y, self.kind), class_count(y.shape[1])
        counts = np.bincount(numbers, minlength=many)
        sums = np.bincount(numbers, weights=view.losses(view.X, view.y), minlength=many)
        means = np.divide(sums, counts, out=np.full(many, np.nan), where=counts > 0)
        return {"class_loss": means, "class_count": counts}
