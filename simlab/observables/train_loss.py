"""The training loss (1/2n) Σ ‖α f(x_i) − y_i‖². MATH §6."""

from __future__ import annotations

from simlab.core.params import Params as Base
from simlab.observables.view import View
from simlab.record.schema import RECORD, Output

SEVERAL_OUTPUTS = True


class Params(Base):
    pass


def outputs(params: Params) -> dict[str, Output]:
    return {"train_loss": Output("half mean square error on the training data", (RECORD,))}


def measure(params: Params, view: View) -> dict[str, float]:
    return {"train_loss": view.train_loss}
