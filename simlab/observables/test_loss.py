"""The test loss (1/2n) Σ ‖α f(x_i) − y_i‖². MATH §6."""

from __future__ import annotations

from typing import ClassVar

from simlab.observables.observable import Observable
from simlab.observables.view import View
from simlab.record.schema import RECORD, Output


class TestLoss(Observable):
    """(1/2n) Σ ‖α f(x_i) − y_i‖² over the test data."""

    __test__: ClassVar[bool] = False  # pytest: this is no test
    several_outputs: ClassVar[bool] = True
    needs_samples: ClassVar[bool] = False
    needs_test: ClassVar[bool] = True

    def outputs(self) -> dict[str, Output]:
        return {"test_loss": Output("half mean square error on the test data", (RECORD,))}

    def measure(self, view: View) -> dict[str, float]:
        return {"test_loss": view.half_mean_square(view.X_test, view.y_test)}
