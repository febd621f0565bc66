"""A Cholesky factor of K + λ₀ as a preconditioner for every ridge near λ₀.

(K + λ)(K + λ₀)⁻¹ has its eigenvalues between 1 and λ/λ₀. In float32 the factor costs half the time and memory, and is
near enough where K + λ₀ has a condition number below about 1e6: rounding acts like a shift of n·eps32 of the largest
eigenvalues, and where it makes a pivot negative, a shift is added until it is not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg.lapack
from numpy.typing import DTypeLike, NDArray

from simlab.machines._operator import BLOCK_BYTES, Operator, Stored

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Factor:
    """L : (n, n), lower triangle; in float32 or float64."""

    L: NDArray[Any]
    ridge: float

    @classmethod
    def of(cls, operator: Stored, ridge: float, dtype: DTypeLike) -> Factor:
        shift, kind = 0.0, np.dtype(dtype)
        potrf = scipy.linalg.lapack.spotrf if kind == np.float32 else scipy.linalg.lapack.dpotrf
        while True:
            # K is symmetric: its rows, read as columns, are the Fortran order that LAPACK works in without a copy.
            A = _copy(operator, kind)
            index = np.arange(operator.size)
            A[index, index] += ridge + shift
            L, failed = potrf(A.T, lower=1, clean=0, overwrite_a=1)
            if not failed:
                return cls(L, ridge)
            del A, L
            mean = float(np.mean(operator.diagonal()))
            shift = 10.0 * shift if shift else 8.0 * float(np.finfo(kind).eps) * mean

    def solve(self, R: Floats, ridges: Floats) -> Floats:
        potrs = scipy.linalg.lapack.spotrs if self.L.dtype == np.float32 else scipy.linalg.lapack.dpotrs
        # A column of 1e-30 would lose itself in float32.
        scale = np.max(np.abs(R), axis=0)
        scale = np.where(scale > 0.0, scale, 1.0)
        Z, _ = potrs(self.L, (R / scale).astype(self.L.dtype, order="F"), lower=1, overwrite_b=1)
        return np.asarray(Z, dtype=np.float64) * scale


def _copy(operator: Stored, kind: np.dtype[Any]) -> NDArray[Any]:
    """A copy of K, blockwise: a mapped file or another type is read once, without a second copy."""
    n = operator.size
    A = np.empty((n, n), dtype=kind)
    rows = max(1, BLOCK_BYTES // (8 * n))
    for begin in range(0, n, rows):
        A[begin : begin + rows] = operator.K[begin : begin + rows]
    return A


def can_factor(operator: Operator) -> bool:
    return isinstance(operator, Stored)
