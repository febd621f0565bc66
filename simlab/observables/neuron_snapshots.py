"""The weights of the first k neurons of a two-layer net at every record: w_j, b_j and a_j. MATH §6."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from simlab.core.parsing import MOST_ENTRIES
from simlab.observables.observable import Observable
from simlab.observables.view import Setting, View, check_neurons
from simlab.record.schema import RECORD, Output


class NeuronSnapshots(Observable):
    """w_j, b_j and a_j of the first k neurons."""

    needs_samples: ClassVar[bool] = False
    losses: ClassVar[Literal["any", "real", "squared"]] = "any"
    examples: ClassVar[tuple[dict[str, Any], ...]] = ({"neurons": 3},)

    neurons: int = Field(ge=1, le=MOST_ENTRIES, description="how many neurons k, the first")

    def check(self, setting: Setting) -> None:
        check_neurons(setting.network, self.kind)
        width = setting.network.particle_count()
        if width is not None and self.neurons > width:
            raise ValueError(f"observables neuron_snapshots.neurons = {self.neurons}: the network has {width}")

    def outputs(self) -> dict[str, Output]:
        index = {"neuron": np.arange(self.neurons)}
        return {
            "neuron_weights": Output("weights w_j of the first layer", (RECORD, "neuron", "coordinate"), coords=index),
            "neuron_bias": Output("bias b_j, 0 where there is none", (RECORD, "neuron"), coords=index),
            "neuron_coefficient": Output("weight a_j of the second layer", (RECORD, "neuron"), coords=index),
        }

    def measure(self, view: View) -> dict[str, Any]:
        a, b, W = view.network.neurons(view.theta)
        k = self.neurons
        return {"neuron_weights": W[:k].copy(), "neuron_bias": b[:k].copy(), "neuron_coefficient": a[:k].copy()}
