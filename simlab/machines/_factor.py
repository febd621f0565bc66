"""A Cholesky factor of K + λ₀ as a preconditioner for every ridge λ near λ₀.

The eigenvalues of (K + λ)(K + λ₀)⁻¹ lie between 1 and λ/λ₀, so conjugate gradients need few iterations.

In float32 the factor costs half the time and memory. It is accurate enough if the condition number of K + λ₀ is below
about 1e6: rounding acts like a shift of the eigenvalues by n·eps32 times the largest one. If rounding makes a pivot
negative, a multiple of the identity is added, ten times larger at each attempt, until the factorisation succeeds.

K is divided by the mean of its diagonal before it is factored, so that it fits into the range of float32.
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
    """L Lᵀ ≈ (K + λ₀)/scale.

    L: lower triangle, (n, n), float32 or float64; what is above the diagonal is not defined.
    ridge: λ₀.
    scale: mean of the diagonal of K.
    """

    L: NDArray[Any]
    ridge: float
    scale: float

    @classmethod
    def of(cls, operator: Stored, ridge: float, dtype: DTypeLike) -> Factor:
        """Factor K + ridge in the precision `dtype`, float32 or float64."""
        shift, kind = 0.0, np.dtype(dtype)
        scale = float(np.mean(operator.diagonal()))
        potrf = scipy.linalg.lapack.spotrf if kind == np.float32 else scipy.linalg.lapack.dpotrf
        while True:
            # LAPACK needs Fortran order to work in place. K is symmetric, so A.T is the same matrix in that order.
            A = _scaled(operator, scale, kind)
            index = np.arange(operator.size)
            A[index, index] += ridge / scale + shift
            L, failed = potrf(A.T, lower=1, clean=0, overwrite_a=1)
            if not failed:
                return cls(L, ridge, scale)
            del A, L  # free the memory before the next attempt allocates it again
            shift = 10.0 * shift if shift else 8.0 * float(np.finfo(kind).eps)

    def solve(self, R: Floats, ridges: Floats) -> Floats:
        """(K + λ₀)⁻¹ R : (n, c), the same λ₀ for all columns; `ridges` is not used."""
        potrs = scipy.linalg.lapack.spotrs if self.L.dtype == np.float32 else scipy.linalg.lapack.dpotrs
        # Each column is scaled to size 1: entries of 1e-30 would lose their digits in float32.
        largest = np.max(np.abs(R), axis=0)
        largest = np.where(largest > 0.0, largest, 1.0)
        Z, _ = potrs(self.L, (R / largest).astype(self.L.dtype, order="F"), lower=1, overwrite_b=1)
        return np.asarray(Z, dtype=np.float64) * (largest / self.scale)


def _scaled(operator: Stored, scale: float, kind: np.dtype[Any]) -> NDArray[Any]:
    """K/scale : (n, n) as a new array of type `kind`.

    It is filled in blocks of rows. So K may be mapped from a file or have another type, and no third copy is needed.
    """
    n = operator.size
    A = np.empty((n, n), dtype=kind)
    rows = max(1, BLOCK_BYTES // (8 * n))
    for begin in range(0, n, rows):
        A[begin : begin + rows] = operator.K[begin : begin + rows] / scale
    return A
