"""Spherical harmonics of chosen degrees: f(x) = Σ_k √(p_k N_k) Σ_j c_kj P_k(w_kj·x̂), x̂ = x/‖x‖. MATH §4, §7.

P_k is the Legendre polynomial of dimension d (Gegenbauer's, P_k(1) = 1), N_k the number of harmonics of degree k, and
the w_kj are independent unit vectors. With one direction per degree, c = 1 and f_k depends on w_k·x̂ alone. With more, c
is Gaussian, divided by the root of Σ_ij c_i c_j P_k(w_i·w_j), and f_k looks like a generic harmonic. E f_k² = p_k
exactly, on a sphere of any radius: only the direction of x counts.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field, model_validator

from simlab.core import checks
from simlab.core.errors import shown
from simlab.core.parsing import AsTuple
from simlab.sphere.legendre import legendre_sum
from simlab.sphere.multiplicity import log_multiplicity
from simlab.sphere.zonal import axes
from simlab.targets._directions import check_directions, cosines
from simlab.targets.target import Floats, Function, Target, check_power

MOST_DEGREE = 1_000_000
MOST_PRODUCTS = 2e8
"""Most multiplications to normalise a target: half a second."""


class Gegenbauer(Target):
    """f(x) = Σ_k √(p_k N_k) Σ_j c_kj P_k(w_kj·x̂)."""

    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {"degrees": [2]},
        {"degrees": [1, 2, 3], "powers": [1.0, 0.5, 0.25]},
        {"degrees": [0, 3], "directions": 4},
    )
    knows_power: ClassVar[bool] = True

    degrees: Annotated[tuple[int, ...], AsTuple] = Field((1,), min_length=1, description="degrees k, each once")
    powers: Annotated[tuple[float, ...] | None, AsTuple] = Field(
        None, description="power p_k > 0 of each degree; 1 each by default"
    )
    directions: int = Field(1, ge=1, description="random directions per degree")

    @model_validator(mode="after")
    def _one_power_per_degree(self) -> Gegenbauer:
        if len(set(self.degrees)) < len(self.degrees) or min(self.degrees) < 0:
            raise ValueError(f"degrees = {shown(list(self.degrees))}: must be 0 or more, each named once")
        if max(self.degrees) > MOST_DEGREE:
            raise ValueError(f"degrees = {shown(list(self.degrees))}: must be at most {MOST_DEGREE}")
        if (work := sum(k + 1 for k in self.degrees) * self.directions**2) > MOST_PRODUCTS:
            raise ValueError(
                f"directions = {self.directions}: Σ(k+1) over the degrees times directions² is {work:.3g}; "
                f"must be at most {MOST_PRODUCTS:.3g}"
            )
        if self.powers is not None and len(self.powers) != len(self.degrees):
            raise ValueError(f"powers has {len(self.powers)} numbers: must be {len(self.degrees)}, one per degree")
        if self.powers is not None and not min(self.powers) > 0:
            raise ValueError(f"powers = {shown(list(self.powers))}: must be positive")
        return self

    def _powers(self) -> tuple[float, ...]:
        return self.powers if self.powers is not None else (1.0,) * len(self.degrees)

    def check(self, dim: int) -> None:
        check_directions(len(self.degrees) * self.directions, dim)
        floats = sum(k + 1 for k in self.degrees) + 3 * self.directions**2
        checks.memory(floats, f"degrees = {shown(list(self.degrees))} and directions = {self.directions}")

    def draw(self, dim: int, rng: np.random.Generator) -> Function:
        dim = self.checked(dim, rng)
        parts = []
        for degree, size in zip(self.degrees, self._powers(), strict=True):
            w = axes(self.directions, dim, rng)
            c = rng.standard_normal(self.directions) if self.directions > 1 else np.ones(1)
            mode = np.zeros(degree + 1)
            mode[degree] = 1.0
            c /= np.sqrt(c @ legendre_sum(dim, mode, w @ w.T) @ c)
            mode[degree] = np.sqrt(size) * np.exp(0.5 * log_multiplicity(dim, degree))
            parts.append((mode, w, c))

        def target(X: Floats) -> Floats:
            X = checks.matrix(X, dim=dim)
            f = np.zeros(len(X))
            for mode, w, c in parts:
                f += legendre_sum(dim, mode, cosines(X, w.T)) @ c
            return f

        return target

    def power(self, dim: int, max_degree: int, radius: float = 1.0) -> Floats:
        """As in the contract; exact, and the same on a sphere of any radius."""
        dim, max_degree, _ = check_power(dim, max_degree, radius)
        p = np.zeros(max_degree + 1)
        for degree, size in zip(self.degrees, self._powers(), strict=True):
            if degree <= max_degree:
                p[degree] = size
        return p
