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

from simlab.core import checks
from simlab.core.errors import BadInput

Floats = NDArray[np.float64]
EPS = float(np.finfo(np.float64).eps)
TINY = float(np.finfo(np.float64).tiny)
"""What is below counts as 0: of subnormal numbers most digits are lost, and their inverses overflow."""
MIRROR_ROWS = 512
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
    """K = V diag(values) Vᵀ, values ascending; those that rounding made negative are 0."""

    values: Floats
    vectors: Floats

    @classmethod
    def of(cls, K: Floats) -> Eigen:
        values, vectors = linalg.eigh(K, check_finite=False)
        largest = float(np.max(np.abs(values)))
        if values[0] < -max(ASYMMETRY, values.size * EPS) * largest:
            raise BadInput(f"K has the eigenvalue {values[0]:.3g}: must be positive semi-definite")
        return cls(np.maximum(values, 0.0), vectors)

    def cutoff(self) -> float:
        """n·eps·λ_max: what an eigenvalue's own rounding error may reach."""
        return max(self.values.size * EPS * float(self.values[-1]), TINY)


class Spectral:
    """The pseudo-inverse of K + λI by K's eigenvalues: those with λ_i + λ ≤ n·eps·λ_max are left out."""

    def __init__(self, K: Floats, eigen: Eigen, ridge: float) -> None:
        kept = eigen.values + ridge > eigen.cutoff()
        self._K, self._ridge = K, ridge
        self._values, self._vectors = eigen.values[kept] + ridge, eigen.vectors[:, kept]
        n, self.rank = kept.size, self._values.size
        cutoff = f"rank {self.rank} of {n} at relative cut-off n*eps = {n * EPS:.1e}"
        singular = f"the Gram matrix is numerically singular ({cutoff}): least-squares solution of least norm"
        self.note = "" if self.rank == n else singular

    def inverse(self, B: Floats) -> Floats:
        found: Floats = self._vectors @ ((self._vectors.T @ B) / self._values[:, np.newaxis])
        return found

    def times(self, B: Floats) -> Floats:
        found: Floats = self._K @ B + self._ridge * B
        return found

    def whiten(self, B: Floats) -> Floats:
        """Columns with the squared norms bᵀ(K + λI)⁺b."""
        found: Floats = (self._vectors.T @ B) / np.sqrt(self._values)[:, np.newaxis]
        return found

    def log_determinant(self) -> float:
        """Of the part kept."""
        return float(np.sum(np.log(self._values)))


def fill_upper(A: Floats) -> None:
    """Mirror the lower triangle of A : (n, n) into its upper one, in blocks that stay in the cache."""
    for begin in range(0, A.shape[0], MIRROR_ROWS):
        rows, below = slice(begin, begin + MIRROR_ROWS), slice(begin + MIRROR_ROWS, None)
        A[rows, below] = A[below, rows].T
        A[rows, rows] = np.tril(A[rows, rows]) + np.tril(A[rows, rows], -1).T


class Cholesky:
    """D(A + λI)D = LLᵀ in A's own memory, D of powers of two (exact) that bring the diagonal into [½, 2].

    Inputs of very different norms are then no reason to call a matrix singular. LAPACK works on Aᵀ, which in its column
    order is A, and writes its lower triangle and diagonal only: the other triangle and a copied diagonal keep A, and
    residuals need no second n × n array.
    """

    rank, note = None, ""

    def __init__(self, A: Floats, diagonal: Floats, scales: Floats) -> None:
        self._A, self._diagonal, self._pivots = A, diagonal, np.diagonal(A).copy()
        self._scales = scales[:, np.newaxis]

    @classmethod
    def of(cls, A: Floats, ridge: float) -> Cholesky | None:
        """None, and A as it was, where A + λI is numerically singular. A is C-contiguous."""
        before = np.diagonal(A).copy()
        if np.min(before + ridge) < TINY:
            return None
        scales = _powers(before + ridge)
        _scale(A, scales)
        diagonal = (before + ridge) * scales * scales
        np.fill_diagonal(A, diagonal)
        size, rcond = float(lapack.dlange("1", A.T)), 0.0
        factor, failed = lapack.dpotrf(A.T, lower=1, clean=0, overwrite_a=1)
        assert np.shares_memory(factor, A)
        if failed == 0 and math.isfinite(size):
            rcond, failed = lapack.dpocon(factor, size, uplo="L")
        if failed == 0 and rcond >= A.shape[0] * EPS:
            return cls(A, diagonal, scales)
        fill_upper(A)  # LAPACK, whose lower triangle is A's upper, left the lower one alone
        _scale(A, 1.0 / scales)
        np.fill_diagonal(A, before)
        return None

    def inverse(self, B: Floats) -> Floats:
        found: Floats = self._scales * lapack.dpotrs(self._A.T, self._scales * B, lower=1)[0]
        return found

    def times(self, B: Floats) -> Floats:
        np.fill_diagonal(self._A, self._diagonal)
        found: Floats = blas.dsymm(1.0, self._A.T, B / self._scales, lower=0) / self._scales
        np.fill_diagonal(self._A, self._pivots)
        return found

    def whiten(self, B: Floats) -> Floats:
        """L⁻¹DB: columns with the squared norms bᵀ(A + λI)⁻¹b."""
        found: Floats = lapack.dtrtrs(self._A.T, self._scales * B, lower=1)[0]
        return found

    def log_determinant(self) -> float:
        return 2.0 * float(np.sum(np.log(self._pivots)) - np.sum(np.log(self._scales)))


