"""Kernel ridge regression: f(x) = K(x, X) α, (K + λI) α = y. MATH §5.

λ = `ridge` ≥ 0 is not scaled by n: the objective (1/2n)Σ(f − y)² + (μ/2)‖f‖² has λ = nμ.

λ = 0 is the interpolant. If the Gram matrix is singular it is the limit λ → 0+, the least-squares function of least
norm: inputs that occur twice predict the mean of their labels, and `note_` says so.

With sample weights w the objective is Σ w(f − y)² + λ‖f‖²: α = s·β, (sKs + λI)β = s·y, s = √w.
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

DENSE_SAMPLES = 12_000
"""Most samples for which the Gram matrix is factored (1.2 GB in float64). Beyond, or short of memory, it iterates."""


class KernelRidge(Estimator):
    """Follows scikit-learn: ``KernelRidge(ntk(3), ridge=0.1).fit(X, y).predict(X)``.

    kernel: K, such as ``kernels.ntk(3)``.
    ridge: λ, 0 or more; not scaled by n.

    After `fit`:

    X_fit_: inputs, (n, d).
    dual_coef_: α, of y's shape.
    residual_: ‖y − (K + λI)α‖/‖y‖; with sample weights, that of the scaled system.
    rank_: number of eigenvalues retained; None if it was not solved by an eigendecomposition.
    note_: empty unless the Gram matrix was singular or the tolerance was not reached.
    method_: how it was solved, in words.
    n_features_in_: dimension d of the inputs.
    feature_names_in_: names of the columns, if X was a data frame.
    """

    X_fit_: NDArray[Any]
    dual_coef_: Floats

    def __init__(self, kernel: Any, ridge: float = 0.0) -> None:
        self.kernel = kernel
        self.ridge = ridge

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit to X : (n, d) and y : (n,) or (n, outputs); sample_weight: (n,), None for equal weights."""
        kernel, ridge = checked_kernel(self.kernel), dense.checked_ridge(self.ridge)
        data = self._inputs(X, reset=True)
        n = data.shape[0]
        targets, weights = labels(y, n), weights_of(sample_weight, n)
        data = np.array(data, order="C")  # a copy: the caller may change X later
        iterate = n > DENSE_SAMPLES or 8 * n * n > free_memory()
        if iterate and weights is None:
            found = ridge_path(kernel, data, targets, [ridge])
            return self._set_fit(data, found.coefficients[0], float(found.residuals[0]), None, found.note, found.method)
        K, root = kernel.gram(data), np.ones(n)
        if weights is not None:
            root = np.sqrt(weights)
            K *= root[:, np.newaxis]
            K *= root
            targets = (targets.T * root).T
        if iterate:
            path = solve_path(K, targets, [ridge])
            alpha = (path.coefficients[0].reshape(targets.shape).T * root).T
            return self._set_fit(data, alpha, float(path.residuals[0]), None, path.note, path.method)
        solved = dense.solve(K, targets, ridge, overwrite=True)
        method = "cholesky" if solved.rank is None else "eigendecomposition"
        return self._set_fit(data, (solved.coefficients.T * root).T, solved.residual, solved.rank, solved.note, method)

    def _set_fit(
        self, data: NDArray[Any], alpha: Floats, residual: float, rank: int | None, note: str, method: str
    ) -> Self:
        """Set the attributes of a fit."""
        self.X_fit_, self.dual_coef_, self.residual_ = data, np.ascontiguousarray(alpha), residual
        self.rank_, self.note_, self.method_ = rank, note, method
        return self

    def predict(self, X: ArrayLike) -> Floats:
        """f(x_i) : (m,) or (m, outputs), at the rows of X : (m, d)."""
        self._check_fitted()
        return kernel_times(self.kernel, self._inputs(X, reset=False), self.X_fit_, self.dual_coef_)


def checked_kernel(kernel: Any) -> Kernel:
    """The kernel itself; raises BadData for anything else."""
    if not isinstance(kernel, Kernel):
        raise BadData(f"kernel = {shown(kernel)}: must be a kernel, such as simlab.kernels.ntk(3)")
    return kernel
