"""The largest error on a training sample, max_i |α f(x_i) − y_i|."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from simlab.observables.observable import Observable
from simlab.observables.view import View
from simlab.record.schema import RECORD, Output


class LargestResidual(Observable):
    """max_i |α f(x_i) − y_i|"""

    several_outputs: ClassVar[bool] = True

    def outputs(self) -> dict[str, Output]:
        return {"largest_residual": Output("largest residual", (RECORD,))}

    def measure(self, view: View) -> dict[str, float]:
        errors = np.abs(view.predict(view.X) - view.y)
        return {"largest_residual": float(errors.max())}
