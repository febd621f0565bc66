"""simlab's full-batch descent of a two-layer net, as its experiments run it: compiled stretches."""

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
        bound = importlib.import_module("simlab.networks.bound").Bound(
            networks.TwoLayer(width=inputs["a"].size), inputs["X"].shape[1], dtype
        )
        problem = importlib.import_module("simlab.flows.problem").Problem
        self.problem = problem.of(bound, inputs["X"], inputs["y"], 1.0)
        self.flow = flows.GradientDescent(steps=parameters["steps"], step=parameters["step"])
        theta0 = np.concatenate([inputs["a"], inputs["W"].ravel()])
        self.m, self.begun = inputs["a"].size, self.flow.start(self.problem, theta0, None)
        self._descend(1)  # compiled code is loaded once a process: it belongs to the preparation

    def _descend(self, steps: int) -> NDArray[Any]:
        state = copy.deepcopy(self.begun)
        self.flow.advance(self.problem, state, steps, float("inf"))
        theta: NDArray[Any] = state.theta
        return theta

    def run(self) -> NDArray[Any]:
        return self._descend(self.flow.steps)

    def answer(self, result: NDArray[Any]) -> Arrays:
        found = result.astype(np.float64)
        return {"a": found[: self.m], "W": found[self.m :].reshape(self.m, -1)}


def prepare(parameters: dict[str, Any], inputs: Arrays) -> Descent:
    try:
        return Descent(parameters, inputs)
    except (ModuleNotFoundError, AttributeError) as error:
        raise Missing(str(error)) from error


if __name__ == "__main__":
    serve(prepare, ("simlab", "numba", "scipy"))
