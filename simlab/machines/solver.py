"""Kernel ridge regression at several ridges: (K + λ_j) α_j = Y for all λ_j, all outputs together. MATH §5.

The columns are all pairs (ridge, output), solved together by preconditioned conjugate gradients (`conjugate`).

1. Start with one Nyström preconditioner of rank r. It serves every ridge that is not far below K's r-th eigenvalue.
2. After every `CHECK_ITERATIONS` iterations, read each column's rate of convergence off its residual.
3. If the iterations left would cost more than a Cholesky factorisation (n³/3 flops, against 2n² per column and
   iteration), factor K + λ₀ at the smallest ridge λ₀ left: in float32 and, if that is not enough, in float64. It
   serves the ridges near λ₀ in a few iterations.

Flops are counted, not seconds, so that the same data give the same bits.

At ridge 0, with a singular K and labels that contradict each other, there is no solution to converge to. Such columns
are solved again at a ridge of 1e-10 of the largest eigenvalue, near the limit λ → 0+, and a note says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simlab.core import checks
from simlab.core.errors import BadInput
from simlab.machines import conjugate, dense
from simlab.machines._factor import Factor
from simlab.machines.conjugate import State, System
from simlab.machines.nystrom import Nystrom
from simlab.machines.operator import Operator, Stored

Floats = NDArray[np.float64]
Progress = Callable[[int, float], None]
"""Called with (iterations so far, largest relative residual)."""
SMALL_SAMPLES = 1500
"""Up to this n one eigendecomposition (the time of 19 Cholesky factorisations, 1 s) serves all ridges."""
RANK = 2000
"""Default rank of the Nyström preconditioner, in columns of K."""
CHECK_ITERATIONS = 10
"""Iterations between two looks at the rate of convergence."""
MOST_ITERATIONS = 2000
"""Default limit of iterations per column."""
PRODUCT_SLOWDOWN = 2.0
"""Time per flop of a product over that of a factorisation. A product with few columns waits for memory: it runs at
30–60 Gflop/s, a factorisation at 140 (float32)."""
NEAR_RATIO = 100.0
"""A factor at λ₀ serves ridges up to this multiple of λ₀, in about √100 · ln(1/tolerance)/2 iterations."""
SUBSTITUTE_RIDGE_SHARE = 1e-10
"""Ridge used instead of 0 if K is singular, over the largest eigenvalue. Predictions are then right to 1e-6."""
STUCK_RESIDUAL = 1e-6
"""Relative residual above which a column at ridge 0 is taken to have no solution."""
PROBE_ROWS, ASYMMETRY = 64, 1e-5
"""Number of rows compared with their columns, and largest difference over the largest entry; float32 has 6e-8."""


@dataclass(frozen=True)
class Solution:
    """What `solve_path` returns, for r ridges, n samples and c outputs.

    ridges: λ, (r,).
    coefficients: α, (r, n, c).
    residuals: largest relative residual ‖y − (K + λ)α‖/‖y‖ among the outputs, (r,).
    iterations: most iterations among the outputs, (r,).
    method: how it was solved, in words.
    note: what the user should know of the solution; empty if all went well.
    """

    ridges: Floats
    coefficients: Floats
    residuals: Floats
    iterations: NDArray[np.int64]
    method: str
    note: str = ""


def solve_path(
    K: NDArray[Any] | Operator,
    Y: ArrayLike,
    ridges: Sequence[float],
    *,
    tolerance: float | None = None,
    rank: int = RANK,
    limit: int = MOST_ITERATIONS,
    progress: Progress | None = None,
) -> Solution:
    """Solve at every ridge, to ‖y − (K + λ)α‖ ≤ tolerance·‖y‖ for each output.

    An output that cannot reach the tolerance ends with the best solution found, its residual, and a note.

    K: Gram matrix, (n, n), float64 or float32, or an `Operator`.
    Y: labels, (n,) or (n, c).
    ridges: the values of λ, 0 or more.
    tolerance: relative residual to reach; by default 1e-10, for a float32 matrix 1e-6.
    rank: columns of K for the Nyström preconditioner, at most n/4.
    limit: most iterations per output and ridge.
    progress: called with (iterations, largest relative residual).
    """
    operator: Operator
    if isinstance(K, Operator):
        operator, labels = K, _labels(Y, K.size)
    else:
        matrix = _square(K)
        labels = _labels(Y, len(matrix))  # checked first: `_stored` reads all entries of K
        operator = _stored(matrix)
    chosen = np.array(dense.checked_ridges(ridges))
    if tolerance is not None:
        tolerance = checks.number(tolerance, "tolerance", above=0, below=1)
    rank, limit = checks.whole(rank, "rank", least=0), checks.whole(limit, "limit", least=1)
    if progress is not None:
        checks.function(progress, "progress")
    if isinstance(operator, Stored) and operator.size <= SMALL_SAMPLES:
        return _small(operator, labels, chosen)
    goal = tolerance if tolerance is not None else 1e-10 if operator.is_exact else 1e-6
    n, c = labels.shape
    # Labels are scaled, as the squares of very large or small ones leave the range of float64. Powers of two are exact.
    largest = np.max(np.abs(labels), axis=0, initial=0.0)
    scale = np.exp2(np.floor(np.log2(np.where(largest > 0.0, largest, 1.0))))
    # Packed as column = (index of ridge) · c + (index of output).
    system = System(operator, np.tile(labels / scale, chosen.size), np.repeat(chosen, c), goal, limit)
    solver = _Solver(system, Nystrom.of(operator, min(rank, n // 4), np.random.default_rng(0)))
    state = solver.run(progress)
    note = solver.solve_stuck(state, progress)
    shape = (chosen.size, c)
    residuals = state.residual.reshape(shape).max(axis=1, initial=0.0)
    iterations = state.iterations.reshape(shape).max(axis=1, initial=0)
    with np.errstate(over="ignore"):
        alpha = np.ascontiguousarray(np.moveaxis(state.alpha.reshape(n, *shape) * scale, 0, 1))
    if not np.isfinite(alpha).all():
        raise BadInput("coefficients overflow with these labels; scale the labels or the kernel")
    return Solution(chosen, alpha, residuals, iterations, solver.method(), note or _note(chosen, residuals, goal))


def _square(K: ArrayLike) -> NDArray[Any]:
    """K as an array; refused unless a square matrix of real numbers."""
    matrix = checks.numeric(K, "K", "a square matrix")
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise BadInput(f"K has shape {matrix.shape} of {matrix.dtype}: must be a square matrix of real numbers")
    return matrix


def _stored(matrix: NDArray[Any]) -> Stored:
    """The given square matrix as an operator; refused unless finite and, in `PROBE_ROWS` of its rows, symmetric."""
    if matrix.dtype not in (np.float64, np.float32) or not matrix.dtype.isnative:
        matrix = matrix.astype(np.float64)
    n = matrix.shape[0]
    probed = np.unique(np.linspace(0, max(n - 1, 0), min(n, PROBE_ROWS)).astype(np.int64))
    rows, columns = matrix[probed], matrix[:, probed].T
    with np.errstate(over="ignore", invalid="ignore"):
        sums = matrix.sum(axis=1, dtype=np.float64)
    if not np.isfinite(sums).all():
        raise BadInput(f"row {int(np.flatnonzero(~np.isfinite(sums))[0])} of K is not finite, or its sum overflows")
    if n and np.max(np.abs(rows - columns)) > ASYMMETRY * np.max(np.abs(rows)):
        raise BadInput("K differs from its transpose: must be symmetric")
    return Stored(matrix)


def _labels(Y: ArrayLike, n: int) -> Floats:
    """Y as (n, c) in float64; refused unless it has n rows."""
    labels = checks.array(Y, "Y")
    if labels.ndim not in (1, 2) or labels.shape[0] != n:
        raise BadInput(f"Y has shape {labels.shape}: must have one row for each of the {n} inputs")
    return np.ascontiguousarray(labels.reshape(n, -1))


def _small(operator: Stored, Y: Floats, ridges: Floats) -> Solution:
    """Every ridge from one eigendecomposition, for small n."""
    found = dense.path(operator.K.astype(np.float64, copy=False), Y, ridges.tolist())
    return Solution(
        ridges,
        np.array([one.coefficients for one in found]).reshape(ridges.size, *Y.shape),
        np.array([one.residual for one in found]),
        np.zeros(ridges.size, dtype=np.int64),
        "eigendecomposition",
        next((one.note for one in found if one.note), ""),
    )


def _note(ridges: Floats, residuals: Floats, tolerance: float) -> str:
    """A line about the ridge with the worst residual above the tolerance; empty if there is none."""
    if not np.any(bad := ~(residuals <= tolerance)):
        return ""
    worst = int(np.argmax(np.where(bad, residuals, -1.0)))
    return (
        f"ridge {ridges[worst]:g}: conjugate gradients ended with a relative residual of {residuals[worst]:.1e}, above "
        f"{tolerance:.0e}; the Gram matrix is singular or nearly so there"
    )


class _Solver:
    """Conjugate gradients that change their preconditioner when that saves time; it is the preconditioner itself.

    system: what is to be solved.
    nystrom: preconditioner at the start, and of ridges far from that of the factor.
    factor: preconditioner of ridges near its own; None before the first factorisation.
    factor_descriptions: one entry per factorisation, in words.
    """

    def __init__(self, system: System, nystrom: Nystrom) -> None:
        self.system = system
        self.nystrom = nystrom
        self.factor: Factor | None = None
        self.factor_descriptions: list[str] = []

    def run(self, progress: Progress | None) -> State:
        """Iterate until every column is solved or has stalled."""
        system = self.system
        state = conjugate.begin(system, self)
        before = np.full(system.ridges.size, np.inf)
        steps = 0
        while not state.finished:
            conjugate.advance(state, system, self)
            steps += 1
            if steps % CHECK_ITERATIONS == 0:
                sizes = state.recursive_residual[state.active]
                if progress is not None:
                    progress(steps, float(state.recursive_residual.max()))
                if isinstance(system.operator, Stored) and self._too_slow(state, sizes, before[state.active]):
                    self._refactor(system.operator, state)
                    before[:] = np.inf
                else:
                    before[state.active] = sizes
        return state

    def solve(self, R: Floats, ridges: Floats) -> Floats:
        """P⁻¹ R : (n, c), by the factor for ridges near its own, else by Nyström's approximation."""
        if self.factor is None:
            return self.nystrom.solve(R, ridges)
        near = self._near(ridges)
        Z = np.empty_like(R)
        if np.any(near):
            Z[:, near] = self.factor.solve(R[:, near], ridges[near])
        if not np.all(near):
            Z[:, ~near] = self.nystrom.solve(R[:, ~near], ridges[~near])
        return Z

    def solve_stuck(self, state: State, progress: Progress | None) -> str:
        """Solve columns at ridge 0 that stalled far from a solution again, at a small ridge instead.

        Writes the new solutions into `state`. Returns a note, or "" if there is no such column.
        """
        system = self.system
        stuck = np.flatnonzero((system.ridges == 0.0) & (state.residual > STUCK_RESIDUAL))
        if stuck.size == 0 or self.nystrom.eigenvalues.size == 0:
            return ""
        ridge = SUBSTITUTE_RIDGE_SHARE * float(self.nystrom.eigenvalues[0])
        retry = _Solver(
            System(system.operator, system.Y[:, stuck], np.full(stuck.size, ridge), system.tolerance, system.limit),
            self.nystrom,
        )
        found = retry.run(progress)
        state.alpha[:, stuck] = found.alpha
        state.iterations[stuck] += found.iterations
        R = system.residuals(found.alpha, stuck)
        state.residual[stuck] = np.sqrt(np.einsum("ij,ij->j", R, R)) / system.label_norms[stuck]
        self.factor_descriptions += retry.factor_descriptions
        return (
            f"ridge 0: the Gram matrix is singular (relative residual {state.residual[stuck].max():.1e}): solved at "
            f"ridge {ridge:.1e}, near the least-squares solution of least norm"
        )

    def method(self) -> str:
        """How the columns were solved, in words."""
        return ", ".join(
            [f"conjugate gradients, Nyström rank {self.nystrom.eigenvalues.size}", *self.factor_descriptions]
        )

    def _near(self, ridges: Floats) -> NDArray[np.bool_]:
        """Whether the factor serves each of these ridges."""
        assert self.factor is not None
        return np.asarray(ridges <= NEAR_RATIO * self.factor.ridge)

    def _too_slow(self, state: State, sizes: Floats, before: Floats) -> bool:
        """Whether the iterations left, at the present rate, cost more than twice a factorisation.

        sizes: relative residuals of the active columns now, (a,).
        before: the same `CHECK_ITERATIONS` earlier, (a,); infinite where not known yet.
        """
        if sizes.size == 0 or not np.all(np.isfinite(before)):
            return False
        # pace: change of log(residual) per iteration, below 0; left: iterations that each column still needs.
        pace = np.minimum(np.log(np.maximum(sizes / before, 1e-300)) / CHECK_ITERATIONS, -1e-6)
        left = np.minimum(math.log(self.system.tolerance) - np.log(sizes), 0.0) / pace
        n = self.system.operator.size
        # The matrix must be read however few the columns: that costs the time of ten columns.
        work = PRODUCT_SLOWDOWN * 2.0 * n * n * (float(np.sum(left)) + 10.0 * float(np.max(left)))
        return work > 2.0 * n**3 / 3.0

    def _refactor(self, operator: Stored, state: State) -> None:
        """Factor K + λ₀ at the smallest ridge that is still active, and restart the cycle with it.

        In float32 first. In float64 if a float32 factor near this ridge was too slow already.
        """
        smallest = float(self.system.ridges[state.active].min())
        kind: np.dtype[Any] = np.dtype(np.float32)
        if self.factor is not None and self._near(np.array([smallest]))[0]:
            if self.factor.L.dtype == np.float64:
                return  # there is no better preconditioner
            kind = np.dtype(np.float64)
        self.factor = None  # frees its memory before the new one is allocated
        self.factor = Factor.of(operator, smallest, kind)
        self.factor_descriptions.append(f"Cholesky in {kind.name} at ridge {smallest:g}")
        conjugate.next_cycle(state, self.system, self, mark_stalled=False)
