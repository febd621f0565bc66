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

from simlab.core.checks import BadData
from simlab.core.errors import shown
from simlab.core.resources import free_memory
from simlab.kernels import Kernel
from simlab.machines import dense
from simlab.machines._predict import kernel_times
from simlab.machines.estimator import Estimator, Floats, labels, weights_of
from simlab.machines.path import ridge_path
from simlab.machines.solver import solve_path

DENSE_LIMIT = 12_000
"""Samples up to which the Gram matrix is factored (1.2 GB in float64); beyond, or for want of memory, `ridge_path`."""


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
        kernel, ridge = checked_kernel(self.kernel), dense.checked_ridge(self.ridge)
        data = self._inputs(X, reset=True)
        n = data.shape[0]
        targets, weights = labels(y, n), weights_of(sample_weight, n)
        data = np.array(data, order="C")  # a copy: what the caller does to X later changes nothing here
        iterate = n > DENSE_LIMIT or 8 * n * n > free_memory()
        if iterate and weights is None:
            found = ridge_path(kernel, data, targets, [ridge])
            return self._keep(data, found.coefficients[0], float(found.residuals[0]), None, found.note, found.method)
        K, root = kernel.gram(data), np.ones(n)
        if weights is not None:
            root = np.sqrt(weights)
            K *= root[:, np.newaxis]
            K *= root
            targets = (targets.T * root).T
        if iterate:
            path = solve_path(K, targets, [ridge])
            alpha = (path.coefficients[0].reshape(targets.shape).T * root).T
            return self._keep(data, alpha, float(path.residuals[0]), None, path.note, path.method)
        solved = dense.solve(K, targets, ridge, overwrite=True)
        method = "cholesky" if solved.rank is None else "eigendecomposition"
        return self._keep(data, (solved.coefficients.T * root).T, solved.residual, solved.rank, solved.note, method)

    def _keep(
        self, data: NDArray[Any], alpha: Floats, residual: float, rank: int | None, note: str, method: str
    ) -> Self:
        self.X_fit_, self.dual_coef_, self.residual_ = data, np.ascontiguousarray(alpha), residual
        self.rank_, self.note_, self.method_ = rank, note, method
        return self

    def predict(self, X: ArrayLike) -> Floats:
        """f(x_i) : (m,) or (m, outputs)"""
        self._check_fitted()
        return kernel_times(self.kernel, self._inputs(X, reset=False), self.X_fit_, self.dual_coef_)


def checked_kernel(kernel: Any) -> Kernel:
    if not isinstance(kernel, Kernel):
        raise BadData(f"kernel = {shown(kernel)}: must be a kernel, such as simlab.kernels.ntk(3)")
    return kernel
