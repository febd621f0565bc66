"""The particles (w_j, b_j) of the second layer of a three-layer mean-field net, at every record. MATH §8."""

from __future__ import annotations

from typing import Any

from simlab.core.params import Params as Base
from simlab.observables.view import Setting, View, check_able
from simlab.record.schema import RECORD, Output


class Params(Base):
    pass


def check(params: Params, setting: Setting) -> None:
    check_able(setting.network, "particles", "outer_particles")


def outputs(params: Params) -> dict[str, Output]:
    return {
        "outer_weight": Output("weight w_j of the second layer", (RECORD, "outer")),
        "outer_bias": Output("bias b_j of the second layer", (RECORD, "outer")),
    }


def measure(params: Params, view: View) -> dict[str, Any]:
    _, w, b = view.module.particles(view.network, view.theta)
    return {"outer_weight": w.copy(), "outer_bias": b.copy()}
