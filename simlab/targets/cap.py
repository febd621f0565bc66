"""The indicator of a spherical cap, f(x) = 1{w·x̂ > c}, x̂ = x/‖x‖, w uniform.

Its share of the sphere is P(u > c) = I_{1−c²}((d−1)/2, 1/2)/2 for c ≥ 0 (regularised incomplete beta), one less that
for −c; c = cos(angle). By Rodrigues' formula, with c_d = Γ(d/2)/(√π Γ((d−1)/2)) and P^{(d+2)} of dimension d + 2,
E 1{u>c} P_ℓ = c_d (1−c²)^{(d−1)/2} P_{ℓ−1}^{(d+2)}(c)/(d−1) for ℓ ≥ 1: power ~ ℓ^{−2}, so f lies in H^s for s < 1/2.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator
from scipy.special import betainc, betaincinv

from simlab.core import checks
from simlab.core.params import Params as Base
from simlab.sphere.legendre import legendre
from simlab.sphere.power import power_of
from simlab.targets._sphere import cosines, unit_vectors

Floats = NDArray[np.float64]


class Params(Base):
    share: float | None = Field(None, gt=0, lt=1, description="share of the sphere's surface")
    angle: float | None = Field(None, gt=0, lt=math.pi, description="or angle between axis and rim, in radians")

    @model_validator(mode="after")
    def _one_of_two(self) -> Params:
        if (self.share is None) == (self.angle is None):
            raise ValueError("cap: give either share or angle")
        return self


EXAMPLES = ({"share": 0.3}, {"angle": 2.0})


def threshold(params: Params, dim: int) -> float:
    """c, the cosine at the rim."""
    if params.angle is not None:
        return math.cos(params.angle)
    assert params.share is not None
    smaller = min(params.share, 1.0 - params.share)
    # A large cap by c², a small one by 1 − c²: each from the side where no digits are lost.
    if smaller > 0.25:
        c = math.sqrt(betaincinv(0.5, (dim - 1) / 2, 1.0 - 2.0 * smaller))
    else:
        c = math.sqrt(1.0 - betaincinv((dim - 1) / 2, 0.5, 2.0 * smaller))
    return c if params.share <= 0.5 else -c


def share(params: Params, dim: int) -> float:
    """The share of the sphere, in [0, 1]."""
    if params.share is not None:
        return params.share
    c = threshold(params, dim)
    if abs(c) < 0.5:
        return 0.5 - math.copysign(0.5, c) * float(betainc(0.5, (dim - 1) / 2, c * c))
    smaller = 0.5 * float(betainc((dim - 1) / 2, 0.5, (1.0 - c) * (1.0 + c)))
    return smaller if c > 0 else 1.0 - smaller


def draw(params: Params, dim: int, rng: np.random.Generator) -> Callable[[Floats], Floats]:
    w = unit_vectors(1, dim, rng)[0]
    c = threshold(params, dim)
    return lambda X: (cosines(X, w) > c).astype(np.float64)


def power(params: Params, dim: int, max_degree: int) -> Floats:
    """Exact, for x uniform on a sphere of any radius."""
    dim, max_degree = checks.dimension(dim, least=2), checks.degree(max_degree)
    c = threshold(params, dim)
    log_front = (
        math.lgamma(dim / 2) - math.lgamma((dim - 1) / 2) - 0.5 * math.log(math.pi) - math.log(dim - 1)
        + 0.5 * (dim - 1) * (math.log1p(-c) + math.log1p(c))
    )  # fmt: skip
    coefficients = np.full(max_degree + 1, share(params, dim))
    if max_degree > 0:
        coefficients[1:] = math.exp(log_front) * legendre(dim + 2, max_degree - 1, c)
    return power_of(coefficients, dim)
