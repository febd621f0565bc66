"""The test error E‖αf − y‖² as a mean over the test data, with its standard error. MATH §8, §9.

Twice the test loss. The standard error is that of a mean over independent test inputs.
"""

from __future__ import annotations

import numpy as np

from simlab.core.params import Params as Base
from simlab.observables.view import Setting, View
from simlab.record.schema import RECORD, Output

SEVERAL_OUTPUTS = True


class Params(Base):
    pass


def check(params: Params, setting: Setting) -> None:
    if setting.test_samples < 2:
        raise ValueError("observables: test_error needs experiment.test_samples of 2 or more for its standard error")


def outputs(params: Params) -> dict[str, Output]:
    return {
        "test_error": Output("mean square error on the test data", (RECORD,)),
        "test_error_se": Output("its standard error over the test inputs", (RECORD,)),
    }


def measure(params: Params, view: View) -> dict[str, float]:
    squares = view.squares(view.X_test, view.y_test)
    return {
        "test_error": float(squares.mean()),
        "test_error_se": float(np.std(squares, ddof=1) / np.sqrt(squares.size)),
    }
