"""simlab's one-pass SGD of a two-layer net, as its experiments run it: compiled stretches over chunks of samples."""

from __future__ import annotations

import copy
import importlib
from typing import Any

import numpy as np
from numpy.typing import NDArray
from serve import Arrays, Missing, serve


class OnePass:
    def __init__(self, parameters: dict[str, Any], inputs: Arrays) -> None:
        dtype = np.dtype(parameters.get("dtype", "float64"))
        networks, flows = (importlib.import_module(f"simlab.{room}") for room in ("networks", "flows"))
        bound = importlib.import_module("simlab.networks.bound").Bound(
            networks.TwoLayer(width=inputs["a"].size), inputs["X"].shape[1], dtype
        )
        self.X, self.y, self.given = inputs["X"], inputs["y"], 0
        problem = importlib.import_module("simlab.flows.problem").Problem
        self.problem = problem.of(bound, self.X[:64], self.y[:64], 1.0, fresh=self.fresh)
        steps = len(self.X) // parameters["batch"]
        self.flow = flows.SGD(steps=steps, step=parameters["step"], batch=parameters["batch"], fresh=True)
        theta0 = np.concatenate([inputs["a"], inputs["W"].ravel()])
        streams = importlib.import_module("simlab.core.rng").Streams(0)
        self.m, self.begun = inputs["a"].size, self.flow.start(self.problem, theta0, streams)
        self._descend(1)  # compiled code is loaded once a process: it belongs to the preparation

    def fresh(self, rows: int, rng: np.random.Generator) -> tuple[NDArray[Any], NDArray[Any]]:
        """The samples of the file one after another, as if drawn; the generator moves, as a law would have it."""
        rng.random()
        at = np.arange(self.given, self.given + rows) % len(self.X)
        self.given += rows
        return self.X[at], self.y[at]

    def _descend(self, steps: int) -> NDArray[Any]:
        self.given = 0
        self.problem.chunk = None
        state = copy.deepcopy(self.begun)
        self.flow.advance(self.problem, state, steps, float("inf"))
        theta: NDArray[Any] = state.theta
        return theta

    def run(self) -> NDArray[Any]:
        return self._descend(self.flow.steps)

    def answer(self, result: NDArray[Any]) -> Arrays:
        found = result.astype(np.float64)
        return {"a": found[: self.m], "W": found[self.m :].reshape(self.m, -1)}


def prepare(parameters: dict[str, Any], inputs: Arrays) -> OnePass:
    try:
        return OnePass(parameters, inputs)
    except (ModuleNotFoundError, AttributeError) as error:
        raise Missing(str(error)) from error


if __name__ == "__main__":
    serve(prepare, ("simlab", "numba", "scipy"))
