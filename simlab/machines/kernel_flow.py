"""Kernel gradient flow, the training of an infinitely wide net on the loss (1/2n)Σ(f − y)². MATH §5.

    ḟ_t = −(η/n) K(·, X)(f_t(X) − y)        η = `rate`, f_0 given or 0
    f_t = f_0 + K(·, X) α_t,   α_t = K⁻¹(I − e^{−ηKt/n}) r,   r = y − f_0(X)

``method="closed"`` uses one eigendecomposition K = Σ λ_i v_i v_iᵀ. The part of r along v_i is multiplied by
(1 − e^{−x})/λ_i, x = ηλ_i t/n; expm1 keeps its digits for small x. Eigenvalues up to n·eps·λ_max count as 0: that part
of the residual never moves, and t → ∞ is the interpolant of least norm (`KernelRidge` at ridge 0).

The other methods integrate α̇ = (η/n)(r − Kα) from α = 0: SciPy's ``"DOP853"``, ``"RK45"`` and ``"Radau"`` to the
relative accuracy `rtol`, and ``"euler"``, full-batch gradient descent in steps of at most `step`.
"""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg
from scipy.integrate import solve_ivp

from simlab.core import checks
from simlab.core.checks import BadData
from simlab.core.errors import shown
from simlab.machines import dense
from simlab.machines._predict import kernel_times
from simlab.machines.estimator import Floats, inputs, labels
from simlab.machines.kernel_ridge import checked_kernel

SOLVERS = ("DOP853", "RK45", "Radau")
METHODS = ("closed", *SOLVERS, "euler")
MAX_STEPS = 10_000_000
"""Most steps of "euler" to the last time."""


