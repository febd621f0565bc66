"""Nyström's preconditioner: a low-rank copy of K, and its inverse with a ridge. Frangella, Tropp and Udell 2023, §5.

From r columns S of K: K̂ = C W⁻¹ Cᵀ = U Λ Uᵀ, C = K[:, S], W = K[S, S], Λ_1 ≥ … ≥ Λ_r. For any ridge λ
P⁻¹ = U (Λ_r + λ)(Λ + λ)⁻¹ Uᵀ + (I − U Uᵀ) makes (K + λ)P⁻¹ have a condition number of about (λ_{r+1}(K) + λ)/λ: what
was large in K is gone, and one decomposition serves all ridges.

B = C L⁻ᵀ with W = L Lᵀ, BᵀB = V Λ Vᵀ, U = B V Λ^{−1/2}, all in float64: U is orthonormal to eps Λ_1/Λ_r, so directions
with Λ < 1e-10 Λ_1 are left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from simlab.machines.operator import Operator

Floats = NDArray[np.float64]
SMALLEST = 1e-10
JITTER = 1e-13
"""Of the trace of W, added to it: columns may be nearly dependent."""


@dataclass(frozen=True)
class Nystrom:
    """U : (n, r) and eigenvalues Λ : (r,), largest first."""

    U: Floats
    eigenvalues: Floats

    @classmethod
    def of(cls, operator: Operator, rank: int, rng: np.random.Generator) -> Nystrom:
        n = operator.size
        index = np.sort(rng.choice(n, size=min(rank, n), replace=False))
        C = operator.columns(index)
        W = C[index]
        trace = float(np.trace(W))
        if not trace > 0.0:
            return cls(np.zeros((n, 0)), np.zeros(0))
        L = _factor(0.5 * (W + W.T), JITTER * trace)
        B = scipy.linalg.solve_triangular(L, C.T, lower=True, overwrite_b=True, check_finite=False).T
        eigenvalues, V = scipy.linalg.eigh(B.T @ B, check_finite=False)
        kept = eigenvalues > SMALLEST * eigenvalues[-1]
        eigenvalues, V = eigenvalues[kept][::-1], V[:, kept][:, ::-1]
        return cls(B @ (V / np.sqrt(eigenvalues)), np.ascontiguousarray(eigenvalues))

    def solve(self, R: Floats, ridges: Floats) -> Floats:
        """P⁻¹ R, each column with its own ridge."""
        if self.eigenvalues.size == 0:
            return R.copy()
        least = self.eigenvalues[-1]
        factor = (least + ridges) / (self.eigenvalues[:, np.newaxis] + ridges) - 1.0
        Z: Floats = R + self.U @ (factor * (self.U.T @ R))
        return Z


def _factor(W: Floats, shift: float) -> Floats:
    """L Lᵀ = W + shift·I; with a shift ten times larger where that is not positive."""
    eye = np.arange(W.shape[0])
    while True:
        shifted = W.copy()
        shifted[eye, eye] += shift
        try:
            L: Floats = scipy.linalg.cholesky(shifted, lower=True, overwrite_a=True, check_finite=False)
        except scipy.linalg.LinAlgError:
            shift *= 10.0
        else:
            return L
