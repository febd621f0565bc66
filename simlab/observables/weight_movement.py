"""How far the weights have moved: ‖θ − θ₀‖ and ‖θ − θ₀‖/‖θ₀‖. MATH §6."""

from __future__ import annotations

import numpy as np

from simlab.core.params import Params as Base
from simlab.core.params import kind_of
from simlab.observables.view import View
from simlab.record.schema import RECORD, Output

SEVERAL_OUTPUTS = True


class Params(Base):
    pass


def outputs(params: Params) -> dict[str, Output]:
    return {
        "weight_movement": Output("distance of the weights from their start, ‖θ − θ₀‖", (RECORD,)),
        "relative_movement": Output("‖θ − θ₀‖ / ‖θ₀‖", (RECORD,)),
    }


def measure(params: Params, view: View) -> dict[str, float]:
    moved, start = float(np.linalg.norm(view.theta - view.theta0)), view.theta0
    if kind_of(view.network) == "linearised":  # holds its start twice
        start = start[: start.size // 2]
    return {"weight_movement": moved, "relative_movement": moved / float(np.linalg.norm(start))}
