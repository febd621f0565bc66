"""The test loss (1/n) Σ ℓ(α f(x_i), y_i), ℓ the loss that is trained on. MATH §6, §10."""

from __future__ import annotations

from typing import ClassVar, Literal

from simlab.observables.observable import Observable
from simlab.observables.view import View
from simlab.record.schema import RECORD, Output


class TestLoss(Observable):
    """(1/n) Σ ℓ(α f(x_i), y_i) over the test data."""

    __test__: ClassVar[bool] = False  # pytest: this is no test
    several_outputs: ClassVar[bool] = True
    needs_samples: ClassVar[bool] = False
    needs_test: ClassVar[bool] = True
    losses: ClassVar[Literal["any", "real", "squared"]] = "any"

    def outputs(self) -> dict[str, Output]:
        return {"test_loss": Output("mean over the test data of the loss that is trained on", (RECORD,))}

    def measure(self, view: View) -> dict[str, float]:
        return {"test_loss": view.mean_loss(view.X_test, view.y_test)}
