"""The normalised ReLU recursion written out in NumPy's longest floats, for the compared rows only. MATH §3.

κ¹ = u, κ_RF' = κ1(κ_RF), κ_NTK' = κ_NTK κ0(κ_RF) + κ_RF', with θ = arccos κ_RF, κ0 = 1 − θ/π,
κ1 = (sin θ + (π−θ) cos θ)/π.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from serve import Arrays, serve

PI = np.longdouble("3.14159265358979323846264338327950288")


class Recursion:
    def __init__(self, depth: int, rows: Any) -> None:
        self.depth, self.rows = depth, rows.astype(np.longdouble)

    def run(self) -> Arrays:
        X = self.rows / np.sqrt((self.rows**2).sum(1))[:, None]
        nngp = np.clip(X @ X.T, -1, 1)
        ntk = nngp.copy()
        for _ in range(self.depth - 1):
            theta = np.arccos(nngp)
            nngp = np.minimum((np.sin(theta) + (PI - theta) * nngp) / PI, 1)
            ntk = ntk * (1 - theta / PI) + nngp
        # On the diagonal arccos of a rounded 1 would leave half of the digits; the values there are known.
        np.fill_diagonal(nngp, 1)
        np.fill_diagonal(ntk, self.depth)
        return {"nngp": nngp.astype(np.float64), "ntk": ntk.astype(np.float64)}

    def answer(self, result: Arrays) -> Arrays:
        return result


def prepare(parameters: dict[str, Any], inputs: Arrays) -> Recursion:
    return Recursion(parameters["depth"], inputs["X"][inputs["compared"]])


if __name__ == "__main__":
    serve(prepare)
