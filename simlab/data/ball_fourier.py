"""x ~ φ², φ the inverse Fourier transform of the indicator of the ball of volume 1, rescaled: x = scale·y. MATH §8.

A two-layer network times φ has its Fourier transform inside tubes about its neurons' directions, so that under this law
its error has a lower bound. ‖x‖ has the law of `simlab.sphere.ball_law`; directions are uniform. P(‖x‖ > r) ~ 1/r:
‖x‖ has no mean.

`mass` = P(‖x‖ < 1) sets the scale ("natural": x ~ φ² itself, under which the unit ball has mass 0.78 at d = 3 and 2e-41
at d = 100). Radii "stratified" lie on the quantiles (i+½)/n, in random order; directions in "frames" come as randomly
rotated cross-polytopes {±q_k} of 2d points, which neighbouring radii share: linear functions then have mean 0 and
quadratic ones that of ‖x‖²/d over each group, so that means over x vary less from sample to sample.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field, field_validator

from simlab.core import checks
from simlab.core.fields import number_or
from simlab.data.law import Floats, Law
from simlab.sphere.ball_law import MOST_DIM, BallLaw
from simlab.sphere.zonal import axes


class BallFourier(Law):
    """x = ‖x‖ u, ‖x‖ of the law φ² and u uniform on the unit sphere."""

    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {"dim": 3},
        {"dim": 10, "mass": "natural", "directions": "frames"},
        {"dim": 4, "mass": 0.6, "radii": "stratified", "directions": "frames"},
    )
    heavy_tail: ClassVar[bool] = True
    rotation_invariant: ClassVar[bool] = True
    has_radius_law: ClassVar[bool] = True

    dim: int = Field(description=f"dimension d, 2 to {MOST_DIM}")
    mass: Annotated[float | Literal["natural"], number_or("natural", below=1.0)] = Field(
        0.4, description='P(‖x‖ < 1), or "natural": not rescaled'
    )
    radii: Literal["random", "stratified"] = Field("random", description="independent, or on the quantiles (i+½)/n")
    directions: Literal["random", "frames"] = Field("random", description="independent, or 2d at a time orthogonal")

    @field_validator("dim")
    @classmethod
    def _two_at_least(cls, dim: int) -> int:
        if dim == 1:
            raise ValueError("must be at least 2: on a line every function is one of a single neuron's input")
        if not 2 <= dim <= MOST_DIM:
            raise ValueError(f"must be from 2 to {MOST_DIM}")
        return dim

    def dimension(self) -> int:
        return self.dim

    def radius_law(self) -> BallLaw:
        return BallLaw.natural(self.dim) if isinstance(self.mass, str) else BallLaw.of_mass(self.dim, self.mass)

    def together(self) -> bool:
        return self.radii == "stratified"

    def sample(self, n: int, rng: np.random.Generator) -> Floats:
        """X : (n, d). Stratified rows depend on n; others are drawn one after another."""
        n = checks.sample(n, rng, self.dim + 16)
        if self.radii == "stratified":
            r = self.radius_law().stratified(n)
        else:
            # From a stream of their own: a radius takes as many numbers as it needs, a direction d.
            own = np.random.Generator(np.random.PCG64(rng.integers(1 << 63, size=4).tolist()))
            r = self.radius_law().radii(n, own)
        X = frames(n, self.dim, rng) if self.directions == "frames" else axes(n, self.dim, rng)
        X *= r[:, np.newaxis]
        # Strata in order would make the first rows of a mini-batch the innermost.
        return X[rng.permutation(n)] if self.radii == "stratified" else X


def frames(n: int, dim: int, rng: np.random.Generator) -> Floats:
    """Rows q_1, −q_1, q_2, −q_2, … of orthogonal matrices drawn by Haar's measure; the last one as far as needed."""
    X = np.empty((n, dim))
    for start in range(0, n, 2 * dim):
        q, r = np.linalg.qr(rng.standard_normal((dim, dim)))
        q *= np.where(np.diag(r) < 0, -1.0, 1.0)  # else the factor's signs are LAPACK's choice, not Haar's
        rows = np.stack([q.T, -q.T], axis=1).reshape(2 * dim, dim)
        X[start : start + 2 * dim] = rows[: n - start]
    return X
