"""How far the network is from the linearised one, trained from the same start in the same flow. MATH §6.

With f_lin(x) = f_θ0(x) + ⟨θ_lin − θ0, ∇f_θ0(x)⟩, measured are ‖θ − θ_lin‖ and the root mean square of α(f_θ − f_lin)
over the test inputs: O(1/α²) and O(1/α) on a fixed horizon of lazy training.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np

from simlab.observables.observable import Observable
from simlab.observables.view import Setting, View
from simlab.record.schema import RECORD, Output


class LinearDistance(Observable):
    """Distance of weights and predictions from those of the linearised network."""

    needs_linearised: ClassVar[bool] = True
    needs_test: ClassVar[bool] = True
    losses: ClassVar[Literal["any", "real", "squared"]] = "any"

    def check(self, setting: Setting) -> None:
        if setting.test_samples < 1:
            raise ValueError("test_samples = 0: the observable linear_distance compares predictions there; give some")

    def outputs(self) -> dict[str, Output]:
        return {
            "linear_weight_distance": Output("‖θ − θ_lin‖ of the network and the linearised one", (RECORD,)),
            "linear_test_distance": Output("root mean square of α(f − f_lin) over the test inputs", (RECORD,)),
        }

    def measure(self, view: View) -> dict[str, float]:
        assert view.linear is not None  # by needs_linearised
        moved = view.network.push(view.theta0, view.linear - view.theta0, view.X_test)
        linear = view.predict(view.X_test, view.theta0) + view.alpha * moved
        return {
            "linear_weight_distance": float(np.linalg.norm(view.theta - view.linear)),
            "linear_test_distance": float(np.sqrt(np.mean((view.predict(view.X_test) - linear) ** 2))),
        }
