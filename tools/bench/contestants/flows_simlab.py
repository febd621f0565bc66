"""simlab's one-pass SGD of a two-layer net, as its experiments run it: compiled stretches over chunks of samples."""

from __future__ import annotations

from typing import Any

import numpy as np
from descent import TwoLayerDescent, problem_of, simlab
from numpy.typing import NDArray
from serve import Arrays, serve


class OnePass(TwoLayerDescent):
    def __init__(self, parameters: dict[str, Any], inputs: Arrays) -> None:
        self.X, self.y, self.given = inputs["X"], inputs["y"], 0
        network, dtype = simlab("networks").TwoLayer(width=inputs["a"].size), parameters.get("dtype", "float64")
        self.problem = problem_of(network, self.X[:64], self.y[:64], dtype, fresh=self.fresh)
        steps = len(self.X) // parameters["batch"]
        self.flow = simlab("flows").SGD(steps=steps, step=parameters["step"], batch=parameters["batch"], fresh=True)
        theta0 = np.concatenate([inputs["a"], inputs["W"].ravel()])
        self.begun = self.flow.start(self.problem, theta0, simlab("core.rng").Streams(0))
        self.descend(1)

    def fresh(self, rows: int, rng: np.random.Generator) -> tuple[NDArray[Any], NDArray[Any]]:
        """The samples of the file one after another, as if drawn; the generator moves, as a law would have it."""
        rng.random()
        at = np.arange(self.given, self.given + rows) % len(self.X)
        self.given += rows
        return self.X[at], self.y[at]

    def descend(self, steps: int) -> NDArray[Any]:
        self.given = 0
        self.problem.chunk = None
        return super().descend(steps)


if __name__ == "__main__":
    serve(OnePass, ("simlab", "numba", "scipy"))
