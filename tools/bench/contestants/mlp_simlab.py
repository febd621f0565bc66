"""simlab's descent of a fully connected net, as its experiments run it: full batch, or epochs of a new order each."""

from __future__ import annotations

from typing import Any

import numpy as np
from descent import EarlyAndLast, problem_of, simlab
from mlp_net import answers, start
from numpy.typing import NDArray
from serve import Arrays, serve


class MLPDescent(EarlyAndLast):
    def __init__(self, parameters: dict[str, Any], inputs: Arrays) -> None:
        y, self.start = start(parameters, inputs)
        self.X, self.compared = inputs["X"], parameters["compared"]
        outputs, m = self.start[-1].shape
        self.network = simlab("networks").MLP(width=m, depth=4, outputs=outputs, weight_std=2**0.5)
        # The squared loss is the default, so that versions without losses run too.
        loss = parameters["loss"]
        options = {} if loss == "squared" else {"loss": simlab("losses").get(loss)}
        self.problem = problem_of(self.network, self.X, y, parameters["dtype"], **options)
        rates: dict[str, Any] = {"steps": parameters["steps"], "step": parameters["step"]}
        streams = None
        if "batches" in inputs:
            self.flow = simlab("flows").SGD(**rates, batch=inputs["batches"].shape[1])
            streams = {"batches": np.random.default_rng(int(inputs["seed"]))}
        else:
            self.flow = simlab("flows").GradientDescent(**rates)
        self.begun = self.flow.start(self.problem, np.concatenate([W.ravel() for W in self.start]), streams)
        self.descend(1)

    def answer(self, result: tuple[NDArray[Any], NDArray[Any]]) -> Arrays:
        early, last = (self.network.layers(theta.astype(np.float64), self.X.shape[1]) for theta in result)
        return answers(early, last, self.start, self.X)


if __name__ == "__main__":
    serve(MLPDescent, ("simlab", "numba", "scipy"))
