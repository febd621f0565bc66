"""The weights of the first k neurons of a two-layer net at every record: w_j, b_j and a_j. MATH §6."""

from __future__ import annotations

from typing import Any

import numpy as np
from pydantic import Field

from simlab.core.params import MOST_ENTRIES
from simlab.core.params import Params as Base
from simlab.observables.view import Setting, View, check_able
from simlab.record.schema import RECORD, Output


class Params(Base):
    neurons: int = Field(ge=1, le=MOST_ENTRIES, description="how many neurons k, the first")


EXAMPLES = ({"neurons": 3},)


def check(params: Params, setting: Setting) -> None:
    check_able(setting.network, "neurons", "neuron_snapshots")
    width = setting.network.width  # type: ignore[attr-defined]
    if params.neurons > width:
        raise ValueError(f"observables neuron_snapshots.neurons = {params.neurons}: the network has {width}")


def outputs(params: Params) -> dict[str, Output]:
    index = {"neuron": np.arange(params.neurons)}
    return {
        "neuron_weights": Output("weights w_j of the first layer", (RECORD, "neuron", "coordinate"), coords=index),
        "neuron_bias": Output("bias b_j, 0 where there is none", (RECORD, "neuron"), coords=index),
        "neuron_coefficient": Output("weight a_j of the second layer", (RECORD, "neuron"), coords=index),
    }


def measure(params: Params, view: View) -> dict[str, Any]:
    a, b, W = view.module.neurons(view.network, view.theta)
    k = params.neurons
    return {"neuron_weights": W[:k].copy(), "neuron_bias": b[:k].copy(), "neuron_coefficient": a[:k].copy()}
