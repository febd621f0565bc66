"""The radius under φ² by the same rejection in NumPy with scipy.special.jv; below ν by interpolating the CDF."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, jv
from serve import Arrays, serve


class Radii:
    def __init__(self, parameters: dict[str, Any], inputs: Arrays) -> None:
        d = parameters["d"]
        self.n, self.at, self.order = parameters["radii"], inputs["at"], d / 2
        self.wave = 2 * math.sqrt(math.pi) * math.exp(float(gammaln(d / 2 + 1)) / d)
        self.s = np.linspace(0, self.order, 20_001)[1:]
        k = np.arange(1, 200)[:, np.newaxis]
        self.mass = jv(self.order, self.s) ** 2 + 2 * np.sum(jv(self.order + k, self.s) ** 2, axis=0)

    def run(self) -> NDArray[Any]:
        rng = np.random.default_rng(1)
        u = rng.random(self.n)
        low = u < self.mass[-1]
        s = np.empty(self.n)
        s[low] = np.interp(u[low], self.mass, self.s)
        left = np.flatnonzero(~low)
        while left.size:
            some = self.order / np.cos(rng.random(left.size) * math.pi / 2)
            chance = math.pi / 2 * np.sqrt(some**2 - self.order**2) * jv(self.order, some) ** 2
            taken = rng.random(left.size) < chance
            s[left[taken]] = some[taken]
            left = left[~taken]
        return s / self.wave

    def answer(self, result: NDArray[Any]) -> Arrays:
        return {"below": np.searchsorted(np.sort(result), self.at) / result.size}


if __name__ == "__main__":
    serve(Radii, ("scipy",))
