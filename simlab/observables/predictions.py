"""The network's predictions α f(x_i) at the test inputs, to compare networks with the same test set. MATH §6."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from simlab.observables.observable import Observable
from simlab.observables.view import Setting, View
from simlab.record.schema import RECORD, Output


class Predictions(Observable):
    """α f at the test inputs."""

    needs_samples: ClassVar[bool] = False
    needs_test: ClassVar[bool] = True
    losses: ClassVar[Literal["any", "real", "squared"]] = "any"

    def check(self, setting: Setting) -> None:
        if not setting.test_samples:
            raise ValueError("observables: predictions are made at the test inputs; give experiment.test_samples")

    def outputs(self) -> dict[str, Output]:
        return {"prediction": Output("prediction α f at the test input", (RECORD, "test_input"))}

    def measure(self, view: View) -> dict[str, Any]:
        return {"prediction": view.predict(view.X_test)}
