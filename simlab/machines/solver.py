"""Kernel ridge regression at several ridges: (K + λ_j) α_j = Y for all λ_j, all outputs together. MATH §5.

One Nyström preconditioner serves every ridge that is not far below K's r-th eigenvalue. After every `CHECK` iterations
each column's pace is read off its residual. Where what is left to do costs more than a Cholesky factor (n³/3 flops,
against 2n² per column and step), K + λ₀ is factored at the smallest ridge left, in float32 or, if that is not enough,
in float64: it serves the ridges near λ₀ in a few steps. Flops are counted, not seconds, so the same data give the same
bits.

Where a ridge of 0 meets a singular K with contradicting labels there is nothing to converge to. Such columns are solved
again at a ridge of 1e-10 of the largest eigenvalue, near the limit λ → 0+, and a note says so.
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
SMALL = 1500
"""Up to this size one eigendecomposition (19 Choleskys: 1 s) serves all ridges."""
RANK = 2000
CHECK = 10
LIMIT = 2000
SLOWNESS = 2.0
"""A product with few columns is bound by memory: 30–60 of the 140 Gflop/s (float32) that a factorisation gets."""
NEAR = 100.0
"""A factor serves ridges up to so many times its own: about √100 · ln(1/tolerance)/2 steps."""
NEARBY = 1e-10
"""Of the largest eigenvalue: the ridge that stands for 0 where K is singular; predictions are then right to 1e-6."""
STUCK = 1e-6
"""Relative residual above which a stalled column is taken to have no solution."""
PROBES, ASYMMETRY = 64, 1e-5
"""Rows whose mirrors are looked at, and how far they may differ, relative to the largest; float32 rounds to 6e-8."""


@dataclass(frozen=True)
class Solution:
    """coefficients : (r, n, c); of each ridge the largest relative residual of its columns, and the iterations."""

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
    limit: int = LIMIT,
    progress: Progress | None = None,
) -> Solution:
    """Solve at every ridge, to ‖y − (K + λ)α‖ ≤ tolerance·‖y‖ for each output.

    K is a Gram matrix (float64 or float32) or an `Operator`; the default tolerance is 1e-10, for a float32 matrix
    1e-6. `progress` is told (iterations, largest residual). A column that cannot reach the tolerance ends with the best
    solution met, its residual, and a note.
    """
    operator: Operator
    if isinstance(K, Operator):
        operator, labels = K, _labels(Y, K.size)
    else:
        matrix = _square(K)
        labels = _labels(Y, len(matrix))  # first: `_stored` looks at all entries
        operator = _stored(matrix)
    chosen = np.array(dense.checked_ridges(ridges))
    if tolerance is not None:
        tolerance = checks.number(tolerance, "tolerance", above=0, below=1)
    rank, limit = checks.whole(rank, "rank", least=0), checks.whole(limit, "limit", least=1)
    if progress is not None:
        checks.function(progress, "progress")
    if isinstance(operator, Stored) and operator.size <= SMALL:
        return _small(operator, labels, chosen)
    wanted = tolerance if tolerance is not None else 1e-10 if operator.is_exact else 1e-6
    n, c = labels.shape
    # By powers of two: squares of very large or small labels leave the range of float64, and no digit changes.
    largest = np.max(np.abs(labels), axis=0, initial=0.0)
    scale = np.exp2(np.floor(np.log2(np.where(largest > 0.0, largest, 1.0))))
    system = System(operator, np.tile(labels / scale, chosen.size), np.repeat(chosen, c), wanted, limit)
    solver = _Solver(system, Nystrom.of(operator, min(rank, n // 4), np.random.default_rng(0)))
    state = solver.run(progress)
    note = solver.solve_nearby(state, progress)
    shape = (chosen.size, c)
    residuals = state.residual.reshape(shape).max(axis=1, initial=0.0)
    iterations = state.iterations.reshape(shape).max(axis=1, initial=0)
    with np.errstate(over="ignore"):
        alpha = np.ascontiguousarray(np.moveaxis(state.alpha.reshape(n, *shape) * scale, 0, 1))
    if not np.isfinite(alpha).all():
        raise BadInput("coefficients overflow with these labels; scale the labels or the kernel")
    return Solution(chosen, alpha, residuals, iterations, solver.method(), note or _note(chosen, residuals, wanted))


def _square(K: ArrayLike) -> NDArray[Any]:
    matrix = checks.numeric(K, "K", "a square matrix")
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise BadInput(f"K has shape {matrix.shape} of {matrix.dtype}: must be a square matrix of real numbers")
    return matrix


def _stored(matrix: NDArray[Any]) -> Stored:
    """A Gram matrix as given: square, finite, symmetric as far as a few of its rows tell."""
    if matrix.dtype not in (np.float64, np.float32) or not matrix.dtype.isnative:
        matrix = matrix.astype(np.float64)
    n = matrix.shape[0]
    some = np.unique(np.linspace(0, max(n - 1, 0), min(n, PROBES)).astype(np.int64))
    rows, columns = matrix[some], matrix[:, some].T
    with np.errstate(over="ignore", invalid="ignore"):
        sums = matrix.sum(axis=1, dtype=np.float64)
    if not np.isfinite(sums).all():
        raise BadInput(f"row {int(np.flatnonzero(~np.isfinite(sums))[0])} of K is not finite, or its sum overflows")
    if n and np.max(np.abs(rows - columns)) > ASYMMETRY * np.max(np.abs(rows)):
        raise BadInput("K differs from its transpose: must be symmetric")
    return Stored(matrix)


def _labels(Y: ArrayLike, n: int) -> Floats:
    labels = checks.array(Y, "Y")
    if labels.ndim not in (1, 2) or labels.shape[0] != n:
        raise BadInput(f"Y has shape {labels.shape}: must have one row for each of the {n} inputs")
    return np.ascontiguousarray(labels.reshape(n, -1))


def _small(operator: Stored, Y: Floats, ridges: Floats) -> Solution:
    found = dense.path(operator.K.astype(np.float64, copy=False), Y, ridges.tolist())
    return Solution(
        ridges,
        np.array([dense.coefficients for dense in found]).reshape(ridges.size, *Y.shape),
        np.array([dense.residual for dense in found]),
        np.zeros(ridges.size, dtype=np.int64),
        "eigendecomposition",
        next((dense.note for dense in found if dense.note), ""),
    )


def _note(ridges: Floats, residuals: Floats, tolerance: float) -> str:
    if not np.any(bad := ~(residuals <= tolerance)):
        return ""
    worst = int(np.argmax(np.where(bad, residuals, -1.0)))
    return (
        f"ridge {ridges[worst]:g}: conjugate gradients ended with a relative residual of {residuals[worst]:.1e}, above "
        f"{tolerance:.0e}; the Gram matrix is singular or nearly so there"
    )


class _Solver:
    """Conjugate gradients that change their preconditioner where that pays."""

    def __init__(self, system: System, nystrom: Nystrom) -> None:
        self.system = system
        self.nystrom = nystrom
        self.factor: Factor | None = None
        self.factored: list[str] = []

    def run(self, progress: Progress | None) -> State:
        system = self.system
        state = conjugate.begin(system, self)
        before = np.full(system.ridges.size, np.inf)
        steps = 0
        while not state.finished:
            conjugate.advance(state, system, self)
            steps += 1
            if steps % CHECK == 0:
                sizes = state.told[state.active]
                if progress is not None:
                    progress(steps, float(state.told.max()))
                if isinstance(system.operator, Stored) and self._too_slow(state, sizes, before[state.active]):
                    self._refactor(system.operator, state)
                    before[:] = np.inf
                else:
                    before[state.active] = sizes
        return state

    def solve(self, R: Floats, ridges: Floats) -> Floats:
        """By the factor for ridges near its own, else by Nyström's."""
        if self.factor is None:
            return self.nystrom.solve(R, ridges)
        near = self._near(ridges)
        Z = np.empty_like(R)
        if np.any(near):
            Z[:, near] = self.factor.solve(R[:, near], ridges[near])
        if not np.all(near):
            Z[:, ~near] = self.nystrom.solve(R[:, ~near], ridges[~near])
        return Z

    def solve_nearby(self, state: State, progress: Progress | None) -> str:
        """Solve columns of ridge 0 that stalled far from a solution at a small ridge instead; a note if there are."""
        system = self.system
        stuck = np.flatnonzero((system.ridges == 0.0) & (state.residual > STUCK))
        if stuck.size == 0 or self.nystrom.eigenvalues.size == 0:
            return ""
        ridge = NEARBY * float(self.nystrom.eigenvalues[0])
        again = _Solver(
            System(system.operator, system.Y[:, stuck], np.full(stuck.size, ridge), system.tolerance, system.limit),
            self.nystrom,
        )
        found = again.run(progress)
        state.alpha[:, stuck] = found.alpha
        state.iterations[stuck] += found.iterations
        R = system.residuals(found.alpha, stuck)
        state.residual[stuck] = np.sqrt(np.einsum("ij,ij->j", R, R)) / system.sizes[stuck]
        self.factored += again.factored
        return (
            f"ridge 0: the Gram matrix is singular (relative residual {state.residual[stuck].max():.1e}): solved at "
            f"ridge {ridge:.1e}, near the least-squares solution of least norm"
        )

    def method(self) -> str:
        return ", ".join([f"conjugate gradients, Nyström rank {self.nystrom.eigenvalues.size}", *self.factored])

    def _near(self, ridges: Floats) -> NDArray[np.bool_]:
        assert self.factor is not None
        return np.asarray(ridges <= NEAR * self.factor.ridge)

    def _too_slow(self, state: State, sizes: Floats, before: Floats) -> bool:
        """Whether the steps left, at the pace of the last `CHECK`, cost more than twice a factorisation."""
        if sizes.size == 0 or not np.all(np.isfinite(before)):
            return False
        pace = np.minimum(np.log(np.maximum(sizes / before, 1e-300)) / CHECK, -1e-6)
        left = np.minimum(math.log(self.system.tolerance) - np.log(sizes), 0.0) / pace
        n = self.system.operator.size
        # Fewer than ten columns take the time of ten: the matrix is read all the same.
        work = SLOWNESS * 2.0 * n * n * (float(np.sum(left)) + 10.0 * float(np.max(left)))
        return work > 2.0 * n**3 / 3.0

    def _refactor(self, operator: Stored, state: State) -> None:
        smallest = float(self.system.ridges[state.active].min())
        kind: np.dtype[Any] = np.dtype(np.float32)
        if self.factor is not None and self._near(np.array([smallest]))[0]:
            if self.factor.L.dtype == np.float64:
                return  # nothing better is to be had
            kind = np.dtype(np.float64)
        self.factor = None  # its memory first
        self.factor = Factor.of(operator, smallest, kind)
        self.factored.append(f"Cholesky in {kind.name} at ridge {smallest:g}")
        conjugate.turn(state, self.system, self, judge=False)
