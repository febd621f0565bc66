"""Nyström's preconditioner: a low-rank approximation of K, inverted with a ridge. Frangella, Tropp and Udell 2023, §5.

From r columns S of K, chosen at random:

    K̂ = C W⁻¹ Cᵀ = U Λ Uᵀ,      C = K[:, S],  W = K[S, S],  Λ_1 ≥ … ≥ Λ_r
    P⁻¹ = U (Λ_r + λ)(Λ + λ)⁻¹ Uᵀ + (I − U Uᵀ)      for a ridge λ

The condition number of (K + λ)P⁻¹ is about (λ_{r+1}(K) + λ)/λ: the r largest eigenvalues of K no longer count. One
decomposition serves all ridges.

Computed as W = L Lᵀ, B = C L⁻ᵀ, BᵀB = V Λ Vᵀ, U = B V Λ^{−1/2}, all in float64. U is orthonormal up to eps Λ_1/Λ_r;
directions with Λ < 1e-10 Λ_1 are therefore left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from simlab.machines.operator import Operator

Floats = NDArray[np.float64]
LEAST_EIGENVALUE_SHARE = 1e-10
"""Smallest Λ_i/Λ_1 that is retained."""
JITTER_SHARE = 1e-13
"""Added to the diagonal of W, as a multiple of its trace: the chosen columns may be nearly dependent."""


@dataclass(frozen=True)
class Nystrom:
    """K̂ = U Λ Uᵀ.

    U: orthonormal columns, (n, r).
    eigenvalues: Λ, (r,), largest first; r may be less than the rank asked for, and 0 for K = 0.
    """

    U: Floats
    eigenvalues: Floats

    @classmethod
    def of(cls, operator: Operator, rank: int, rng: np.random.Generator) -> Nystrom:
        """From `rank` columns of K, drawn without replacement by `rng`."""
        n = operator.size
        index = np.sort(rng.choice(n, size=min(rank, n), replace=False))
        C = operator.columns(index)
        W = C[index]
        trace = float(np.trace(W))
        if not trace > 0.0:
            return cls(np.zeros((n, 0)), np.zeros(0))
        L = _factor(0.5 * (W + W.T), JITTER_SHARE * trace)
        B = scipy.linalg.solve_triangular(L, C.T, lower=True, overwrite_b=True, check_finite=False).T
        eigenvalues, V = scipy.linalg.eigh(B.T @ B, check_finite=False)
        retained = eigenvalues > LEAST_EIGENVALUE_SHARE * eigenvalues[-1]
        eigenvalues, V = eigenvalues[retained][::-1], V[:, retained][:, ::-1]
        return cls(B @ (V / np.sqrt(eigenvalues)), np.ascontiguousarray(eigenvalues))

    def solve(self, R: Floats, ridges: Floats) -> Floats:
        """P⁻¹ R : (n, c), each column with its own ridge; ridges : (c,)."""
        if self.eigenvalues.size == 0:
            return R.copy()
        least = self.eigenvalues[-1]
        factor = (least + ridges) / (self.eigenvalues[:, np.newaxis] + ridges) - 1.0
        Z: Floats = R + self.U @ (factor * (self.U.T @ R))
        return Z


def _factor(W: Floats, shift: float) -> Floats:
    """L with L Lᵀ = W + shift·I. The shift is made ten times larger until the factorisation succeeds."""
    index = np.arange(W.shape[0])
    while True:
        shifted = W.copy()
        shifted[index, index] += shift
        try:
            L: Floats = scipy.linalg.cholesky(shifted, lower=True, overwrite_a=True, check_finite=False)
        except scipy.linalg.LinAlgError:
            shift *= 10.0
        else:
            return L
