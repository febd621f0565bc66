"""Gaussian-process regression: f ~ GP(0, K), y = f(X) + noise of variance σ². MATH §5.

    mean        k(x)ᵀ(K + σ²I)⁻¹y,  k(x) = K(X, x): that of ridge regression with λ = σ² = `noise`
    covariance  K(x, x') − k(x)ᵀ(K + σ²I)⁻¹k(x'), of f itself: add σ² for a new label
    evidence    log p(y) = −½ yᵀ(K + σ²I)⁻¹y − ½ log det(K + σ²I) − (n/2) log 2π

Several outputs are independent processes with one kernel: they share the covariance, and their log evidences add.

If K + σ²I is numerically singular (inputs that occur twice at noise 0), the pseudo-inverse takes the place of the
inverse. This is the limit σ → 0+ of mean and covariance. Labels then have no density: asking for the evidence is an
error.

A variance is a difference of numbers as large as K(x, x). Its rounding error is at most about
n·eps·(‖K + σ²I‖‖α‖² + K(x, x)) with α = (K + σ²I)⁻¹k(x); at a training point at noise 0 this is n·eps·‖K‖. Negative
variances are rounding and are set to 0.
"""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg

from simlab.core import checks
from simlab.core.checks import BadData
from simlab.core.errors import BadInput
from simlab.machines import dense
from simlab.machines._predict import BLOCK_FLOATS, finite
from simlab.machines.estimator import Estimator, Floats, inputs, labels
from simlab.machines.kernel_ridge import checked_kernel


class GaussianProcess(Estimator):
    """Follows scikit-learn: ``GaussianProcess(ntk(3), noise=0.01).fit(X, y).predict(X, return_std=True)``.

    kernel: K, such as ``kernels.ntk(3)``.
    noise: variance σ² of the noise, 0 or more.

    After `fit`:

    X_fit_: inputs, (n, d).
    dual_coef_: (K + σ²I)⁻¹y, of y's shape.
    residual_, rank_, note_: as in `KernelRidge`.
    n_features_in_: dimension d of the inputs.
    feature_names_in_: names of the columns, if X was a data frame.
    """

    X_fit_: NDArray[Any]
    dual_coef_: Floats

    def __init__(self, kernel: Any, noise: float = 0.0) -> None:
        self.kernel = kernel
        self.noise = noise

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Condition on inputs X : (n, d) and labels y : (n,) or (n, outputs)."""
        kernel, noise = checked_kernel(self.kernel), dense.checked_ridge(self.noise, "noise")
        data = self._inputs(X, reset=True)
        targets = labels(y, data.shape[0])
        data = np.array(data, order="C")
        factor, found = dense.factored(kernel.gram(data), targets, noise, overwrite=True)
        self.X_fit_, self._targets, self._factor, self.dual_coef_ = data, targets.copy(), factor, found.coefficients
        self.residual_, self.rank_, self.note_ = found.residual, found.rank, found.note
        return self

    def predict(self, X: ArrayLike, return_std: bool = False, return_cov: bool = False) -> Any:
        """Mean of f at the rows of X : (m, d), as (m,) or (m, outputs).

        return_std: return (mean, standard deviation), the latter (m,).
        return_cov: return (mean, covariance), the latter (m, m).
        """
        self._check_fitted()
        if checks.flag(return_std, "return_std") and checks.flag(return_cov, "return_cov"):
            raise BadData("return_std and return_cov: at most one of them")
        data = self._inputs(X, reset=False)
        step = data.shape[0] if return_cov else max(1, BLOCK_FLOATS // self.X_fit_.shape[0])
        mean = np.empty((data.shape[0], *self.dual_coef_.shape[1:]))
        spread = self.kernel.gram(data) if return_cov else self.kernel.diagonal(data) if return_std else None
        with np.errstate(over="ignore", invalid="ignore"):
            for begin in range(0, data.shape[0], step):
                rows = slice(begin, begin + step)
                cross = self.kernel.gram(self.X_fit_, data[rows])
                mean[rows] = cross.T @ self.dual_coef_
                if spread is not None:
                    white = self._factor.whiten(cross)
                    spread[rows] -= white.T @ white if return_cov else np.sum(white**2, axis=0)
        if spread is None:
            return finite(mean)
        return finite(mean), finite(spread if return_cov else np.sqrt(np.maximum(spread, 0.0)))

    def log_marginal_likelihood(self) -> float:
        """log p(y), summed over outputs."""
        self._check_fitted()
        if self.note_:
            why = f"the Gram matrix is numerically singular (rank {self.rank_} of {self.X_fit_.shape[0]})"
            raise BadInput(f"noise = {self.noise}: {why}, so labels have no density; give a noise above 0")
        outputs = int(self._targets[0].size)
        fit = float(np.sum(self._targets * self.dual_coef_))
        volume = self._factor.log_determinant() + self._targets.shape[0] * math.log(2.0 * math.pi)
        return float(-0.5 * (fit + outputs * volume))

    def sample_prior(self, X: ArrayLike, count: int, rng: np.random.Generator) -> Floats:
        """`count` draws of f at the rows of X : (m, d) before any label, as (count, m). Needs no `fit`."""
        data = inputs(X)
        return _draws(checked_kernel(self.kernel).gram(data), (_count(count, len(data)),), checks.generator(rng))

    def sample_posterior(self, X: ArrayLike, count: int, rng: np.random.Generator) -> Floats:
        """`count` draws of f at the rows of X : (m, d) given the labels, as (count, m) or (count, m, outputs)."""
        mean, covariance = self.predict(X, return_cov=True)
        outer = (_count(count, mean.size), *mean.shape[1:])
        draws: Floats = mean + np.moveaxis(_draws(covariance, outer, checks.generator(rng)), -1, 1)
        return draws


def _draws(covariance: Floats, outer: tuple[int, ...], rng: np.random.Generator) -> Floats:
    """Normal vectors (*outer, m) of this covariance (m, m), by its eigenvectors: no jitter even if it is singular."""
    values, vectors = linalg.eigh(covariance, check_finite=False)
    normals = rng.standard_normal((*outer, values.size))
    found: Floats = (normals * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    return found


def _count(count: Any, numbers: int) -> int:
    """The number of draws, checked: at least 1, and draws of `numbers` floats each must fit into memory."""
    found = checks.whole(count, "count", least=1)
    checks.memory(2 * found * numbers, f"count = {found}")
    return found
