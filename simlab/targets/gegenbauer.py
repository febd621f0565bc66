"""Spherical harmonics of chosen degrees: f(x) = Σ_k √(p_k N_k) Σ_j c_kj P_k(w_kj·x̂), x̂ = x/‖x‖. MATH §4, §7.

P_k is the Legendre polynomial of dimension d (Gegenbauer's, P_k(1) = 1), the w_kj independent unit vectors. With one
direction a degree f is zonal in it and c = 1; with more, c is Gaussian and divided by the root of Σ_ij c_i c_j
P_k(w_i·w_j), and f looks like a generic harmonic. E f_k² = p_k exactly, on every sphere: only
the direction of x counts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from simlab.core import checks
from simlab.core.errors import shown
from simlab.core.params import AsTuple
from simlab.core.params import Params as Base
from simlab.sphere.legendre import legendre_sum
from simlab.sphere.multiplicity import log_multiplicity
from simlab.targets._sphere import cosines, unit_vectors

Floats = NDArray[np.float64]
MOST_DEGREE = 1_000_000
MOST_WORK = 2e8  # multiplications to normalise a target: half a second


class Params(Base):
    degrees: Annotated[tuple[int, ...], AsTuple] = Field((1,), min_length=1, description="degrees k, each once")
    powers: Annotated[tuple[float, ...] | None, AsTuple] = Field(
        None, description="power p_k > 0 of each degree; 1 each by default"
    )
    directions: int = Field(1, ge=1, description="random directions a degree")

    @model_validator(mode="after")
    def _one_power_a_degree(self) -> Params:
        if len(set(self.degrees)) < len(self.degrees) or min(self.degrees) < 0:
            raise ValueError(f"degrees = {shown(list(self.degrees))}: must be 0 or more, each named once")
        if max(self.degrees) > MOST_DEGREE:
            raise ValueError(f"degrees = {shown(list(self.degrees))}: must be at most {MOST_DEGREE}")
        if (work := sum(k + 1 for k in self.degrees) * self.directions**2) > MOST_WORK:
            raise ValueError(
                f"directions = {self.directions}: Σ(k+1) over the degrees times directions² is {work:.3g}; "
                f"must be at most {MOST_WORK:.3g}"
            )
        if self.powers is not None and len(self.powers) != len(self.degrees):
            raise ValueError(f"powers has {len(self.powers)} numbers: must be {len(self.degrees)}, one a degree")
        if self.powers is not None and not min(self.powers) > 0:
            raise ValueError(f"powers = {shown(list(self.powers))}: must be positive")
        return self


EXAMPLES = (
    {"degrees": [2]},
    {"degrees": [1, 2, 3], "powers": [1.0, 0.5, 0.25]},
    {"degrees": [0, 3], "directions": 4},
)


def _powers(params: Params) -> tuple[float, ...]:
    return params.powers if params.powers is not None else (1.0,) * len(params.degrees)


def draw(params: Params, dim: int, rng: np.random.Generator) -> Callable[[Floats], Floats]:
    parts = []
    for degree, size in zip(params.degrees, _powers(params), strict=True):
        w = unit_vectors(params.directions, dim, rng)
        c = rng.standard_normal(params.directions) if params.directions > 1 else np.ones(1)
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


def power(params: Params, dim: int, max_degree: int) -> Floats:
    """Exact, for x uniform on a sphere of any radius."""
    dim, max_degree = checks.dimension(dim, least=2), checks.degree(max_degree)
    p = np.zeros(max_degree + 1)
    for degree, size in zip(params.degrees, _powers(params), strict=True):
        if degree <= max_degree:
            p[degree] = size
    return p
