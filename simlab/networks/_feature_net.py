"""Feature maps as networks: f = Φ(x)·c, where c is trained and the neurons that make Φ are frozen. MATH §5, §7.

θ = (c, W): p coefficients in the order of the features, then the weights of `draw`, row by row. c starts from
N(0, coefficient_std²). With the default 0 descent tends to the interpolant of least norm, which is kernel regression
with Φ Φᵀ; 1 is the top layer of a network in NTK parametrisation.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from simlab.networks._feature_tile import LOOPS, MOST_ROWS
from simlab.networks._wide import Wide
from simlab.networks.bound import Loops, checked_start, vector
from simlab.networks.limit import check_radius
from simlab.networks.network import FeatureMap, Trainable
from simlab.networks.skeleton import fitting_rows

Floats = NDArray[np.float64]


class FeatureNet(Wide, Trainable, FeatureMap):
    """What random features and tangent features share."""

    shown: ClassVar[tuple[str, ...]] = (*Trainable.shown, *FeatureMap.shown)

    law: Literal["gaussian", "sphere"] = Field(
        "gaussian", description="of the weights w: N(0, I), or uniform on the sphere of radius √d"
    )
    coefficient_std: float = Field(
        0.0, ge=0, le=1e15, description="standard deviation of the coefficients before training; 1: as a net's"
    )

    def draw(self, dim: int, rng: np.random.Generator) -> Floats:
        """W : (N, d), or (N, d + 1) with the biases in the last column"""
        dim = checked_start(dim, rng, lambda d: self.width * self.lifted_dim(d))
        W = rng.standard_normal((self.width, self.lifted_dim(dim)))
        if self.law == "sphere":
            W[:, :dim] *= (dim**0.5 / np.linalg.norm(W[:, :dim], axis=1))[:, np.newaxis]
        return W

    def initialise(self, dim: int, rng: np.random.Generator) -> Floats:
        """θ : (p + N d,), with a bias (p + N (d + 1),). W is drawn before c, so that it is what `draw` gives."""
        count, W = self.count(dim), self.draw(dim, rng)
        return np.concatenate([self.coefficient_std * rng.standard_normal(count), W.reshape(-1)])

    def split(self, theta: Floats, dim: int) -> tuple[Floats, Floats]:
        """(c, W) of θ: (p,), and (N, d) or (N, d + 1)"""
        count, k = self.count(dim), self.lifted_dim(dim)
        theta = vector(theta, "theta", count + self.width * k, dim)
        return theta[:count], theta[count:].reshape(self.width, k)

    def compiled(self, dim: int, second: bool, first: bool) -> Loops:
        """The loops of a network with the features φ (second: those of the second layer), x̃ φ' (first) or both."""
        N, count = self.width, self.count(dim)
        s0 = 1.0 if self.weight_std is None else self.weight_std / dim**0.5
        sizes = np.array([fitting_rows(3 * N, MOST_ROWS), self.biased, dim, N, second, first], dtype=np.int64)
        return Loops(
            compiled=LOOPS,
            activation=self.activation,
            sizes=sizes,
            numbers=np.array([self.bias_std, s0, self.outer_std() / N**0.5]),
            trained=range(count),
            size=count + N * self.lifted_dim(dim),
        )

    def check_limit(self, dim: int, radius: float | None) -> None:
        """Raise ValueError where the law of the weights, or the radius, has no known limit."""
        homogeneous = self.activation.homogeneity() is not None and not self.bias_std
        if self.law == "sphere" and not homogeneous:
            raise ValueError(
                "network.law = 'sphere': only for a homogeneous activation without bias is the limit known"
            )
        check_radius(radius, dim, self.weight_std)