class KernelFlow:
    """``KernelFlow(ntk(3)).fit(X, y)``, then `train`, `predict` and `loss` at any times ≥ 0.

    kernel: K, such as ``kernels.ntk(3)``.
    rate: η, above 0.
    method: "closed", "DOP853", "RK45", "Radau" or "euler"; only "closed" knows time ∞.
    rtol: relative accuracy of SciPy's methods.
    step: longest step of "euler", in time; None for the other methods.
    """

    _is_fitted: bool = False

    def __init__(
        self, kernel: Any, rate: float = 1.0, *, method: str = "closed", rtol: float = 1e-9, step: float | None = None
    ) -> None:
        self.kernel, self.rate = checked_kernel(kernel), _positive(rate, "rate")
        checks.choice(method, "method", METHODS)
        if (step is None) is (method == "euler"):
            raise BadData(f'step = {shown(step)} with method = {method!r}: a step goes with "euler", and only with it')
        self.method, self.rtol = method, _positive(rtol, "rtol")
        self.step = None if step is None else _positive(step, "step")

    def fit(self, X: ArrayLike, y: ArrayLike, initial: ArrayLike | None = None) -> Self:
        """Inputs X : (n, d), labels y : (n,) or (n, outputs), and `initial`: f_0(X) of y's shape, None for 0."""
        data = inputs(X)
        self.X_fit_ = np.array(data, order="C")
        self._shape = labels(y, data.shape[0]).shape
        targets = labels(y, data.shape[0]).reshape(data.shape[0], -1)
        self._starts_at_zero = initial is None
        self._initial = self._initial_values(initial, data.shape[0]).reshape(targets.shape)
        self._residual = targets - self._initial
        self._K = self.kernel.gram(self.X_fit_)
        self._eigen: dense.Eigen | None = None
        if self.method == "closed":
            self._eigen = dense.Eigen.of(self._K)
            self._rotated_residual = self._eigen.vectors.T @ self._residual
        elif self.step is not None:
            largest = linalg.eigvalsh(self._K, subset_by_index=[len(data) - 1, len(data) - 1])[0]
            limit = 2.0 * len(data) / (self.rate * largest) if largest > 0 else math.inf
            if limit <= self.step:
                raise BadData(f"step = {self.step:g}: must be below 2n/(rate * largest eigenvalue) = {limit:.3g}")
        self._is_fitted = True
        return self

    def coefficients(self, times: ArrayLike) -> Floats:
        """α_t : (times, n) or (times, n, outputs)"""
        when = self._times(times)
        return self._alpha(when).reshape(-1, *self._shape)

    def train(self, times: ArrayLike) -> Floats:
        """f_t(X) : (times, n) or (times, n, outputs)"""
        when = self._times(times)
        return (self._initial + self._change(when)).reshape(-1, *self._shape)

    def loss(self, times: ArrayLike) -> Floats:
        """(1/2n)Σ(f_t(x_i) − y_i)², summed over outputs : (times,)"""
        when = self._times(times)
        rest = self._residual - self._change(when)
        found: Floats = 0.5 * np.sum(rest**2, axis=(1, 2)) / len(self.X_fit_)
        return found

    def predict(self, X: ArrayLike, times: ArrayLike, initial: ArrayLike | None = None) -> Floats:
        """f_t(x_i) : (times, m) or (times, m, outputs), at the rows of X : (m, d).

        initial: f_0(X), (m,) or (m, outputs); to be given if it was given to `fit`, and only then.
        """
        when, data = self._times(times), inputs(X)
        if (initial is None) is not self._starts_at_zero:
            raise BadData("initial: must be given both to fit and to predict, or to neither")
        if data.shape[1] != self.X_fit_.shape[1]:
            raise BadData(f"X has {data.shape[1]} features: must have {self.X_fit_.shape[1]}, as in fit")
        start = self._initial_values(initial, data.shape[0])
        columns = when.size * math.prod(self._shape[1:])
        alpha = np.moveaxis(self._alpha(when), 0, 1).reshape(len(self.X_fit_), columns)
        moved = kernel_times(self.kernel, data, self.X_fit_, alpha).reshape(data.shape[0], when.size, *self._shape[1:])
        return start + np.moveaxis(moved, 1, 0)

    def _initial_values(self, initial: ArrayLike | None, n: int) -> Floats:
        """f_0 at n points, (n,) or (n, outputs); zeros for None."""
        shape = (n, *self._shape[1:])
        values = np.zeros(shape) if initial is None else labels(initial, n)
        if values.shape != shape:
            raise BadData(f"initial has shape {values.shape}: must be {shape}, as the labels")
        return values

    def _times(self, times: ArrayLike) -> Floats:
        """Times as a vector; refused before `fit`, if negative, or if infinite for another method than "closed"."""
        if not self._is_fitted:
            raise BadData("this KernelFlow is not fitted: call fit first")
        when = np.atleast_1d(
            checks.array(times, "times", ndim=(0, 1), finite=False, must="a list of numbers, at least 0")
        )
        if not np.all(when >= 0.0):
            raise BadData(f"times = {shown(times)}: must be a list of numbers, at least 0")
        if self.method != "closed" and not np.isfinite(when).all():
            raise BadData(f'times = inf: only method = "closed" goes there, not {self.method!r}')
        return when

    def _alpha(self, when: Floats) -> Floats:
        """α_t : (times, n, outputs)"""
        if self._eigen is None:
            return self._integrate(when)
        values = self._eigen.values
        learned = self._learned_share(when)
        factors = np.divide(learned, values, out=np.zeros_like(learned), where=learned > 0.0)
        found: Floats = self._eigen.vectors @ (factors[:, :, np.newaxis] * self._rotated_residual)
        return found

    def _change(self, when: Floats) -> Floats:
        """f_t(X) − f_0(X) : (times, n, outputs)"""
        if self._eigen is None:
            return self._K @ self._integrate(when)
        found: Floats = self._eigen.vectors @ (self._learned_share(when)[:, :, np.newaxis] * self._rotated_residual)
        return found

    def _learned_share(self, when: Floats) -> Floats:
        """1 − e^{−ηλ_i t/n} : (times, n), the share of the residual along v_i that is learned; 0 if λ_i counts as 0."""
        assert self._eigen is not None
        values = self._eigen.values
        moving = values > self._eigen.cutoff()
        finite = np.where(np.isinf(when), 0.0, when)[:, np.newaxis]
        with np.errstate(over="ignore"):
            learned = -np.expm1(-values * (self.rate / len(self.X_fit_)) * finite)
        found: Floats = np.where(moving, np.where(np.isinf(when)[:, np.newaxis], 1.0, learned), 0.0)
        return found

    def _integrate(self, when: Floats) -> Floats:
        """α_t : (times, n, outputs), by integration; the integrators get the times in ascending order."""
        order = np.argsort(when, kind="stable")
        found = np.empty((when.size, *self._residual.shape))
        found[order] = self._euler(when[order]) if self.step is not None else self._solve_ivp(when[order])
        return found

    def _euler(self, when: Floats) -> Floats:
        """α_t at ascending times by explicit Euler: equal steps of at most `step` from one time to the next."""
        assert self.step is not None
        gaps = np.diff(when, prepend=0.0)
        # The factor forgives rounding: a gap of exactly k steps is divided into k, not k + 1.
        counts = np.ceil(gaps / self.step * (1.0 - 1e-12))
        if counts.sum() > MAX_STEPS:
            raise BadData(f"step = {self.step:g}: {counts.sum():.3g} steps to the last time; at most {MAX_STEPS:g}")
        alpha, found = np.zeros_like(self._residual), []
        for gap, count in zip(gaps, counts.astype(int), strict=True):
            for _ in range(count):
                alpha = alpha + gap / count * self.rate / len(alpha) * (self._residual - self._K @ alpha)
            found.append(alpha)
        return np.array(found).reshape(when.size, *alpha.shape)

    def _solve_ivp(self, when: Floats) -> Floats:
        """α_t at ascending times by SciPy, one output at a time: the outputs do not interact."""
        slope = self.rate / len(self.X_fit_)
        options: dict[str, Any] = {"jac": -slope * self._K} if self.method == "Radau" else {}
        found = np.empty((when.size, *self._residual.shape))
        last = float(when.max(initial=0.0))
        for column in range(found.shape[2]):
            r = self._residual[:, column]
            scale = float(np.max(np.abs(r)))
            if last == 0.0 or scale == 0.0:
                found[:, :, column] = 0.0
                continue

            def velocity(_: float, alpha: Floats, r: Floats = r) -> Floats:
                rate: Floats = slope * (r - self._K @ alpha)
                return rate

            # The absolute tolerance is relative to the size of α: slope·|r|·t at first and |r|/λ in the end.
            atol = self.rtol * scale * min(slope * last, 1.0 / max(float(np.max(np.diagonal(self._K))), 1e-300))
            solved = solve_ivp(
                velocity, (0.0, last), np.zeros_like(r), self.method,
                t_eval=np.unique(when), rtol=self.rtol, atol=atol, **options,
            )  # fmt: skip
            if not solved.success:
                raise BadData(f"method = {self.method!r}: {solved.message}")
            found[:, :, column] = solved.y.T[np.searchsorted(solved.t, when)]
        return found


def _positive(value: Any, name: str) -> float:
    """A finite number above 0; `name` is what an error calls it."""
    number = dense.checked_ridge(value, name)
    if number == 0.0 or not math.isfinite(number):
        raise BadData(f"{name} = {value}: must be above 0")
    return number
