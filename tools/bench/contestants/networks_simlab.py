"""simlab's full-batch descent of a two-layer net, as its experiments run it: compiled stretches."""

from __future__ import annotations

from typing import Any

import numpy as np
from descent import TwoLayerDescent, problem_of, simlab
from serve import Arrays, serve


class FullBatch(TwoLayerDescent):
    def __init__(self, parameters: dict[str, Any], inputs: Arrays) -> None:
        network = simlab("networks").TwoLayer(width=inputs["a"].size)
        self.problem = problem_of(network, inputs["X"], inputs["y"], parameters.get("dtype", "float64"))
        self.flow = simlab("flows").GradientDescent(steps=parameters["steps"], step=parameters["step"])
        theta0 = np.concatenate([inputs["a"], inputs["W"].ravel()])
        self.begun = self.flow.start(self.problem, theta0, None)
        self.descend(1)


if __name__ == "__main__":
    serve(FullBatch, ("simlab", "numba", "scipy"))