def _powers(diagonal: Floats) -> Floats:
    """Powers of two near diagonal^{-1/2}; all 1 where they are equal."""
    exponents = np.rint(-0.5 * np.log2(diagonal)).astype(int)
    powers: Floats = np.ldexp(1.0, exponents if np.ptp(exponents) else np.zeros_like(exponents))
    return powers


def _scale(A: Floats, scales: Floats) -> None:
    """A ← DAD"""
    if np.any(scales != 1.0):
        A *= scales[:, np.newaxis]
        A *= scales


def factored(K: ArrayLike, Y: ArrayLike, ridge: float, *, overwrite: bool = False) -> tuple[Cholesky | Spectral, Dense]:
    """The factorised K + λI and the solution. With `overwrite` K's memory is used, else one copy of it is made."""
    gram, labels = checked(K, Y)
    ridge = checked_ridge(ridge)
    work = gram if overwrite and gram.flags.writeable and gram.flags.c_contiguous else gram.copy()
    factor = Cholesky.of(work, ridge) or Spectral(work, Eigen.of(work), ridge)
    return factor, _solved(factor, labels, ridge)


def solve(K: ArrayLike, Y: ArrayLike, ridge: float, *, overwrite: bool = False) -> Dense:
    """The solution α at one ridge."""
    return factored(K, Y, ridge, overwrite=overwrite)[1]


def path(K: ArrayLike, Y: ArrayLike, ridges: Sequence[float]) -> list[Dense]:
    """The solutions at several ridges from one eigendecomposition: for small n, or many ridges."""
    gram, labels = checked(K, Y)
    chosen = checked_ridges(ridges)
    eigen = Eigen.of(gram)
    return [_solved(Spectral(gram, eigen, ridge), labels, ridge) for ridge in chosen]


def _solved(factor: Cholesky | Spectral, labels: Floats, ridge: float) -> Dense:
    """With one step of refinement, α + A⁻¹(Y − Aα), kept where it helps."""
    Y = labels.reshape(labels.shape[0], -1)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        x = factor.inverse(Y)
        rest = Y - factor.times(x)
        better = x + factor.inverse(rest)
        size, better_size = norm(rest), norm(Y - factor.times(better))
    if better_size < size:
        x, size = better, better_size
    if not np.isfinite(x).all() or not math.isfinite(size):
        raise BadInput(f"ridge = {ridge:g}: coefficients overflow with these labels; scale the labels or the kernel")
    whole = norm(Y)
    residual = size / whole if whole > 0.0 else 0.0
    return Dense(np.ascontiguousarray(x).reshape(labels.shape), residual, factor.rank, factor.note)


def norm(A: Floats) -> float:
    """Frobenius; BLAS scales, so that squares do not overflow."""
    return float(blas.dnrm2(A.ravel(order="K")))


def checked_ridge(ridge: Any, name: str = "ridge") -> float:
    return checks.number(ridge, name, least=0)


def checked_ridges(ridges: Any) -> list[float]:
    """One ridge or more."""
    found = [checked_ridge(ridge, f"ridges[{i}]") for i, ridge in enumerate(checks.listed(ridges, "ridges"))]
    if not found:
        raise BadInput("ridges = []: name at least one")
    return found


def checked(K: ArrayLike, Y: ArrayLike) -> tuple[Floats, Floats]:
    """K and Y as float64 arrays (not copied where they are), refused unless finite, of fitting shape, symmetric."""
    gram, labels = checks.array(K, "K"), checks.array(Y, "Y")
    if gram.ndim != 2 or gram.shape[0] != gram.shape[1] or gram.size == 0:
        raise BadInput(f"K has shape {gram.shape}: must be square and not empty")
    if labels.ndim not in (1, 2) or labels.shape[0] != gram.shape[0] or labels.size == 0:
        raise BadInput(f"Y has shape {labels.shape}: must be ({gram.shape[0]},) or ({gram.shape[0]}, outputs), as K")
    largest, apart = 0.0, 0.0
    for begin in range(0, gram.shape[0], 512):
        rows, mirror = gram[begin : begin + 512], gram[:, begin : begin + 512].T
        largest = max(largest, float(np.max(np.abs(rows))))
        apart = max(apart, float(np.max(np.abs(rows - mirror))))
    if apart > ASYMMETRY * largest:
        raise BadInput(f"K differs from its transpose by {apart:.3g}: must be symmetric")
    return gram, labels
