"""The radius ‖x‖ of x = scale·y where y has the density φ², φ the inverse Fourier transform of a ball's indicator.

The ball R_d B has volume 1: R_d = Γ(d/2+1)^{1/d}/√π, φ(y) = (R_d/‖y‖)^{d/2} J_{d/2}(2πR_d‖y‖). With ν = d/2 and
s = 2πR_d‖y‖ the density of s is d·J_ν(s)²/s, its CDF J_ν(s)² + 2Σ_k J_{ν+k}(s)² (`bessel`), and P(s > S) ≈ d/(πS):
‖x‖ has no mean. MATH §8.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simlab.core.errors import BadInput
from simlab.sphere import _ball_sampler, bessel

Floats = NDArray[np.float64]

MOST_DIM = 5_000
"""The largest dimension tested: its tables take 1 s, growing like d²."""


@dataclass(frozen=True)
class BallLaw:
    """The law of the radius r = ‖x‖. Methods take radii in arrays of any shape.

    dim: d.
    scale: factor of the natural radius ‖y‖.
    """

    dim: int
    scale: float = 1.0

    def __post_init__(self) -> None:
        if not 2 <= self.dim <= MOST_DIM:
            why = "in one dimension every function is one of a single neuron's" if self.dim == 1 else "out of range"
            raise BadInput(f"dim = {self.dim}: must be 2 to {MOST_DIM} ({why})")
        if not 0.0 < self.scale < math.inf:
            raise BadInput(f"scale = {self.scale}: must be positive and finite")

    @classmethod
    def natural(cls, dim: int) -> BallLaw:
        """The law of ‖y‖ itself."""
        return cls(dim)

    @classmethod
    def of_mass(cls, dim: int, mass: float) -> BallLaw:
        """The law under which P(‖x‖ < 1) = mass."""
        if not 0.0 < mass < 1.0:
            raise BadInput(f"mass = {mass}: must lie between 0 and 1, both excluded")
        return cls(dim, 1.0 / float(cls(dim).quantile(mass)))

    @property
    def order(self) -> float:
        """ν"""
        return 0.5 * self.dim

    @property
    def ball_radius(self) -> float:
        """R_d"""
        return math.exp(math.lgamma(self.order + 1.0) / self.dim) / math.sqrt(math.pi)

    @property
    def wave(self) -> float:
        """s/r = 2πR_d/scale"""
        return 2.0 * math.pi * self.ball_radius / self.scale

    @property
    def median(self) -> float:
        """r with P(‖x‖ < r) = ½."""
        return float(self.quantile(0.5))

    def density(self, r: ArrayLike) -> Floats:
        """Of the radius: d·J_ν(s)²/s · s/r."""
        s = self.wave * np.asarray(r, dtype=np.float64)
        # At 0 the density is that of the volume, r^{d−1} φ(0)².
        inside = (s > 0) & (s < np.inf)
        safe = np.where(inside, s, 1.0)
        found = np.where(inside, self.dim * self.wave * bessel.first_kind(self.order, safe) ** 2 / safe, 0.0)
        return np.asarray(np.where(np.isnan(s), np.nan, found))

    def cdf(self, r: ArrayLike) -> Floats:
        """P(‖x‖ < r)"""
        return self._both(r)[0]

    def sf(self, r: ArrayLike) -> Floats:
        """P(‖x‖ > r), with a small relative error however small it is itself."""
        return self._both(r)[1]

    def _both(self, r: ArrayLike) -> tuple[Floats, Floats]:
        """CDF and survival; each by its own sum where it is the smaller."""
        s = self.wave * np.asarray(r, dtype=np.float64)
        known = np.isfinite(s)
        flat = np.where(known, np.maximum(s, 0.0), 0.0).ravel()
        high = flat >= bessel.tail(self.order).start
        mass, rest = np.empty(flat.size), np.empty(flat.size)
        mass[~high] = bessel.lower(self.order, flat[~high])
        rest[high] = bessel.upper(self.order, flat[high])[0]
        rest[~high] = 1.0 - mass[~high]
        mass[high] = 1.0 - rest[high]
        beyond = np.where(np.isnan(s), s, np.where(s > 0, 1.0, 0.0))  # of radii that are no numbers
        return (
            np.asarray(np.where(known, mass.reshape(s.shape), beyond)),
            np.asarray(np.where(known, rest.reshape(s.shape), 1.0 - beyond)),
        )

    def quantile(self, u: ArrayLike) -> Floats:
        """r with P(‖x‖ < r) = u, 0 ≤ u < 1."""
        wanted = np.asarray(u, dtype=np.float64)
        if not np.all((wanted >= 0.0) & (wanted < 1.0)):
            raise BadInput("quantile: u must lie in [0, 1)")
        return _ball_sampler.quantile(self.order, wanted.ravel()).reshape(wanted.shape) / self.wave

    def radii(self, n: int, rng: np.random.Generator) -> Floats:
        """n independent radii, drawn one after another."""
        return _ball_sampler.sample(self.order, n, rng) / self.wave

    def stratified(self, n: int) -> Floats:
        """The quantiles (i+½)/n, increasing."""
        return self.quantile((np.arange(n) + 0.5) / n)

    def phi(self, r: ArrayLike) -> Floats:
        """φ at the natural radius r/scale: Γ(ν+1) (2/s)^ν J_ν(s), 1 at the centre."""
        s = self.wave * np.asarray(r, dtype=np.float64)
        return bessel.hat(self.order, s)
