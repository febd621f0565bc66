"""simlab's full-batch descent of the three-layer mean-field net in particle time, as its experiments run it."""

from __future__ import annotations

from typing import Any

import numpy as np
from descent import Descent, problem_of, simlab
from numpy.typing import NDArray
from serve import Arrays, serve


class FullBatch(Descent):
    def __init__(self, parameters: dict[str, Any], inputs: Arrays) -> None:
        m1, m2 = len(inputs["V"]), inputs["w"].size
        self.network = simlab("networks").ThreeLayerMeanField(width=m1, outer_width=m2)
        dtype = parameters.get("dtype", "float64")
        self.problem = problem_of(self.network, inputs["X"], inputs["y"], dtype, width=m1)
        rates = {name: parameters[name] for name in ("steps", "step")}
        self.flow = simlab("flows").GradientDescent(**rates, step_unit="particle")
        c = (m1 / m2) ** 0.5
        theta0 = np.concatenate([inputs["V"].ravel(), c * inputs["w"], c * inputs["b"]])
        self.begun = self.flow.start(self.problem, theta0, None)
        self.descend(1)

    def answer(self, result: NDArray[Any]) -> Arrays:
        return dict(zip(("V", "w", "b"), self.network.particles(result.astype(np.float64)), strict=True))


if __name__ == "__main__":
    serve(FullBatch, ("simlab", "numba", "scipy"))
