"""Solve (K + λI) α = Y with K in memory, all outputs at once. MATH §5.

    K : (n, n) symmetric, positive semi-definite      Y : (n,) or (n, c)      λ = ridge ≥ 0

The method is Cholesky in float64 with one step of iterative refinement. K + λI counts as *numerically singular* if
Cholesky fails or LAPACK's estimate of the reciprocal condition number is below n·eps. Duplicated inputs at ridge 0, a
smooth kernel or zero vectors can cause it. The answer is then the limit λ → 0+ of ridge regression, the least-squares
solution of least norm,

    α = Σ_{λ_i + λ > n·eps·λ_max} v_i (v_iᵀY)/(λ_i + λ),      K = Σ λ_i v_i v_iᵀ,

and `note` says so. Duplicated inputs with different labels then predict the mean of their labels.

`path` solves at every ridge from one eigendecomposition, which costs about 20 Cholesky factorisations.
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
"""Spacing of float64 at 1: 2.2e-16."""
TINY = float(np.finfo(np.float64).tiny)
"""Smallest normal float64. Less counts as 0: subnormal numbers have lost digits, and their inverses overflow."""
MIRROR_ROWS = 512
"""Rows per block when the two triangles of a matrix are compared, or one is copied to the other."""
ASYMMETRY = 1e-10
"""Largest |K − Kᵀ| over the largest entry of K, and largest −λ_min over λ_max, that pass as rounding."""


@dataclass(frozen=True)
class Dense:
    """A solution at one ridge.

    coefficients: α, of Y's shape.
    residual: ‖Y − (K + λI)α‖/‖Y‖ in the Frobenius norm; 0 for Y = 0.
    rank: number of eigenvalues retained; None if none were computed (Cholesky uses all).
    note: empty, or that eigenvalues were left out because the matrix is numerically singular.
    """

    coefficients: Floats
    residual: float
    rank: int | None
    note: str


@dataclass(frozen=True)
class Eigen:
    """K = V diag(values) Vᵀ.

    values: eigenvalues, (n,), ascending; those that rounding made negative are 0.
    vectors: V, (n, n), one eigenvector per column.
    """

    values: Floats
    vectors: Floats

    @classmethod
    def of(cls, K: Floats) -> Eigen:
        """Decompose a symmetric K : (n, n); BadInput if it is not positive semi-definite."""
        values, vectors = linalg.eigh(K, check_finite=False)
        largest = float(np.max(np.abs(values)))
        if values[0] < -max(ASYMMETRY, values.size * EPS) * largest:
            raise BadInput(f"K has the eigenvalue {values[0]:.3g}: must be positive semi-definite")
        return cls(np.maximum(values, 0.0), vectors)

    def cutoff(self) -> float:
        """n·eps·λ_max: bound on the rounding error of an eigenvalue."""
        return max(self.values.size * EPS * float(self.values[-1]), TINY)


class Spectral:
    """The pseudo-inverse (K + λI)⁺ by K's eigenvalues λ_i; those with λ_i + λ ≤ n·eps·λ_max are left out.

    rank: number of eigenvalues retained.
    note: empty, or that some were left out.
    """

    def __init__(self, K: Floats, eigen: Eigen, ridge: float) -> None:
        retained = eigen.values + ridge > eigen.cutoff()
        self._K, self._ridge = K, ridge
        self._values, self._vectors = eigen.values[retained] + ridge, eigen.vectors[:, retained]
        n, self.rank = retained.size, self._values.size
        cutoff = f"rank {self.rank} of {n} at relative cut-off n*eps = {n * EPS:.1e}"
        singular = f"the Gram matrix is numerically singular ({cutoff}): least-squares solution of least norm"
        self.note = "" if self.rank == n else singular

    def inverse(self, B: Floats) -> Floats:
        """(K + λI)⁺ B : (n, c)"""
        found: Floats = self._vectors @ ((self._vectors.T @ B) / self._values[:, np.newaxis])
        return found

    def times(self, B: Floats) -> Floats:
        """(K + λI) B : (n, c)"""
        found: Floats = self._K @ B + self._ridge * B
        return found

    def whiten(self, B: Floats) -> Floats:
        """W : (rank, c) with ‖w_j‖² = b_jᵀ(K + λI)⁺b_j for each column j."""
        found: Floats = (self._vectors.T @ B) / np.sqrt(self._values)[:, np.newaxis]
        return found

    def log_determinant(self) -> float:
        """log det of K + λI on the eigenvectors retained."""
        return float(np.sum(np.log(self._values)))


def fill_upper(A: Floats) -> None:
    """Copy the lower triangle of A : (n, n) to its upper one, in blocks that stay in the cache."""
    for begin in range(0, A.shape[0], MIRROR_ROWS):
        rows, below = slice(begin, begin + MIRROR_ROWS), slice(begin + MIRROR_ROWS, None)
        A[rows, below] = A[below, rows].T
        A[rows, rows] = np.tril(A[rows, rows]) + np.tril(A[rows, rows], -1).T


class Cholesky:
    """D(A + λI)D = LLᵀ, stored in A's own memory.

    D is diagonal and brings the diagonal of D(A + λI)D into [½, 2]. So inputs of very different norms do not make a
    matrix look singular. The entries of D are powers of two, so scaling is exact; D = I if they would all be equal.

    How A's memory is packed: LAPACK reads it in column order, as Aᵀ, and writes L to the lower triangle of that, which
    is A's upper one, and to the diagonal. A's lower triangle still has D(A + λI)D; its diagonal is kept as a copy. So
    residuals need no second n × n array.

    rank: None: all eigenvalues count.
    note: empty: nothing was left out.
    """

    rank, note = None, ""

    def __init__(self, A: Floats, diagonal: Floats, scales: Floats) -> None:
        """A: packed as above, (n, n). diagonal: of D(A + λI)D, (n,). scales: diagonal of D, (n,)."""
        self._A, self._diagonal, self._pivots = A, diagonal, np.diagonal(A).copy()
        self._scales = scales[:, np.newaxis]

    @classmethod
    def of(cls, A: Floats, ridge: float) -> Cholesky | None:
        """Factor A + λI in A's memory, which must be C-contiguous.

        Returns None, with A as it was before, if A + λI is numerically singular.
        """
        original_diagonal = np.diagonal(A).copy()
        if np.min(original_diagonal + ridge) < TINY:
            return None
        scales = _powers_of_two(original_diagonal + ridge)
        _scale(A, scales)
        diagonal = (original_diagonal + ridge) * scales * scales
        np.fill_diagonal(A, diagonal)
        one_norm, rcond = float(lapack.dlange("1", A.T)), 0.0
        factor, failed = lapack.dpotrf(A.T, lower=1, clean=0, overwrite_a=1)
        assert np.shares_memory(factor, A)
        if failed == 0 and math.isfinite(one_norm):
            rcond, failed = lapack.dpocon(factor, one_norm, uplo="L")
        if failed == 0 and rcond >= A.shape[0] * EPS:
            return cls(A, diagonal, scales)
        fill_upper(A)  # A's lower triangle, which LAPACK did not touch, restores the upper one
        _scale(A, 1.0 / scales)
        np.fill_diagonal(A, original_diagonal)
        return None

    def inverse(self, B: Floats) -> Floats:
        """(A + λI)⁻¹ B : (n, c)"""
        found: Floats = self._scales * lapack.dpotrs(self._A.T, self._scales * B, lower=1)[0]
        return found

    def times(self, B: Floats) -> Floats:
        """(A + λI) B : (n, c), A as it was given."""
        # For this product the diagonal of D(A + λI)D takes the place of L's, which shares its memory.
        np.fill_diagonal(self._A, self._diagonal)
        found: Floats = blas.dsymm(1.0, self._A.T, B / self._scales, lower=0) / self._scales
        np.fill_diagonal(self._A, self._pivots)
        return found

    def whiten(self, B: Floats) -> Floats:
        """W = L⁻¹DB : (n, c), with ‖w_j‖² = b_jᵀ(A + λI)⁻¹b_j for each column j."""
        found: Floats = lapack.dtrtrs(self._A.T, self._scales * B, lower=1)[0]
        return found

    def log_determinant(self) -> float:
        """log det(A + λI)"""
        return 2.0 * float(np.sum(np.log(self._pivots)) - np.sum(np.log(self._scales)))


def _powers_of_two(diagonal: Floats) -> Floats:
    """Powers of two near diagonal^{-1/2} : (n,); all 1 if they would all be equal."""
    exponents = np.rint(-0.5 * np.log2(diagonal)).astype(int)
    powers: Floats = np.ldexp(1.0, exponents if np.ptp(exponents) else np.zeros_like(exponents))
    return powers


def _scale(A: Floats, scales: Floats) -> None:
    """A ← DAD in place, where `scales` : (n,) is the diagonal of D."""
    if np.any(scales != 1.0):
        A *= scales[:, np.newaxis]
        A *= scales


def factored(K: ArrayLike, Y: ArrayLike, ridge: float, *, overwrite: bool = False) -> tuple[Cholesky | Spectral, Dense]:
    """The factorised K + λI and the solution.

    K: (n, n), symmetric, positive semi-definite.
    Y: (n,) or (n, c).
    ridge: λ, 0 or more.
    overwrite: use K's memory for the factor. Otherwise K is copied once and stays as it is.
    """
    gram, labels = checked(K, Y)
    ridge = checked_ridge(ridge)
    work = gram if overwrite and gram.flags.writeable and gram.flags.c_contiguous else gram.copy()
    factor = Cholesky.of(work, ridge) or Spectral(work, Eigen.of(work), ridge)
    return factor, _solved(factor, labels, ridge)


def solve(K: ArrayLike, Y: ArrayLike, ridge: float, *, overwrite: bool = False) -> Dense:
    """The solution α at one ridge; arguments as of `factored`."""
    return factored(K, Y, ridge, overwrite=overwrite)[1]


def path(K: ArrayLike, Y: ArrayLike, ridges: Sequence[float]) -> list[Dense]:
    """The solutions at several ridges, in their order, from one eigendecomposition: for small n, or many ridges."""
    gram, labels = checked(K, Y)
    chosen = checked_ridges(ridges)
    eigen = Eigen.of(gram)
    return [_solved(Spectral(gram, eigen, ridge), labels, ridge) for ridge in chosen]


def _solved(factor: Cholesky | Spectral, labels: Floats, ridge: float) -> Dense:
    """α with one step of refinement, α + A⁻¹(Y − Aα) where A = K + λI, if that makes the residual smaller."""
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
    label_norm = norm(Y)
    residual = size / label_norm if label_norm > 0.0 else 0.0
    return Dense(np.ascontiguousarray(x).reshape(labels.shape), residual, factor.rank, factor.note)


def norm(A: Floats) -> float:
    """Frobenius norm. BLAS scales the entries, so that their squares do not overflow."""
    return float(blas.dnrm2(A.ravel(order="K")))


def checked_ridge(ridge: Any, name: str = "ridge") -> float:
    """A number, 0 or more; `name` is what an error calls it."""
    return checks.number(ridge, name, least=0)


def checked_ridges(ridges: Any) -> list[float]:
    """A list of ridges, refused if empty."""
    found = [checked_ridge(ridge, f"ridges[{i}]") for i, ridge in enumerate(checks.listed(ridges, "ridges"))]
    if not found:
        raise BadInput("ridges = []: name at least one")
    return found


def checked(K: ArrayLike, Y: ArrayLike) -> tuple[Floats, Floats]:
    """K and Y as float64 arrays, copied only if they are of another type.

    Refused unless finite, K : (n, n) symmetric, and Y : (n,) or (n, c).
    """
    gram, labels = checks.array(K, "K"), checks.array(Y, "Y")
    if gram.ndim != 2 or gram.shape[0] != gram.shape[1] or gram.size == 0:
        raise BadInput(f"K has shape {gram.shape}: must be square and not empty")
    if labels.ndim not in (1, 2) or labels.shape[0] != gram.shape[0] or labels.size == 0:
        raise BadInput(f"Y has shape {labels.shape}: must be ({gram.shape[0]},) or ({gram.shape[0]}, outputs), as K")
    largest, asymmetry = 0.0, 0.0
    for begin in range(0, gram.shape[0], MIRROR_ROWS):
        rows, mirror = gram[begin : begin + MIRROR_ROWS], gram[:, begin : begin + MIRROR_ROWS].T
        largest = max(largest, float(np.max(np.abs(rows))))
        asymmetry = max(asymmetry, float(np.max(np.abs(rows - mirror))))
    if asymmetry > ASYMMETRY * largest:
        raise BadInput(f"K differs from its transpose by {asymmetry:.3g}: must be symmetric")
    return gram, labels
