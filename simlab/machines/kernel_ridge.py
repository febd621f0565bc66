"""Kernel ridge regression: f(x) = K(x, X) α, (K + λI) α = y. MATH §5.

λ = `ridge` ≥ 0 is not scaled by n: the objective (1/2n)Σ(f − y)² + (μ/2)‖f‖² has λ = nμ. λ = 0 is the interpolant and,
where the Gram matrix is singular, the limit λ → 0+: the least-squares function of least norm (`note_` says so; inputs
that occur twice predict the mean of their labels). With sample weights w the objective is Σ w(f − y)² + λ‖f‖²:
α = s·β, (sKs + λI)β = s·y, s = √w.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simlab.kernels import Kernel
from simlab.machines import _dense
from simlab.machines._estimator import BadData, Estimator, Floats, labels, weights_of

DENSE_LIMIT = 12_000
"""Samples up to which the Gram matrix is factored (1.2 GB in float64); beyond, an iterative solver."""
BLOCK = 1 << 25
"""Entries of K(x, X) at a time when predicting: 256 MB."""


class KernelRidge(Estimator):
    """Follows scikit-learn: ``KernelRidge(ntk(3), ridge=0.1).fit(X, y).predict(X)``.

    After `fit`: `X_fit_` (n, d), `dual_coef_` α of y's shape, `residual_` ‖y − (K+λI)α‖/‖y‖ (weighted: of the scaled
    system), `rank_` (eigenvalues kept; None where none was left out), `note_` (empty unless the Gram matrix was
    singular), `method_`, `n_features_in_`, and `feature_names_in_` for data frames.
    """

    X_fit_: NDArray[Any]
    dual_coef_: Floats

    def __init__(self, kernel: Any, ridge: float = 0.0) -> None:
        self.kernel = kernel
        self.ridge = ridge

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        kernel, ridge = checked_kernel(self.kernel), _dense.checked_ridge(self.ridge)
        data = self._inputs(X, reset=True)
        n = data.shape[0]
        targets, weights = labels(y, n), weights_of(sample_weight, n)
        self.X_fit_ = np.array(data, order="C")  # a copy: what the caller does to X later changes nothing here
        if n > DENSE_LIMIT:
            self._fit_by_iteration(kernel, targets, ridge, weights)
            return self
        K = kernel.gram(self.X_fit_)
        if weights is not None:
            root = np.sqrt(weights)
            K *= root[:, np.newaxis]
            K *= root
            targets = (targets.T * root).T
        found = _dense.solve(K, targets, ridge, overwrite=True)
        self.dual_coef_ = found.coefficients if weights is None else (found.coefficients.T * root).T
        self.residual_, self.rank_, self.note_ = found.residual, found.rank, found.note
        self.method_ = "cholesky" if found.rank is None else "eigendecomposition"
        return self

    def _fit_by_iteration(self, kernel: Kernel, targets: Floats, ridge: float, weights: Floats | None) -> None:
        from simlab.machines._path import ridge_path

        if weights is not None:
            raise BadData(f"sample_weight: given with {targets.shape[0]} samples; at most {DENSE_LIMIT} with weights")
        found = ridge_path(kernel, self.X_fit_, targets, [ridge])
        self.dual_coef_ = np.asarray(found.coefficients[0])
        self.residual_, self.rank_, self.note_ = float(found.residuals[0]), None, ""
        self.method_ = found.method

    def predict(self, X: ArrayLike) -> Floats:
        """f(x_i) : (m,) or (m, outputs)"""
        self._check_fitted()
        return kernel_times(self.kernel, self._inputs(X, reset=False), self.X_fit_, self.dual_coef_)


def kernel_times(kernel: Kernel, X: NDArray[Any], X_fit: NDArray[Any], coefficients: Floats) -> Floats:
    """K(X, X_fit) @ coefficients, some rows of K at a time."""
    out = np.empty((X.shape[0], *coefficients.shape[1:]))
    step = max(1, BLOCK // X_fit.shape[0])
    for begin in range(0, X.shape[0], step):
        out[begin : begin + step] = kernel.gram(X[begin : begin + step], X_fit) @ coefficients
    return out


def checked_kernel(kernel: Any) -> Kernel:
    if not isinstance(kernel, Kernel):
        raise BadData(f"kernel = {kernel!r}: must be a kernel, such as simlab.kernels.ntk(3)")
    return kernel
