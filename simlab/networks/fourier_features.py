"""Random Fourier features, Φ_j(x) = √(2/m) cos(w_j·x/s + b_j), b ~ U(0, 2π): Φ Φᵀ → k((x−y)/s). MATH §5.

The kernel is the Fourier transform of the law of w, entry by entry (Rahimi–Recht; pairs as corrected in MATH §5):

    "gaussian"   k(z) = exp(−‖z‖²/2)          w ~ N(0, 1)
    "laplacian"  k(z) = exp(−‖z‖₁)            w ~ Cauchy(1)
    "cauchy"     k(z) = ∏_j 1/(1 + z_j²)      w ~ Laplace(1)

`exact` is that kernel. sampling = "random": independent draws, error ~ m^(−1/2). "sobol": (w, b) is a scrambled Sobol
sequence sent through the inverse distribution functions. Each point alone has the same law as before, so that Φ Φᵀ is
unbiased; together the points fill space evenly, and the error falls faster where d is small.

Weights: (m, d + 1), b in the last column. A larger m only adds rows.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field
from scipy import special
from scipy.spatial.distance import cdist
from scipy.stats import qmc

from simlab.core import checks
from simlab.core.errors import BadInput
from simlab.networks._wide import checked_rows, columns
from simlab.networks.bound import checked_start
from simlab.networks.network import FeatureMap

Floats = NDArray[np.float64]
SOBOL_BITS = 30  # of each coordinate of a point
SOBOL_DIM = qmc.Sobol.MAXDIM - 1  # most dimensions d: b needs one coordinate too


class FourierFeatures(FeatureMap):
    """Φ_j(x) = √(2/m) cos(w_j·x/s + b_j)."""

    has_exact: ClassVar[bool] = True
    shown: ClassVar[tuple[str, ...]] = (*FeatureMap.shown, "exact")
    may_be_bounded: ClassVar[bool] = True
    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {"width": 8},
        {"width": 8, "kernel": "laplacian", "scale": 2.0},
        {"width": 8, "kernel": "cauchy", "sampling": "sobol"},
    )

    width: int = Field(ge=1, description="number m of features")
    kernel: Literal["gaussian", "laplacian", "cauchy"] = Field("gaussian", description="which k")
    scale: float = Field(1.0, gt=0, description="bandwidth s")
    sampling: Literal["random", "sobol"] = Field("random", description="independent draws, or an even sequence")

    def draw(self, dim: int, rng: np.random.Generator) -> Floats:
        dim = checked_start(dim, rng, lambda d: self.width * (d + 1))
        if self.sampling == "random":
            W = np.maximum(rng.random((self.width, dim + 1)), 2.0**-54)  # 0 has no finite quantile
        else:
            W = _sobol(self.width, dim, rng)
        u = W[:, :-1]
        match self.kernel:
            case "gaussian":
                W[:, :-1] = special.ndtri(u)
            case "laplacian":
                W[:, :-1] = np.tan(np.pi * (u - 0.5))
            case "cauchy":
                W[:, :-1] = np.where(u < 0.5, np.log(2 * np.minimum(u, 0.5)), -np.log(2 * (1 - np.maximum(u, 0.5))))
        W[:, -1] *= 2 * np.pi
        return W

    def particle_count(self) -> int:
        return self.width

    def unbounded(self) -> str:
        return ""

    def count(self, dim: int) -> int:
        return self.width

    def features_of(self, weights: Floats, X: Floats, part: slice | None = None) -> Floats:
        """Φ : (n, m), or the columns `part` of it."""
        X = checks.matrix(X)
        weights = checked_rows(weights, self.width, X.shape[1] + 1, 1)
        some = weights[slice(*columns(part, self.width))]
        Phi: Floats = X @ (some[:, :-1].T / self.scale)
        Phi += some[:, -1]
        np.cos(Phi, out=Phi)
        Phi *= (2.0 / self.width) ** 0.5
        return Phi

    def exact(self, X: Floats, Y: Floats | None = None) -> Floats:
        """k((x_i − y_j)/s) : (n, n')"""
        X = checks.matrix(X) / self.scale
        Y = X if Y is None else checks.matrix(Y, "Y", dim=X.shape[1]) / self.scale
        K: Floats
        if self.kernel == "gaussian":
            K = np.exp(-0.5 * cdist(X, Y, "sqeuclidean"))
        elif self.kernel == "laplacian":
            K = np.exp(-cdist(X, Y, "cityblock"))
        else:
            K = np.ones((len(X), len(Y)))
            for x, y in zip(X.T, Y.T, strict=True):
                K /= 1.0 + (x[:, np.newaxis] - y) ** 2
        return K


def _sobol(m: int, dim: int, rng: np.random.Generator) -> Floats:
    """m points in (0, 1)^(d + 1)"""
    if dim > SOBOL_DIM or m > 1 << SOBOL_BITS:
        raise BadInput(
            f"sampling = 'sobol': at most {SOBOL_DIM} dimensions and 2^{SOBOL_BITS} features; here {dim} and {m}"
        )
    # Whole powers of 2 are drawn, else SciPy warns that the points are not balanced.
    points: Floats = qmc.Sobol(dim + 1, bits=SOBOL_BITS, seed=rng).random_base2((m - 1).bit_length())
    return points[:m] + 0.5 * 2.0**-SOBOL_BITS  # from multiples of 2^−SOBOL_BITS, 0 among them, to their middles
