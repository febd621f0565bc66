"""The mean square size of inputs, (1/n) Σ ‖x_i‖². Streams: ``data``."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from simlab.core.rng import Streams
from simlab.data.law import Law
from simlab.experiments import OneShot
from simlab.record.schema import Output


class InputSize(OneShot):
    """(1/n) Σ ‖x_i‖²"""

    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {"experiment": {"kind": "input_size", "samples": 10}, "data": {"kind": "gaussian", "dim": 3}},
    )

    samples: int = Field(ge=1, description="number n of inputs")
    data: Law = Field(description="law of the inputs")

    def outputs(self) -> dict[str, Output]:
        return {"mean_square": Output("mean of ‖x‖² over the inputs")}

    def measure(self, streams: Streams) -> dict[str, Any]:
        X = self.data.sample(self.samples, streams["data"])
        return {"mean_square": float(np.mean(np.sum(X * X, axis=1)))}
