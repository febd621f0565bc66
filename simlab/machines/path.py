"""`ridge_path`: kernel ridge regression at several ridges on data of any size. MATH §5.

The Gram matrix is stored in float64 where memory allows it, else in float32, else computed anew in every product.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from simlab.core import checks
from simlab.core.errors import BadInput, shown
from simlab.core.resources import cores, free_memory
from simlab.kernels import Kernel, gram
from simlab.kernels.gram.assembly import MOST_THREADS, inputs, norms_of
from simlab.machines import dense
from simlab.machines._predict import kernel_times
from simlab.machines.operator import Operator, Stored, Tiled
from simlab.machines.solver import RANK, Progress, solve_path

Floats = NDArray[np.float64]
SHARE = 0.8
"""Of the free memory that may be used where nothing is said."""


@dataclass(frozen=True)
class RidgePath:
    """f_j(x) = K(x, X) α_j for ridge j. `coefficients` : (r, n) or (r, n, c), `residuals` : (r,) relative."""

    kernel: Kernel
    X: NDArray[Any] = field(repr=False)
    ridges: Floats
    coefficients: Floats = field(repr=False)
    residuals: Floats
    iterations: NDArray[np.int64]
    method: str
    note: str
    threads: int = field(repr=False)

    def predict(self, X: ArrayLike) -> Floats:
        """f_j(x_i) : (r, m) or (r, m, c)"""
        flat = np.moveaxis(self.coefficients, 0, 1).reshape(self.X.shape[0], -1)
        data = inputs(X, "X")
        if data.shape[1] != self.X.shape[1]:
            raise BadInput(f"X has {data.shape[1]} columns: must have {self.X.shape[1]}, as in the fit")
        found = kernel_times(self.kernel, data, self.X, flat, self.threads)
        values = np.moveaxis(found.reshape(-1, len(self.ridges), *self.coefficients.shape[2:]), 1, 0)
        return np.ascontiguousarray(values)


def ridge_path(
    kernel: Kernel,
    X: ArrayLike,
    y: ArrayLike,
    ridges: Sequence[float],
    *,
    dtype: DTypeLike | None = None,
    memory: int | None = None,
    threads: int | None = None,
    tolerance: float | None = None,
    progress: Progress | None = None,
) -> RidgePath:
    """Solve (K + λI)α = y at every ridge λ; y : (n,) or (n, c).

    `dtype` float64 or float32 of the stored Gram matrix, `memory` in bytes; left out, 0.8 of what is free decides
    between the two and not storing it. `progress` is told (iterations, largest relative residual).
    """
    if not isinstance(kernel, Kernel):
        raise BadInput(f"kernel = {shown(kernel)}: must be a kernel, such as simlab.kernels.ntk(3)")
    dtype = None if dtype is None else checks.float_type(dtype)
    memory = None if memory is None else checks.whole(memory, "memory", least=0)
    threads = None if threads is None else checks.whole(threads, "threads", least=1, most=MOST_THREADS)
    data = inputs(X, "X")
    norms_of(data)  # refuses what is not finite before anything is computed
    if data.shape[0] == 0:
        raise BadInput("X has no rows: there is nothing to fit")
    labels = checks.array(y, "y", ndim=(1, 2), must=f"({len(data)},) or ({len(data)}, outputs), one row for each of X")
    if len(labels) != len(data) or 0 in labels.shape:
        raise BadInput(
            f"y has shape {labels.shape}: must be ({len(data)},) or ({len(data)}, outputs), one row for each of X"
        )
    ridges = dense.checked_ridges(ridges)
    workers = threads or cores()
    operator = operator_of(kernel, data, dtype, memory, workers)
    solution = solve_path(operator, labels, ridges, tolerance=tolerance, progress=progress)
    coefficients = solution.coefficients[..., 0] if labels.ndim == 1 else solution.coefficients
    return RidgePath(
        kernel,
        data,
        solution.ridges,
        coefficients,
        solution.residuals,
        solution.iterations,
        f"{_storage(operator)}, {solution.method}",
        solution.note,
        workers,
    )


def operator_of(kernel: Kernel, X: NDArray[Any], dtype: DTypeLike | None, memory: int | None, threads: int) -> Operator:
    """K(X, X), stored as memory allows."""
    n = X.shape[0]
    if dtype is None:
        allowed = SHARE * free_memory() if memory is None else memory
        beside = 8 * n * 3 * min(RANK, n // 4)  # the preconditioner while it is made
        fitting = [kind for kind in (np.float64, np.float32) if np.dtype(kind).itemsize * n * n + beside <= allowed]
        if not fitting:
            return Tiled(kernel, X, threads)
        dtype = fitting[0]
    return Stored(gram([kernel], X, dtype=dtype, threads=threads)[0])


def _storage(operator: Operator) -> str:
    return f"stored in {operator.K.dtype.name}" if isinstance(operator, Stored) else "computed in every product"
