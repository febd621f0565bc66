"""Choose a ridge λ: kernel ridge regression at several ones, and the least error on validation data. MATH §5.

    (K + λ_j I) α_j = y,        j* = argmin_j (1/n_v) Σ_i ‖f_j(x'_i) − y'_i‖²,        f_j(x') = K(x', X) α_j

K may also be the matrix (n c, n c) of a kernel with c outputs; its row i c + a belongs to output a at x_i.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simlab.machines import dense

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class RidgeChoice:
    """Fits at several ridges, and which of them is best on the validation data.

    ridges: the λ_j to choose from.
    coefficients: α_j, one array per ridge: (n, c), or (n c, 1) with a kernel of several outputs.
    scores: mean square error on the validation data, summed over outputs, one per ridge.
    index: j*; the first one if several are equal.
    """

    ridges: tuple[float, ...]
    coefficients: list[Floats]
    scores: list[float]
    index: int

    @property
    def ridge(self) -> float:
        """λ of j*"""
        return self.ridges[self.index]

    @property
    def alpha(self) -> Floats:
        """α of j*"""
        return self.coefficients[self.index]


def choose_ridge(
    K: Floats, y: Floats, K_validation: Floats, y_validation: Floats, ridges: Sequence[float], unit: float = 1.0
) -> RidgeChoice:
    """Fit at every ridge and choose.

    K: (n, n), or (n c, n c) with a kernel of several outputs.
    y: labels, (n, c).
    K_validation: (n_v, n) or (n_v c, n c), between validation and training inputs.
    y_validation: (n_v, c).
    ridges: λ_j in multiples of `unit`.
    unit: what a ridge of 1 stands for; the result has `ridges` without it.
    """
    columns = y.reshape(len(K), -1)
    solved = solve_each(K, columns, [ridge * unit for ridge in ridges])
    scores = [mean_square((K_validation @ alpha).reshape(y_validation.shape) - y_validation) for alpha in solved]
    return RidgeChoice(tuple(ridges), solved, scores, int(np.argmin(scores)))


def solve_each(K: Floats, y: Floats, ridges: Sequence[float], eigen_above: int | None = None) -> list[Floats]:
    """α_j, of y's shape, at each ridge.

    eigen_above: with more ridges than this, one eigendecomposition (the cost of 20 factorisations) serves them all.
    """
    if eigen_above is not None and len(ridges) > eigen_above:
        return [found.coefficients for found in dense.path(K, y, ridges)]
    return [dense.solve(K, y, ridge).coefficients for ridge in ridges]


def mean_square(residual: Floats) -> float:
    """(1/n) Σ_i ‖r_i‖², r : (n, c)"""
    return float(np.sum(residual**2) / len(residual))
