"""simlab's SGD of the three-layer ResNet, as its experiments run it: epochs of a new random order each."""

from __future__ import annotations

from typing import Any

import numpy as np
from descent import EarlyAndLast, problem_of, simlab
from numpy.typing import NDArray
from serve import Arrays, serve

TRAINED = ("W", "b1", "V", "b2")


class Epochs(EarlyAndLast):
    def __init__(self, parameters: dict[str, Any], inputs: Arrays) -> None:
        (k, m), self.dim = inputs["A"].shape, inputs["X"].shape[1]
        self.network = simlab("networks").ResNet3(width=m, outputs=k, form="residual", inner="factored")
        self.problem = problem_of(self.network, inputs["X"], inputs["y"], parameters.get("dtype", "float32"))
        rates = {name: parameters[name] for name in ("step", "batch", "momentum", "weight_decay")}
        self.flow = simlab("flows").SGD(steps=len(inputs["batches"]), **rates)
        theta0 = np.concatenate([inputs[name].ravel() for name in (*TRAINED, "A")])
        streams = {"batches": np.random.default_rng(int(inputs["seed"]))}
        self.begun = self.flow.start(self.problem, theta0, streams)
        self.compared = parameters["compared"]
        self.descend(1)

    def answer(self, result: tuple[NDArray[Any], NDArray[Any]]) -> Arrays:
        early, last = result
        found = dict(zip(TRAINED, self.network.weights(early, self.dim)[:4], strict=True))
        return {**found, "moved": np.array(np.linalg.norm(last - self.begun.theta))}


if __name__ == "__main__":
    serve(Epochs, ("simlab", "numba", "scipy"))
