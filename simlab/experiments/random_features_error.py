"""How far m random features are from the kernel they tend to, and what it costs in regression. [S1 §2], MATH §5.

K̂ = Φ Φᵀ of one draw of the feature map is compared with its limit K over all pairs of `points` inputs: the largest and
the root mean square of |K̂ − K|, both ~ m^(−1/2). K is the map's own `exact` where it has one, else the given kernel.

With a target, ridge regression f = K(·,X)(K + λI)^{-1} y on `samples` inputs is done with K̂ and with K, and the risk
E(f − f*)² of both is measured at the same points. That with features exceeds the least by at most a multiple of
1/√m + 1/√n (Rahimi–Recht).

Streams: ``test`` (points), ``data`` (training inputs), ``target``, ``features``.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from simlab.core.rng import Streams
from simlab.data.law import Law
from simlab.data.splits import draw
from simlab.experiments.experiment import OneShot
from simlab.kernels.kernel import Kernel
from simlab.machines.dense import solve
from simlab.networks.network import FeatureMap
from simlab.record.schema import Output
from simlab.targets.target import Target

Floats = NDArray[np.float64]
BLOCK_FLOATS = 1 << 22
"""Entries of Φ in memory at once: 32 MB."""


class RandomFeaturesError(OneShot):
    """Errors of the kernel of random features, and of regression with them."""

    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {
            "experiment": {"kind": "random_features_error", "points": 5},
            "data": {"kind": "uniform_sphere", "dim": 3},
            "network": {"kind": "fourier_features", "width": 16},
        },
        {
            "experiment": {"kind": "random_features_error", "points": 5, "samples": 6, "ridge": 1e-3},
            "data": {"kind": "uniform_sphere", "dim": 3},
            "network": {"kind": "random_features", "width": 16},
            "kernel": {"kind": "nngp", "depth": 2},
            "target": {"kind": "relu_teacher"},
        },
    )

    points: int = Field(100, ge=2, description="number of inputs whose pairs are compared")
    samples: int = Field(0, ge=0, description="number n of training samples; 0: no regression")
    ridge: float = Field(0.0, ge=0, description="ridge λ of the regression")
    data: Law = Field(description="law of the inputs")
    network: FeatureMap = Field(description="the random features")
    kernel: Kernel | None = Field(None, description="the limit of a feature map that has no closed form of its own")
    target: Target | None = Field(None, description="what to learn; only with samples")

    @model_validator(mode="after")
    def _is_a_feature_map_with_a_limit(self) -> Self:
        if self.target is not None:
            self.target.check_scalar()
        if self.kernel is None and not self.network.has_exact:
            kind = self.network.kind
            raise ValueError(
                f"kernel: missing; network.kind = {kind!r} needs a [kernel] table, the limit of its features"
            )
        if (self.target is None) != (self.samples == 0):
            raise ValueError(f"samples = {self.samples}: regression needs both samples and a [target] table")
        return self

    def outputs(self) -> dict[str, Output]:
        found = {
            "features": Output("number p of features", dtype="int64"),
            "sup_error": Output("largest |K̂ − K| over pairs of points"),
            "rms_error": Output("root mean square of K̂ − K over pairs of points"),
        }
        if self.target is not None:
            found["risk"] = Output("mean square error of regression with the features, over the points")
            found["kernel_risk"] = Output("the same with the kernel itself")
            found["prediction_error"] = Output(
                "root mean square of the difference of the two predictions over the points"
            )
        return found

    def measure(self, streams: Streams) -> dict[str, Any]:
        n, dim = self.samples, self.data.dimension()
        inputs = draw(self.data, {"data": self.samples, "test": self.points}, streams)
        X = np.concatenate([inputs["data"], inputs["test"]])
        y = None if self.target is None else self.target.draw(dim, streams["target"])(X)
        approximate, exact = self._feature_gram(X, self.network.draw(dim, streams["features"])), self._limit(X)
        apart = np.abs(approximate - exact)[n:, n:]
        found: dict[str, Any] = {"features": self.network.count(dim)}
        found |= {"sup_error": apart.max(), "rms_error": np.sqrt(np.mean(apart**2))}
        if y is not None:
            ours, theirs, truth = self._predicted(approximate, y), self._predicted(exact, y), y[n:]
            found |= {"risk": np.mean((ours - truth) ** 2), "kernel_risk": np.mean((theirs - truth) ** 2)}
            found["prediction_error"] = np.sqrt(np.mean((ours - theirs) ** 2))
        return found

    def _feature_gram(self, X: Floats, weights: Floats) -> Floats:
        """Φ Φᵀ over all inputs, summed over blocks of features in order."""
        total, size = self.network.count(X.shape[1]), len(X)
        block = max(1, BLOCK_FLOATS // size)
        K = np.zeros((size, size))
        for begin in range(0, total, block):
            part = slice(begin, min(begin + block, total))
            Phi = self.network.features_of(weights, X, part)
            K += Phi @ Phi.T
        return K

    def _limit(self, X: Floats) -> Floats:
        if self.network.has_exact:
            return self.network.exact(X)
        assert self.kernel is not None  # validated
        return self.kernel.gram(X, threads=1)

    def _predicted(self, K: Floats, y: Floats) -> Floats:
        """f at the points, of regression on the training inputs."""
        n = self.samples
        f: Floats = K[n:, :n] @ solve(K[:n, :n], y[:n], self.ridge).coefficients
        return f

    def cost(self) -> tuple[float, float]:
        """The product Φ Φᵀ and the features themselves, two factorisations; 8 bytes per recorded number."""
        dim = self.data.dimension()
        size, p = self.points + self.samples, self.network.count(dim)
        return 2.0 * size * p * (size + dim + 20) + self.samples**3, 8.0 * len(self.outputs())

    def memory(self) -> float:
        """The Gram matrix of all inputs."""
        return 8.0 * (self.points + self.samples) ** 2
