"""simlab's full-batch descent of the three-layer mean-field net in particle time, as its experiments run it."""

from __future__ import annotations

import copy
import importlib
from typing import Any

import numpy as np
from numpy.typing import NDArray
from serve import Arrays, Missing, serve


class Descent:
    def __init__(self, parameters: dict[str, Any], inputs: Arrays) -> None:
        dtype = np.dtype(parameters.get("dtype", "float64"))
        networks, flows = (importlib.import_module(f"simlab.{room}") for room in ("networks", "flows"))
        m1, m2 = len(inputs["V"]), inputs["w"].size
        self.network = networks.ThreeLayerMeanField(width=m1, outer_width=m2)
        bound = importlib.import_module("simlab.networks.bound").Bound(self.network, inputs["X"].shape[1], dtype)
        problem = importlib.import_module("simlab.flows.problem").Problem
        self.problem = problem.of(bound, inputs["X"], inputs["y"], 1.0, width=m1)
        self.flow = flows.GradientDescent(steps=parameters["steps"], step=parameters["step"], step_unit="particle")
        c = (m1 / m2) ** 0.5
        theta0 = np.concatenate([inputs["V"].ravel(), c * inputs["w"], c * inputs["b"]])
        self.begun = self.flow.start(self.problem, theta0, None)
        self._descend(1)  # compiled code is loaded once a process: it belongs to the preparation

    def _descend(self, steps: int) -> NDArray[Any]:
        state = copy.deepcopy(self.begun)
        self.flow.advance(self.problem, state, steps, float("inf"))
        theta: NDArray[Any] = state.theta
        return theta

    def run(self) -> NDArray[Any]:
        return self._descend(self.flow.steps)

    def answer(self, result: NDArray[Any]) -> Arrays:
        return dict(zip(("V", "w", "b"), self.network.particles(result.astype(np.float64)), strict=True))


def prepare(parameters: dict[str, Any], inputs: Arrays) -> Descent:
    try:
        return Descent(parameters, inputs)
    except (ModuleNotFoundError, AttributeError) as error:
        raise Missing(str(error)) from error


if __name__ == "__main__":
    serve(prepare, ("simlab", "numba", "scipy"))
