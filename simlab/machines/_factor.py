"""A Cholesky factor of K + λ₀ as a preconditioner for every ridge near λ₀.

(K + λ)(K + λ₀)⁻¹ has its eigenvalues between 1 and λ/λ₀. In float32 the factor costs half the time and memory, and is
near enough where K + λ₀ has a condition number below about 1e6: rounding acts like a shift of n·eps32 of the largest
eigenvalues, and where it makes a pivot negative, a shift is added until it is not. What is factored is K over the mean
of its diagonal, so that no scale leaves the range of float32.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg.lapack
from numpy.typing import DTypeLike, NDArray

from simlab.machines.operator import BLOCK_BYTES, Stored

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Factor:
    """L : (n, n), lower triangle; in float32 or float64."""

    L: NDArray[Any]
    ridge: float
    scale: float

    @classmethod
    def of(cls, operator: Stored, ridge: float, dtype: DTypeLike) -> Factor:
        shift, kind = 0.0, np.dtype(dtype)
        scale = float(np.mean(operator.diagonal()))
        potrf = scipy.linalg.lapack.spotrf if kind == np.float32 else scipy.linalg.lapack.dpotrf
        while True:
            # K is symmetric: its rows, read as columns, are the Fortran order that LAPACK works in without a copy.
            A = _scaled(operator, scale, kind)
            index = np.arange(operator.size)
            A[index, index] += ridge / scale + shift
            L, failed = potrf(A.T, lower=1, clean=0, overwrite_a=1)
            if not failed:
                return cls(L, ridge, scale)
            del A, L
            shift = 10.0 * shift if shift else 8.0 * float(np.finfo(kind).eps)

    def solve(self, R: Floats, ridges: Floats) -> Floats:
        potrs = scipy.linalg.lapack.spotrs if self.L.dtype == np.float32 else scipy.linalg.lapack.dpotrs
        # A column of 1e-30 would lose itself in float32.
        sizes = np.max(np.abs(R), axis=0)
        sizes = np.where(sizes > 0.0, sizes, 1.0)
        Z, _ = potrs(self.L, (R / sizes).astype(self.L.dtype, order="F"), lower=1, overwrite_b=1)
        return np.asarray(Z, dtype=np.float64) * (sizes / self.scale)


def _scaled(operator: Stored, scale: float, kind: np.dtype[Any]) -> NDArray[Any]:
    """K/scale, blockwise: a mapped file or another type is read once, without a second copy."""
    n = operator.size
    A = np.empty((n, n), dtype=kind)
    rows = max(1, BLOCK_BYTES // (8 * n))
    for begin in range(0, n, rows):
        A[begin : begin + rows] = operator.K[begin : begin + rows] / scale
    return A
