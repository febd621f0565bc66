"""Hierarchical targets H(x) = F(x) + αG(F(x)), of k outputs. MATH §9.

F carries most of the signal; αG(F) is the part that is hard for a learner which does not know F. On the cube {±s}^d a
target may know its Walsh expansion H = Σ_S c_S χ_S, χ_S(x) = ∏_{i∈S} sign x_i, c_S ∈ R^k.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator, Field

Floats = NDArray[np.float64]
Terms = dict[tuple[int, ...], Floats]
"""Coordinates S, increasing → c_S : (k,)."""


def _small(alpha: float) -> float:
    if not 0.0 <= alpha < 1.0:
        raise ValueError("must be 0 or more and less than 1")
    return alpha


Alpha = Annotated[float, AfterValidator(_small), Field(description="size α of the composed part, in [0, 1)")]


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """F = `inner`: X (n, d) → (n, k), G = `outer`: (n, k) → (n, k); `coordinates` are those of x that count, where only
    some do; `walsh(s)` the Walsh expansion of H on the cube {±s}^d, where it is known.
    """

    inner: Callable[[Floats], Floats]
    outer: Callable[[Floats], Floats]
    alpha: float
    coordinates: NDArray[np.int64] | None = None
    walsh: Callable[[float], Terms] | None = None

    def parts(self, X: Floats) -> tuple[Floats, Floats]:
        """F(X) and G(F(X)) : (n, k) each"""
        F = self.inner(X)
        return F, self.outer(F)

    def __call__(self, X: Floats) -> Floats:
        F, G = self.parts(X)
        return np.asarray(F + self.alpha * G)
