"""The training loss (1/n) Σ ℓ(α f(x_i), y_i), ℓ the loss that is trained on. MATH §6, §10."""

from __future__ import annotations

from typing import ClassVar, Literal

from simlab.observables.observable import Observable
from simlab.observables.view import View
from simlab.record.schema import RECORD, Output


class TrainLoss(Observable):
    """(1/n) Σ ℓ(α f(x_i), y_i) over the training data."""

    several_outputs: ClassVar[bool] = True
    losses: ClassVar[Literal["any", "real", "squared"]] = "any"

    def outputs(self) -> dict[str, Output]:
        return {"train_loss": Output("mean over the training data of the loss that is trained on", (RECORD,))}

    def measure(self, view: View) -> dict[str, float]:
        return {"train_loss": view.train_loss}
