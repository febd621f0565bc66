"""The test loss (1/2n) Σ ‖α f(x_i) − y_i‖². MATH §6."""

from __future__ import annotations

from simlab.core.params import Params as Base
from simlab.observables.view import View
from simlab.record.schema import RECORD, Output

SEVERAL_OUTPUTS = True


class Params(Base):
    pass


def outputs(params: Params) -> dict[str, Output]:
    return {"test_loss": Output("half mean square error on the test data", (RECORD,))}


def measure(params: Params, view: View) -> dict[str, float]:
    return {"test_loss": view.half_mean_square(view.X_test, view.y_test)}
