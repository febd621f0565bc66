"""The indicator of a spherical cap, f(x) = 1{w·x̂ > c}, x̂ = x/‖x‖, w uniform.

Its share of the sphere is P(u > c) = I_{1−c²}((d−1)/2, 1/2)/2 for c ≥ 0 (regularised incomplete beta), and
1 − P(u > −c) for c < 0; c = cos(angle). By Rodrigues' formula, with c_d = Γ(d/2)/(√π Γ((d−1)/2)) and P^{(d+2)} that of
dimension d + 2,
E 1{u>c} P_ℓ = c_d (1−c²)^{(d−1)/2} P_{ℓ−1}^{(d+2)}(c)/(d−1) for ℓ ≥ 1: power ~ ℓ^{−2}, so f lies in H^s for s < 1/2.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator
from scipy.special import betainc, betaincinv

from simlab.sphere.legendre import legendre
from simlab.sphere.power import power_of
from simlab.sphere.zonal import axes
from simlab.targets._directions import check_directions, cosines
from simlab.targets.target import Floats, Function, Target, check_power


class Cap(Target):
    """f(x) = 1{w·x̂ > c}."""

    examples: ClassVar[tuple[dict[str, Any], ...]] = ({"share": 0.3}, {"angle": 2.0})
    knows_power: ClassVar[bool] = True

    share: float | None = Field(None, gt=0, lt=1, description="share of the sphere's surface")
    angle: float | None = Field(None, gt=0, lt=math.pi, description="or angle between axis and rim, in radians")

    @model_validator(mode="after")
    def _one_of_two(self) -> Cap:
        if (self.share is None) == (self.angle is None):
            raise ValueError("cap: give either share or angle")
        return self

    def threshold(self, dim: int) -> float:
        """c, the cosine of the angle between axis and rim, in dimension `dim`."""
        if self.angle is not None:
            return math.cos(self.angle)
        assert self.share is not None
        smaller = min(self.share, 1.0 - self.share)
        # Solved for the smaller one of c² (near half the sphere) and 1 − c² (a small cap), which keeps its digits.
        if smaller > 0.25:
            c = math.sqrt(betaincinv(0.5, (dim - 1) / 2, 1.0 - 2.0 * smaller))
        else:
            c = math.sqrt(1.0 - betaincinv((dim - 1) / 2, 0.5, 2.0 * smaller))
        return c if self.share <= 0.5 else -c

    def surface_share(self, dim: int) -> float:
        """The cap's share of the sphere's surface, in [0, 1], in dimension `dim`."""
        if self.share is not None:
            return self.share
        c = self.threshold(dim)
        if abs(c) < 0.5:
            return 0.5 - math.copysign(0.5, c) * float(betainc(0.5, (dim - 1) / 2, c * c))
        smaller = 0.5 * float(betainc((dim - 1) / 2, 0.5, (1.0 - c) * (1.0 + c)))
        return smaller if c > 0 else 1.0 - smaller

    def value_kind(self) -> Literal["signs"]:
        return "signs"

    def check(self, dim: int) -> None:
        check_directions(1, dim)

    def draw(self, dim: int, rng: np.random.Generator) -> Function:
        dim = self.checked(dim, rng)
        w = axes(1, dim, rng)[0]
        c = self.threshold(dim)
        return lambda X: (cosines(X, w) > c).astype(np.float64)

    def power(self, dim: int, max_degree: int, radius: float = 1.0) -> Floats:
        """As in the contract; exact, and the same on a sphere of any radius."""
        dim, max_degree, _ = check_power(dim, max_degree, radius)
        c = self.threshold(dim)
        log_front = (
            math.lgamma(dim / 2) - math.lgamma((dim - 1) / 2) - 0.5 * math.log(math.pi) - math.log(dim - 1)
            + 0.5 * (dim - 1) * (math.log1p(-c) + math.log1p(c))
        )  # fmt: skip
        coefficients = np.full(max_degree + 1, self.surface_share(dim))
        if max_degree > 0:
            coefficients[1:] = math.exp(log_front) * legendre(dim + 2, max_degree - 1, c)
        return power_of(coefficients, dim)
