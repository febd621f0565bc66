"""simlab's sampler of the radius under φ²."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from numpy.typing import NDArray
from serve import Arrays, serve


class Radii:
    def __init__(self, parameters: dict[str, Any], inputs: Arrays) -> None:
        self.n, self.at = parameters["radii"], inputs["at"]
        self.law = importlib.import_module("simlab.sphere.ball_law").BallLaw.natural(parameters["d"])
        self.law.radii(1000, np.random.default_rng(0))  # tables and compiled code belong to the preparation

    def run(self) -> NDArray[Any]:
        found: NDArray[Any] = self.law.radii(self.n, np.random.default_rng(1))
        return found

    def answer(self, result: NDArray[Any]) -> Arrays:
        return {"below": np.searchsorted(np.sort(result), self.at) / result.size}


if __name__ == "__main__":
    serve(Radii, ("simlab", "numba", "scipy"))
