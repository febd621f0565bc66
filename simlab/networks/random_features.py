"""Random features: the neurons of a two-layer network whose first layer stays as it was drawn. MATH §5, §7.

    Φ_j(x) = σ φ(w_j·x̃)/√N,  j ≤ N,    Φ Φᵀ → nngp(2, φ, σ_w, σ_b)  as N → ∞, entrywise with error ~ N^(−1/2)

- ``weight_std`` left out: x̃ = x, σ² = 1/E φ(z)² at unit variance: the normalised family, meant for ‖x‖ = 1.
- σ_w given: w·x̃ = σ_w w·x/√d + σ_b b, σ = σ_w. Where σ_b > 0 the last feature is the constant σ_b, for the bias of the
  second layer: K² = σ_b² + σ_w² F(K¹).

law = "gaussian": w ~ N(0, I_d). "sphere": w uniform on the sphere of radius √d, so that E wwᵀ = I too. With σ_w = 1 and
‖x‖ = √d the latter is σ(ŵ·x) with ŵ on the unit sphere, as in MATH §7. Its limit is that of the Gaussian law where φ is
homogeneous of degree 0 or 1 and there is no bias (‖w‖ factors out); otherwise only for d → ∞.

Weights: W : (N, d), or (N, d + 1) with the biases b in the last column.

As a network: f = Φ(x)·c, θ = (c, W), of which c is trained (`_feature_net`). K = Φ Φᵀ does not change in training.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from simlab.core import checks
from simlab.kernels import nngp
from simlab.networks._feature_net import FeatureNet
from simlab.networks._gram import hadamard_gram
from simlab.networks._wide import checked_rows, columns
from simlab.networks.bound import Loops
from simlab.networks.limit import Limit

Floats = NDArray[np.float64]


class RandomFeatures(FeatureNet):
    """Φ_j(x) = σ φ(w_j·x̃)/√N."""

    may_be_bounded: ClassVar[bool] = True
    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {"width": 8},
        {"width": 8, "activation": "erf", "weight_std": 1.5, "bias_std": 0.5},
        {"width": 8, "law": "sphere", "weight_std": 1.0, "activation": {"kind": "leaky_relu", "slope": 0.1}},
        {"width": 8, "activation": "step", "coefficient_std": 1.0},
    )

    def count(self, dim: int) -> int:
        return self.width + self.biased

    def features_of(self, weights: Floats, X: Floats, part: slice | None = None) -> Floats:
        """Φ : (n, p), or the columns `part` of it."""
        X = self.lifted(X)
        weights = checked_rows(weights, self.width, X.shape[1], self.biased)
        begin, end = columns(part, self.width + self.biased)
        Phi = self.activation(X @ weights[begin:end].T)
        Phi *= self.outer_std() / self.width**0.5
        if end > self.width:
            Phi = np.column_stack([Phi, np.full(len(Phi), self.bias_std)])
        return Phi

    def loops(self, dim: int) -> Loops:
        return self.compiled(dim, second=True, first=False)

    def tangent_gram(self, theta: Floats, X: Floats, Y: Floats | None = None) -> Floats:
        """K = Φ Φᵀ : (n, n), or (n, n') between the rows of X and of Y"""
        X = checks.matrix(X)
        _, W = self.split(theta, X.shape[1])

        def factors(rows: Floats) -> list[tuple[Floats, Floats | None]]:
            return [(self.features_of(W, rows), None)]

        return hadamard_gram(factors, X, Y, self.width)

    def unbounded(self) -> str:
        return "" if self.activation.bounded else f"network.activation = {self.activation.kind!r}"

    def limit_kernel(self, dim: int, radius: float | None = None) -> Limit:
        """K² = nngp(2, φ, σ_w, σ_b)"""
        self.check_limit(dim, radius)
        return Limit(((1.0, nngp(2, self.activation, self.weight_std, self.bias_std)),))
