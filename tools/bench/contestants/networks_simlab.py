"""simlab's full-batch descent of a two-layer net: one compiled stretch."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from numpy.typing import NDArray
from serve import Arrays, Missing, serve


class Descent:
    def __init__(self, parameters: dict[str, Any], inputs: Arrays) -> None:
        dtype = np.dtype(parameters.get("dtype", "float64"))
        two_layer = importlib.import_module("simlab.networks.two_layer")
        bound = importlib.import_module("simlab.networks._bound").Bound(
            two_layer.Params(width=inputs["a"].size), inputs["X"].shape[1], dtype
        )
        self.one_blas_thread = importlib.import_module("simlab.core.blas").one_blas_thread
        self.descend = importlib.import_module("simlab.flows.gradient_descent").descend[dtype]
        self.theta0 = np.concatenate([inputs["a"], inputs["W"].ravel()]).astype(dtype)
        self.m, self.steps = inputs["a"].size, parameters["steps"]
        X, y = (np.ascontiguousarray(inputs[name], dtype) for name in ("X", "y"))
        self.before = (bound.loops.gradient[dtype], *bound.activation)
        self.after = (
            X, y[:, np.newaxis], 1.0, bound.sizes, bound.numbers, np.zeros_like(self.theta0), bound.scratch(len(X)),
            parameters["step"], 0, self.theta0.size,
        )  # fmt: skip
        self._descend(1)  # compiled code is loaded once a process: it belongs to the preparation

    def _descend(self, steps: int) -> NDArray[Any]:
        theta = self.theta0.copy()
        with self.one_blas_thread():
            self.descend(*self.before, theta, *self.after, steps)
        return theta

    def run(self) -> NDArray[Any]:
        return self._descend(self.steps)

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
