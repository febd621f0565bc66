"""How far the network is from the linearised one trained beside it, from the same start in the same flow. MATH §6.

f_lin(x) = f_θ0(x) + ⟨θ_lin − θ0, ∇f_θ0(x)⟩. ‖θ − θ_lin‖, and the root mean square of α(f_θ − f_lin) over test inputs:
O(1/α²) and O(1/α) on a fixed horizon of lazy training.
"""

from __future__ import annotations

import numpy as np

from simlab.core.params import Params as Base
from simlab.networks.bound import Bound
from simlab.observables.view import Setting, View
from simlab.record.schema import RECORD, Output

NEEDS = ("linearised",)


class Params(Base):
    pass


def check(params: Params, setting: Setting) -> None:
    if setting.test_samples < 1:
        raise ValueError("test_samples = 0: the observable linear_distance compares predictions there; give some")


def outputs(params: Params) -> dict[str, Output]:
    return {
        "linear_weight_distance": Output("‖θ − θ_lin‖ of the network and the linearised one", (RECORD,)),
        "linear_test_distance": Output("root mean square of α(f − f_lin) over the test inputs", (RECORD,)),
    }


def measure(params: Params, view: View) -> dict[str, float]:
    assert view.linear is not None  # what NEEDS says
    net = Bound(view.network, view.dim)
    moved = net.push(view.theta0, view.linear - view.theta0, view.X_test)[:, 0]
    linear = view.predict(view.X_test, view.theta0) + view.alpha * moved
    return {
        "linear_weight_distance": float(np.linalg.norm(view.theta - view.linear)),
        "linear_test_distance": float(np.sqrt(np.mean((view.predict(view.X_test) - linear) ** 2))),
    }
