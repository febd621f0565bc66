"""The test error E‖αf − y‖² as a mean over the test data, with its standard error. MATH §8, §9.

Twice the test loss where that is squared. The standard error is that of a mean over independent test inputs.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np

from simlab.observables.observable import Observable
from simlab.observables.view import Setting, View
from simlab.record.schema import RECORD, Output


class TestError(Observable):
    """Mean of ‖αf − y‖² over the test data, and its standard error."""

    __test__: ClassVar[bool] = False  # pytest: this is no test
    several_outputs: ClassVar[bool] = True
    needs_test: ClassVar[bool] = True
    losses: ClassVar[Literal["any", "real", "squared"]] = "real"

    def check(self, setting: Setting) -> None:
        if setting.test_samples < 2:
            raise ValueError(
                "observables: test_error needs experiment.test_samples of 2 or more for its standard error"
            )

    def outputs(self) -> dict[str, Output]:
        return {
            "test_error": Output("mean square error on the test data", (RECORD,)),
            "test_error_se": Output("its standard error over the test inputs", (RECORD,)),
        }

    def measure(self, view: View) -> dict[str, float]:
        squares = view.squares(view.X_test, view.y_test)
        return {
            "test_error": float(squares.mean()),
            "test_error_se": float(np.std(squares, ddof=1) / np.sqrt(squares.size)),
        }
