"""The error E‖αf − y‖² on the validation data: what a step size or a weight decay may be chosen by. MATH §9.

Test data must not be used for that.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from simlab.observables.observable import Observable
from simlab.observables.view import Setting, View
from simlab.record.schema import RECORD, Output


class ValidationError(Observable):
    """Mean of ‖αf − y‖² over the validation data."""

    several_outputs: ClassVar[bool] = True
    losses: ClassVar[Literal["any", "real", "squared"]] = "real"

    def check(self, setting: Setting) -> None:
        if not setting.validation_samples:
            raise ValueError("observables: validation_error needs experiment.validation_samples")

    def outputs(self) -> dict[str, Output]:
        return {"validation_error": Output("mean square error on the validation data", (RECORD,))}

    def measure(self, view: View) -> dict[str, float]:
        assert view.X_validation is not None
        assert view.y_validation is not None
        return {"validation_error": float(view.squares(view.X_validation, view.y_validation).mean())}
