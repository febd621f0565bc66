"""The first layer F of a three-layer mean-field net beside α‖x‖, which it is at infinite width. MATH §8.

Measured are α = (C_Γ/√d) mean ‖v‖² and, over the test inputs, mean, spread and extremes of F(x)/(α‖x‖). This ratio
depends on the direction of x alone. Its mean over the sphere is 1 for any neurons; it is 1 everywhere if their law is
spherically symmetric. For a picture of F/α against ‖x‖, test inputs are put into groups by their radius, and the
medians of both are recorded per group (the radius has no mean).
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from simlab.core.parsing import MOST_ENTRIES
from simlab.observables.observable import Observable
from simlab.observables.view import Setting, View, three_layers
from simlab.record.schema import RECORD, Output


class FirstLayer(Observable):
    """F/(α‖x‖) over the test inputs, of a net of three layers."""

    needs_test: ClassVar[bool] = True
    losses: ClassVar[Literal["any", "real", "squared"]] = "any"

    groups: int = Field(
        10, ge=1, le=MOST_ENTRIES, description="into how many groups the test inputs go by their radius"
    )

    def check(self, setting: Setting) -> None:
        three_layers(setting.network, self.kind)
        if setting.test_samples < self.groups:
            raise ValueError(
                f"test_samples = {setting.test_samples}: first_layer needs {self.groups}, one for each group"
            )

    def outputs(self) -> dict[str, Output]:
        middles = {"group": (np.arange(self.groups) + 0.5) / self.groups}
        return {
            "alpha": Output("α = (C_Γ/√d) mean ‖v‖²", (RECORD,)),
            "first_layer_mean": Output("mean of F/(α‖x‖) over the test inputs", (RECORD,)),
            "first_layer_std": Output("standard deviation of F/(α‖x‖) over the test inputs", (RECORD,)),
            "first_layer_min": Output("least F/(α‖x‖) of a test input", (RECORD,)),
            "first_layer_max": Output("largest F/(α‖x‖) of a test input", (RECORD,)),
            "first_layer_by_radius": Output("median of F/α in a group of radii", (RECORD, "group"), coords=middles),
            "group_radius": Output("median ‖x‖ of a group of radii", ("group",), coords=middles),
        }

    def measure(self, view: View) -> dict[str, Any]:
        network = three_layers(view.network, self.kind)
        alpha = network.alpha(view.theta)
        F = network.first_layer(view.theta, view.X_test)
        r = np.linalg.norm(view.X_test, axis=1)
        ratio = F[r > 0.0] / (alpha * r[r > 0.0])
        groups = np.array_split(np.argsort(r, kind="stable"), self.groups)
        return {
            "alpha": alpha,
            "first_layer_mean": float(ratio.mean()),
            "first_layer_std": float(ratio.std()),
            "first_layer_min": float(ratio.min()),
            "first_layer_max": float(ratio.max()),
            "first_layer_by_radius": np.array([np.median(F[rows]) / alpha for rows in groups]),
            "group_radius": np.array([np.median(r[rows]) for rows in groups]),
        }
