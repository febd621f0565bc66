"""The particles (w_j, b_j) of the second layer of a three-layer mean-field net, at every record. MATH §8."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from simlab.observables.observable import Observable
from simlab.observables.view import Setting, View, three_layers
from simlab.record.schema import RECORD, Output


class OuterParticles(Observable):
    """w_j and b_j of the second layer of a net of three layers."""

    losses: ClassVar[Literal["any", "real", "squared"]] = "any"

    def check(self, setting: Setting) -> None:
        three_layers(setting.network, self.kind)

    def outputs(self) -> dict[str, Output]:
        return {
            "outer_weight": Output("weight w_j of the second layer", (RECORD, "outer")),
            "outer_bias": Output("bias b_j of the second layer", (RECORD, "outer")),
        }

    def measure(self, view: View) -> dict[str, Any]:
        _, w, b = three_layers(view.network, self.kind).particles(view.theta)
        return {"outer_weight": w.copy(), "outer_bias": b.copy()}
