"""The share of samples that are classified rightly, on the training and the test data. MATH §10.

With one output and y = ±1 a sample is right if y αf > 0. With several outputs it is right if αf is largest at its
class, and there alone. So a prediction on the boundary, such as f = 0, is wrong. The standard error of the test
accuracy is that of a mean over independent test inputs.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from simlab.observables._labels import check_labels, margins
from simlab.observables.observable import Observable
from simlab.observables.view import Setting, View
from simlab.record.schema import RECORD, Output

Floats = NDArray[np.float64]


class Accuracy(Observable):
    """Share of samples that are classified rightly."""

    several_outputs: ClassVar[bool] = True
    losses: ClassVar[Literal["any", "real", "squared"]] = "any"
    examples: ClassVar[tuple[dict[str, Any], ...]] = ({}, {"test": False})

    test: bool = Field(True, description="measure it on the test data too")

    def check(self, setting: Setting) -> None:
        check_labels(setting, self.kind)
        if setting.samples < 1:
            raise ValueError("samples = 0: accuracy needs training samples")
        if self.test and setting.test_samples < 2:
            raise ValueError(
                f"test_samples = {setting.test_samples}: accuracy needs 2 or more for its standard error; "
                f"or give test = false"
            )

    def outputs(self) -> dict[str, Output]:
        found = {"train_accuracy": Output("share of training samples that are classified rightly", (RECORD,))}
        if self.test:
            found["test_accuracy"] = Output("share of test samples that are classified rightly", (RECORD,))
            found["test_accuracy_se"] = Output("its standard error over the test inputs", (RECORD,))
        return found

    def measure(self, view: View) -> dict[str, float]:
        found = {"train_accuracy": float(self._right(view, view.X, view.y).mean())}
        if self.test:
            right = self._right(view, view.X_test, view.y_test)
            found["test_accuracy"] = float(right.mean())
            found["test_accuracy_se"] = float(np.std(right, ddof=1) / np.sqrt(right.size))
        return found

    def _right(self, view: View, X: Floats, y: Floats) -> NDArray[np.bool_]:
        """Whether each sample is classified rightly, (n,)."""
        return margins(*view.columns(X, y), self.kind) > 0.0
