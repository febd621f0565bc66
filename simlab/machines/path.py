"""`ridge_path`: kernel ridge regression at several ridges on data of any size. MATH §5.

The Gram matrix is stored in float64 if memory allows it, else in float32; else it is computed anew in every product.
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
MEMORY_SHARE = 0.8
"""Share of the free memory that is used by default."""


@dataclass(frozen=True)
class RidgePath:
    """f_j(x) = K(x, X) α_j for ridge j = 1 … r.

    kernel: K.
    X: (n, d), the inputs of the fit.
    ridges: (r,), the values of λ.
    coefficients: α : (r, n) or (r, n, c).
    residuals: (r,), ‖(K + λI)α − y‖/‖y‖.
    iterations: (r,), iterations of the solver.
    method: how the Gram matrix was stored and the systems solved, in words.
    note: what the user should know of the solution, such as a tolerance that was not reached; may be empty.
    threads: threads used.
    """

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
        """f_j(x_i) : (r, m) or (r, m, c), at the rows of X : (m, d)."""
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
    """Solve (K + λI)α = y at every ridge λ.

    kernel: such as ``kernels.ntk(3)``.
    X: (n, d), one input per row.
    y: (n,) or (n, c).
    ridges: the values of λ, 0 or more.
    dtype: float64 or float32, precision of the stored Gram matrix. By default the best one that fits into `memory`; if
        none does, the matrix is not stored but computed in every product.
    memory: bytes that may be used; by default 0.8 of what is free.
    threads: threads to use; by default one per core.
    tolerance: relative residual ‖(K + λI)α − y‖/‖y‖ to reach; by default 1e-10, for a float32 matrix 1e-6.
    progress: called with (iterations, largest relative residual).
    """
    if not isinstance(kernel, Kernel):
        raise BadInput(f"kernel = {shown(kernel)}: must be a kernel, such as simlab.kernels.ntk(3)")
    dtype = None if dtype is None else checks.float_type(dtype)
    memory = None if memory is None else checks.whole(memory, "memory", least=0)
    threads = None if threads is None else checks.whole(threads, "threads", least=1, most=MOST_THREADS)
    data = inputs(X, "X")
    norms_of(data)  # refuses inputs that are not finite before anything is computed
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
    """K(X, X) : (n, n), stored if memory allows it.

    dtype: precision of the storage; None for the best that fits into `memory`.
    memory: bytes that may be used; None for `MEMORY_SHARE` of what is free.
    """
    n = X.shape[0]
    if dtype is None:
        allowed = MEMORY_SHARE * free_memory() if memory is None else memory
        preconditioner = (
            8 * n * 3 * min(RANK, n // 4)
        )  # bytes while Nyström's factors are computed: three (n, rank) arrays
        fitting = [
            kind for kind in (np.float64, np.float32) if np.dtype(kind).itemsize * n * n + preconditioner <= allowed
        ]
        if not fitting:
            return Tiled(kernel, X, threads)
        dtype = fitting[0]
    return Stored(gram([kernel], X, dtype=dtype, threads=threads)[0])


def _storage(operator: Operator) -> str:
    """How the matrix is stored, in words."""
    return f"stored in {operator.K.dtype.name}" if isinstance(operator, Stored) else "computed in every product"
