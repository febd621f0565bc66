"""The error E‖αf − y‖² on the validation data: what a step size or a weight decay may be chosen by. MATH §9.

Test data choose nothing.
"""

from __future__ import annotations

from simlab.core.params import Params as Base
from simlab.observables.view import Setting, View
from simlab.record.schema import RECORD, Output

SEVERAL_OUTPUTS = True


class Params(Base):
    pass


def check(params: Params, setting: Setting) -> None:
    if not setting.validation_samples:
        raise ValueError("observables: validation_error needs experiment.validation_samples")


def outputs(params: Params) -> dict[str, Output]:
    return {"validation_error": Output("mean square error on the validation data", (RECORD,))}


def measure(params: Params, view: View) -> dict[str, float]:
    assert view.X_validation is not None
    assert view.y_validation is not None
    return {"validation_error": float(view.squares(view.X_validation, view.y_validation).mean())}
