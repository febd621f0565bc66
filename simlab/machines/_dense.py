"""(K + λI) α = Y with K in memory, all outputs at once. MATH §5.

    K : (n, n) symmetric, positive semi-definite      Y : (n,) or (n, c)      λ = ridge ≥ 0

Cholesky in float64 with one step of iterative refinement. Where K + λI is *numerically singular* (Cholesky fails, or
LAPACK's estimate of the reciprocal condition number is below n·eps: duplicated inputs at ridge 0, a smooth kernel, zero
vectors) the answer is the limit λ → 0+ of ridge regression: the least-squares solution of least norm,

    α = Σ_{λ_i + λ > n·eps·λ_max} v_i (v_iᵀY)/(λ_i + λ),      K = Σ λ_i v_i v_iᵀ,

and `note` says so. Duplicated inputs with different labels then predict the mean of their labels. `path` gives every
ridge from one eigendecomposition, which costs about 20 Cholesky factorisations.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg
from scipy.linalg import blas, lapack

from simlab.core.errors import BadInput

Floats = NDArray[np.float64]
EPS = float(np.finfo(np.float64).eps)
ASYMMETRY = 1e-10
"""Of the largest entry: how far K may be from its mirror, and how negative an eigenvalue rounding may make."""


@dataclass(frozen=True)
class Dense:
    """α, of Y's shape, and how well it solves: `residual` = ‖Y − (K + λI)α‖/‖Y‖ (Frobenius; 0 for Y = 0).

    `rank` counts the eigenvalues kept where the least-norm answer was needed or eigenvalues were at hand, else None;
    `note` is empty unless some were left out.
    """

    coefficients: Floats
    residual: float
    rank: int | None
    note: str


@dataclass(frozen=True)
class Eigen:
    """K = V diag(values) Vᵀ, values ascending; those of a semi-definite K that rounding made negative are 0."""

    values: Floats
    vectors: Floats

    @classmethod
    def of(cls, K: Floats) -> Eigen:
        values, vectors = linalg.eigh(K, check_finite=False)
        largest = float(np.max(np.abs(values), initial=0.0))
        if values.size and values[0] < -max(ASYMMETRY, values.size * EPS) * largest:
            raise BadInput(f"K has the eigenvalue {values[0]:.3g}: must be positive semi-definite")
        return cls(np.maximum(values, 0.0), vectors)

    def cutoff(self) -> float:
        """n·eps·λ_max: what an eigenvalue's own rounding error may reach."""
        return self.values.size * EPS * float(self.values[-1]) if self.values.size else 0.0

    def kept(self, ridge: float) -> NDArray[np.bool_]:
        """Which of λ_i + λ are distinguishable from 0."""
        kept: NDArray[np.bool_] = self.values + ridge > self.cutoff()
        return kept

    def apply(self, factors: Floats, Y: Floats) -> Floats:
        """V diag(factors) Vᵀ Y"""
        found: Floats = self.vectors @ (factors[:, np.newaxis] * (self.vectors.T @ Y))
        return found

    def inverse(self, ridge: float) -> Floats:
        """1/(λ_i + λ) where kept, else 0."""
        kept = self.kept(ridge)
        with np.errstate(over="ignore"):
            return np.divide(1.0, self.values + ridge, out=np.zeros_like(self.values), where=kept)

    def note(self, ridge: float) -> str:
        rank = int(np.count_nonzero(self.kept(ridge)))
        return "" if rank == self.values.size else least_norm_note(rank, self.values.size)


def least_norm_note(rank: int, n: int) -> str:
    return (
        f"the Gram matrix is numerically singular (rank {rank} of {n} at relative cut-off n*eps = {n * EPS:.1e}): "
        "least-squares solution of least norm"
    )


def solve(K: ArrayLike, Y: ArrayLike, ridge: float, *, overwrite: bool = False) -> Dense:
    """The solution α at one ridge. With `overwrite` K's memory is used, else one copy of it is made."""
    gram, labels = checked(K, Y)
    ridge = checked_ridge(ridge)
    columns = labels.reshape(labels.shape[0], -1)
    if gram.shape[0] == 0 or columns.shape[1] == 0:
        return Dense(np.zeros_like(labels), 0.0, None, "")
    work = gram if overwrite and gram.flags.writeable and gram.flags.c_contiguous else gram.copy()
    found = _by_cholesky(work, columns, ridge)
    if found is None:
        found = _by_eigen(work, columns, ridge, Eigen.of(work))
    return _finished(found, labels, ridge)


def path(K: ArrayLike, Y: ArrayLike, ridges: Sequence[float]) -> list[Dense]:
    """The solutions at several ridges from one eigendecomposition: for small n, or many ridges."""
    gram, labels = checked(K, Y)
    chosen = [checked_ridge(ridge) for ridge in ridges]
    columns = labels.reshape(labels.shape[0], -1)
    if gram.shape[0] == 0 or columns.shape[1] == 0:
        return [Dense(np.zeros_like(labels), 0.0, None, "") for _ in chosen]
    eigen = Eigen.of(gram)
    return [_finished(_by_eigen(gram, columns, ridge, eigen), labels, ridge) for ridge in chosen]


def _finished(found: Dense, labels: Floats, ridge: float) -> Dense:
    if not np.isfinite(found.coefficients).all():
        raise BadInput(f"ridge = {ridge:g}: coefficients overflow with these labels; scale the labels or the kernel")
    return Dense(found.coefficients.reshape(labels.shape), found.residual, found.rank, found.note)


