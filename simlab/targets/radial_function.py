"""Targets of the radius alone: g(x) = profile(‖x‖). MATH §8."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from simlab.core import checks
from simlab.core.errors import BadInput, shown
from simlab.targets.target import Floats


def norms(X: Floats) -> Floats:
    """‖x_i‖ : (n,), of inputs X (n, d)."""
    X = checks.matrix(X)
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", X, X)))


@dataclass(frozen=True, eq=False)
class Radial:
    """g(x) = profile(‖x‖).

    profile: radii r ≥ 0, (n,) → values, (n,). Smooth between the breaks, constant beyond the last.
    breaks: radii, increasing, where the profile or a derivative of it jumps.
    """

    profile: Callable[[Floats], Floats]
    breaks: tuple[float, ...]

    def __post_init__(self) -> None:
        checks.function(self.profile, "profile")
        edges = (0.0, *checks.array(checks.listed(self.breaks, "breaks"), "breaks", ndim=1).tolist())
        if len(edges) == 1 or not all(a < b for a, b in itertools.pairwise(edges)):
            raise BadInput(f"breaks = {shown(self.breaks)}: must be radii, one or more, increasing and greater than 0")
        object.__setattr__(self, "breaks", edges[1:])

    def values(self, r: Floats) -> Floats:
        """The profile at radii r, (n,); BadInput unless it gives one real number per radius."""
        found = checks.array(self.profile(r), "profile", finite=False)
        if found.shape != r.shape:
            raise BadInput(
                f"profile: gave shape {found.shape} for {r.size} radii; must be {r.shape}, one value for each"
            )
        return found

    def __call__(self, X: Floats) -> Floats:
        return np.asarray(checks.array(self.values(norms(X)), "profile"))

    @property
    def outside(self) -> float:
        """The value beyond the last break, where the profile is constant."""
        return float(checks.array(self.values(np.array([2.0 * self.breaks[-1]])), "profile")[0])
