"""How far the weights have moved: ‖θ − θ₀‖ and ‖θ − θ₀‖/‖θ₀‖. MATH §6."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np

from simlab.observables.observable import Observable
from simlab.observables.view import View
from simlab.record.schema import RECORD, Output


class WeightMovement(Observable):
    """‖θ − θ₀‖ and ‖θ − θ₀‖/‖θ₀‖."""

    several_outputs: ClassVar[bool] = True
    needs_samples: ClassVar[bool] = False
    losses: ClassVar[Literal["any", "real", "squared"]] = "any"

    def outputs(self) -> dict[str, Output]:
        return {
            "weight_movement": Output("distance of the weights from their start, ‖θ − θ₀‖", (RECORD,)),
            "relative_movement": Output("‖θ − θ₀‖ / ‖θ₀‖", (RECORD,)),
        }

    def measure(self, view: View) -> dict[str, float]:
        moved = float(np.linalg.norm(view.theta - view.theta0))
        start = view.network.own_weights(view.theta0)
        return {"weight_movement": moved, "relative_movement": moved / float(np.linalg.norm(start))}
