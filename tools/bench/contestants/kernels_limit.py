"""The physical limit of two Gram matrices: NumPy's X @ X.T plus two n×n writes.

The writes go to freshly allocated arrays, as any library's results do, so that the system's page faults are in it;
`fill` reads nothing, so this is the least that writing two results can cost one NumPy thread.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from serve import Arrays, serve

Floats = NDArray[np.float64]


class Limit:
    def __init__(self, X: Floats) -> None:
        self.X = X

    def run(self) -> tuple[Floats, Floats, Floats]:
        G = self.X @ self.X.T
        A, B = np.empty_like(G), np.empty_like(G)
        A.fill(1.0)
        B.fill(1.0)
        return G, A, B

    def answer(self, result: Any) -> Arrays:
        return {}


def prepare(parameters: dict[str, Any], inputs: Arrays) -> Limit:
    return Limit(inputs["X"])


if __name__ == "__main__":
    serve(prepare)