def _by_cholesky(A: Floats, Y: Floats, ridge: float) -> Dense | None:
    """None, and A as it was, where A + λI is numerically singular.

    LAPACK works on Aᵀ, which in its column order is A, and writes its lower triangle and diagonal only: the other
    triangle of A and a copied diagonal keep K, so that residuals need no second n × n array.
    """
    n = A.shape[0]
    factor = A.T
    diagonal = np.diagonal(A).copy()
    np.fill_diagonal(A, diagonal + ridge)
    scale = float(lapack.dlange("1", factor))
    factor, failed = lapack.dpotrf(factor, lower=1, clean=0, overwrite_a=1)
    assert np.shares_memory(factor, A)
    rcond = 0.0
    if failed == 0 and math.isfinite(scale):
        rcond, failed = lapack.dpocon(factor, scale, uplo="L")
    if failed == 0 and rcond >= n * EPS:
        pivots = np.diagonal(A).copy()
        np.fill_diagonal(A, diagonal + ridge)

        def remainder(x: Floats) -> Floats:
            found: Floats = Y - blas.dsymm(1.0, factor, x, lower=0)
            return found

        def inverse(b: Floats) -> Floats:
            np.fill_diagonal(A, pivots)
            x, _ = lapack.dpotrs(factor, b, lower=1)
            np.fill_diagonal(A, diagonal + ridge)
            return np.asarray(x, dtype=np.float64)

        return Dense(*_refined(inverse, remainder, Y), None, "")
    _restore(A, diagonal)
    return None


def _restore(A: Floats, diagonal: Floats) -> None:
    """A's upper triangle from its lower one, which LAPACK (whose lower is A's upper) left alone."""
    for begin in range(0, A.shape[0], 512):
        rows, below = slice(begin, begin + 512), slice(begin + 512, None)
        A[rows, below] = A[below, rows].T
        A[rows, rows] = np.tril(A[rows, rows]) + np.tril(A[rows, rows], -1).T
    np.fill_diagonal(A, diagonal)


def _by_eigen(K: Floats, Y: Floats, ridge: float, eigen: Eigen) -> Dense:
    factors = eigen.inverse(ridge)

    def remainder(x: Floats) -> Floats:
        found: Floats = Y - K @ x - ridge * x
        return found

    coefficients, residual = _refined(lambda b: eigen.apply(factors, b), remainder, Y)
    return Dense(coefficients, residual, int(np.count_nonzero(factors)), eigen.note(ridge))


def _refined(inverse: Any, remainder: Any, Y: Floats) -> tuple[Floats, float]:
    """α and ‖Y − Aα‖/‖Y‖ after one step α + A⁻¹(Y − Aα), kept where it helps."""
    with np.errstate(over="ignore", invalid="ignore"):
        x = inverse(Y)
        rest = remainder(x)
        better = x + inverse(rest)
        size, better_size = norm(rest), norm(remainder(better))
    whole = norm(Y)
    if better_size < size:
        x, size = better, better_size
    return x, size / whole if whole > 0.0 else 0.0


def norm(A: Floats) -> float:
    """Frobenius; BLAS scales, so that squares do not overflow."""
    return float(blas.dnrm2(A.ravel(order="K"))) if A.size else 0.0


def checked_ridge(ridge: Any, name: str = "ridge") -> float:
    if isinstance(ridge, bool | np.bool_) or not isinstance(ridge, int | float | np.integer | np.floating):
        raise BadInput(f"{name} = {ridge!r}: must be a number, at least 0")
    if not 0.0 <= float(ridge) < math.inf:
        raise BadInput(f"{name} = {ridge}: must be finite and at least 0")
    return float(ridge)


def checked(K: ArrayLike, Y: ArrayLike) -> tuple[Floats, Floats]:
    """K and Y as float64 arrays (not copied where they are), refused unless finite, of fitting shape, symmetric."""
    gram, labels = _numbers(K, "K"), _numbers(Y, "Y")
    if gram.ndim != 2 or gram.shape[0] != gram.shape[1]:
        raise BadInput(f"K has shape {gram.shape}: must be square")
    if labels.ndim not in (1, 2) or labels.shape[0] != gram.shape[0]:
        raise BadInput(f"Y has shape {labels.shape}: must be ({gram.shape[0]},) or ({gram.shape[0]}, outputs), as K")
    largest, apart = 0.0, 0.0
    for begin in range(0, gram.shape[0], 512):
        rows, mirror = gram[begin : begin + 512], gram[:, begin : begin + 512].T
        largest = max(largest, float(np.max(np.abs(rows))))
        apart = max(apart, float(np.max(np.abs(rows - mirror))))
    if apart > ASYMMETRY * largest:
        raise BadInput(f"K differs from its transpose by {apart:.3g}: must be symmetric")
    return gram, labels


def _numbers(values: ArrayLike, name: str) -> Floats:
    array = np.asarray(values)
    if array.dtype.kind not in "fiub":
        raise BadInput(f"{name} has dtype {array.dtype}: must be real numbers")
    array = array.astype(np.float64, copy=False)
    for part in np.array_split(array, max(1, array.shape[0] // 512)) if array.ndim else (array,):
        if not np.isfinite(part).all():
            raise BadInput(f"{name} contains NaN or infinity: all entries must be finite")
    return array
