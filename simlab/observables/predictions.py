"""What the network says at the test inputs: α f(x_i). Networks of one test set can be compared by it. MATH §6."""

from __future__ import annotations

from typing import Any

from simlab.core.params import Params as Base
from simlab.observables.view import Setting, View
from simlab.record.schema import RECORD, Output


class Params(Base):
    pass


def check(params: Params, setting: Setting) -> None:
    if not setting.test_samples:
        raise ValueError("observables: predictions are made at the test inputs; give experiment.test_samples")


def outputs(params: Params) -> dict[str, Output]:
    return {"prediction": Output("prediction α f at the test input", (RECORD, "test_input"))}


def measure(params: Params, view: View) -> dict[str, Any]:
    return {"prediction": view.predict(view.X_test)}
