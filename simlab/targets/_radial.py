"""Targets of the radius alone: g(x) = profile(‖x‖). MATH §8."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simlab.core.errors import BadInput

Floats = NDArray[np.float64]


def norms(X: Floats) -> Floats:
    """‖x_i‖ : (n,)"""
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", X, X)))


@dataclass(frozen=True, eq=False)
class Radial:
    """`profile` takes an array of radii r ≥ 0; `breaks` are the radii, increasing, where it or a derivative jumps:
    smooth between them, constant beyond the last.
    """

    profile: Callable[[Floats], Floats]
    breaks: tuple[float, ...]

    def __post_init__(self) -> None:
        edges = (0.0, *self.breaks)
        if not self.breaks or not all(a < b < np.inf for a, b in itertools.pairwise(edges)):
            raise BadInput(f"breaks = {self.breaks}: must be radii, one or more, increasing and greater than 0")

    def __call__(self, X: Floats) -> Floats:
        return np.asarray(self.profile(norms(X)), dtype=np.float64)

    @property
    def outside(self) -> float:
        """The constant beyond the last break."""
        return float(self.profile(np.array([2.0 * self.breaks[-1]]))[0])
