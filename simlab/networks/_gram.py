"""Tangent kernels as sums of entrywise products of small Gram matrices, in blocks of rows. MATH §6.

The gradient of f(x) in a weight matrix is an outer product δ ã, so that with rows Ã and Δ over the inputs

    ⟨∇f(x_i), ∇f(x_j)⟩ = Σ_matrices (Ã Ãᵀ)_ij (Δ Δᵀ)_ij:

exact, at a cost of about 4m flops per pair and matrix. The Jacobian would cost 2m² flops and n m² stored numbers.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from simlab.core import checks

Floats = NDArray[np.float64]
Factors = list[tuple[Floats, Floats | None]]

BLOCK_FLOATS = 1 << 24
MOST_ROWS, LEAST_ROWS = 2048, 64


def hadamard_gram(factors: Callable[[Floats], Factors], X: Floats, Y: Floats | None, row_floats: int) -> Floats:
    """Σ (A Aᵀ) ⊙ (Δ Δᵀ) over the pairs (A, Δ) of factors: (n, n), or (n, n') between the rows of X and Y.

    factors: rows → pairs (A, Δ), each with one row per input; Δ = None stands for ΔΔᵀ = 1.
    row_floats: floats that the factors of one row take; a block of rows has at most `BLOCK_FLOATS`.
    """
    Y = None if Y is None else checks.matrix(Y, "Y", dim=X.shape[1])
    rows = max(LEAST_ROWS, min(MOST_ROWS, BLOCK_FLOATS // row_floats))
    others = X if Y is None else Y
    K = np.empty((len(X), len(others)))
    for i in range(0, len(X), rows):
        left = factors(X[i : i + rows])
        for j in range(0 if Y is not None else i, len(others), rows):
            right = left if Y is None and i == j else factors(others[j : j + rows])
            block = K[i : i + rows, j : j + rows]
            block[:] = 0.0
            for (A, D), (B, E) in zip(left, right, strict=True):
                product = A @ B.T
                if D is not None and E is not None:
                    product *= D @ E.T
                block += product
            if Y is None:
                K[j : j + rows, i : i + rows] = block.T
    return K
