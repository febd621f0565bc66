"""The training loss (1/2n) Σ ‖α f(x_i) − y_i‖². MATH §6."""

from __future__ import annotations

from typing import ClassVar

from simlab.observables.observable import Observable
from simlab.observables.view import View
from simlab.record.schema import RECORD, Output


class TrainLoss(Observable):
    """(1/2n) Σ ‖α f(x_i) − y_i‖² over the training data."""

    several_outputs: ClassVar[bool] = True

    def outputs(self) -> dict[str, Output]:
        return {"train_loss": Output("half mean square error on the training data", (RECORD,))}

    def measure(self, view: View) -> dict[str, float]:
        return {"train_loss": view.train_loss}
