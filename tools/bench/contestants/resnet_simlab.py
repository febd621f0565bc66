"""simlab's SGD of the three-layer ResNet, as its experiments run it: epochs of a new random order each."""

from __future__ import annotations

import copy
import importlib
from typing import Any

import numpy as np
from numpy.typing import NDArray
from serve import Arrays, Missing, serve

TRAINED = ("W", "b1", "V", "b2")


class Descent:
    def __init__(self, parameters: dict[str, Any], inputs: Arrays) -> None:
        dtype = np.dtype(parameters.get("dtype", "float32"))
        networks, flows = (importlib.import_module(f"simlab.{room}") for room in ("networks", "flows"))
        (k, m), self.dim = inputs["A"].shape, inputs["X"].shape[1]
        self.network = networks.ResNet3(width=m, outputs=k, form="residual", inner="factored")
        bound = importlib.import_module("simlab.networks.bound").Bound(self.network, self.dim, dtype)
        problem = importlib.import_module("simlab.flows.problem").Problem
        self.problem = problem.of(bound, inputs["X"], inputs["y"], 1.0)
        rates = {name: parameters[name] for name in ("step", "batch", "momentum", "weight_decay")}
        self.flow = flows.SGD(steps=len(inputs["batches"]), **rates)
        theta0 = np.concatenate([inputs[name].ravel() for name in (*TRAINED, "A")])
        streams = {"batches": np.random.default_rng(int(inputs["seed"]))}
        self.begun = self.flow.start(self.problem, theta0, streams)
        self.compared = parameters["compared"]
        self._descend(1, 1)  # compiled code is loaded once a process: it belongs to the preparation

    def _descend(self, early: int, steps: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """θ after `early` steps, and after all."""
        state = copy.deepcopy(self.begun)
        self.flow.advance(self.problem, state, early, float("inf"))
        theta = state.theta.copy()
        self.flow.advance(self.problem, state, steps, float("inf"))
        return theta, state.theta

    def run(self) -> tuple[NDArray[Any], NDArray[Any]]:
        return self._descend(self.compared, self.flow.steps)

    def answer(self, result: tuple[NDArray[Any], NDArray[Any]]) -> Arrays:
        early, last = result
        found = dict(zip(TRAINED, self.network.weights(early, self.dim)[:4], strict=True))
        return {**found, "moved": np.array(np.linalg.norm(last - self.begun.theta))}


def prepare(parameters: dict[str, Any], inputs: Arrays) -> Descent:
    try:
        return Descent(parameters, inputs)
    except (ModuleNotFoundError, AttributeError) as error:
        raise Missing(str(error)) from error


if __name__ == "__main__":
    serve(prepare, ("simlab", "numba", "scipy"))
