"""Preconditioned conjugate gradients for (K + λ_j) α_j = y_j, all columns j together: one product with K serves all.

Each column has its own ridge and its own scalars. (scipy's solver takes one right-hand side at a time, so it would read
K once per column.) The iteration runs in *cycles*:

1. Iterate. The recursion updates the residual R without computing it from α (the *recursive* residual). A column whose
   recursive residual has reached its goal leaves the product; the cycle ends when no column is left.
2. Compute the *true* residual y − (K + λ)α in float64 by `operator.exact`.
3. Columns whose true residual is above the tolerance start the next cycle from there (iterative refinement). If
   products are in float32, a cycle ends at `CYCLE_RATIO` of its first residual: rounding spoils the rest.

A column has *stalled* if a cycle reduced its true residual by less than a factor of two, or if it has used up its
iterations. It ends with the best solution found.

The state consists of plain arrays: a run that was stopped continues from them, bit for bit.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from simlab.machines.operator import Operator

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
CYCLE_RATIO = 1e-4
"""Residual at the end of a cycle over that at its start, when products are in float32."""
STALL_RATIO = 0.5
"""A column has stalled if its true residual after a cycle is above this multiple of the one before."""
MOST_STEP, MOST_RESIDUAL = 1e100, 1e6
"""Largest change of an entry of α in one iteration, and largest ‖R‖/‖y‖; beyond either a column leaves the cycle."""


class Preconditioner(Protocol):
    """A cheap approximation of (K + λ)⁻¹, for any ridge λ."""

    def solve(self, R: Floats, ridges: Floats) -> Floats:
        """P⁻¹ R : (n, c), whose column j approximates (K + λ_j)⁻¹ R_j; ridges : (c,)."""


@dataclass(frozen=True)
class System:
    """What is to be solved: ‖y_j − (K + λ_j)α_j‖ ≤ tolerance·‖y_j‖ for every column j.

    operator: K : (n, n).
    Y: right-hand sides, (n, c).
    ridges: λ, one per column, (c,).
    tolerance: relative residual to reach.
    limit: most iterations per column.
    """

    operator: Operator
    Y: Floats
    ridges: Floats
    tolerance: float
    limit: int

    @cached_property
    def label_norms(self) -> Floats:
        """‖y_j‖ : (c,); 1 where y_j = 0, so that one can divide by it."""
        sizes = _norms(self.Y)
        return np.where(sizes > 0.0, sizes, 1.0)

    def residuals(self, alpha: Floats, columns: Integers) -> Floats:
        """True residuals y − (K + λ)α : (n, k) in float64, of the k `columns` whose solutions are alpha : (n, k)."""
        R = self.Y[:, columns].copy()
        if np.any(alpha):
            R -= self.operator.exact(alpha) + self.ridges[columns] * alpha
        return R


@dataclass
class State:
    """Where the iteration stands. A cycle has k of the c columns; a of these are still active.

    alpha: best solutions so far, (n, c).
    residual: their true relative residuals ‖y − (K + λ)α‖/‖y‖, (c,).
    recursive_residual: ‖R‖/‖y‖ as of the last iteration of each column, (c,); equals `residual` between cycles.
    iterations: number of iterations of each column, (c,).
    stalled: whether each column has stalled, (c,).

    Of the cycle that is running:

    cycle: indices of its columns, (k,), ascending.
    step: change of their solutions since the cycle began, (n, k).
    active: indices of the columns that still iterate, (a,), ascending; empty when all is done.
    R: their recursive residuals, (n, a).
    P: their search directions, (n, a).
    rz: their scalars R·Z, where Z is what the preconditioner makes of R, (a,).
    goals: norms of R at which they leave the cycle, (a,).
    """

    alpha: Floats
    residual: Floats
    recursive_residual: Floats
    iterations: Integers
    stalled: NDArray[np.bool_]
    cycle: Integers
    step: Floats
    active: Integers
    R: Floats
    P: Floats
    rz: Floats
    goals: Floats

    @property
    def finished(self) -> bool:
        """Whether every column is solved or has stalled."""
        return self.active.size == 0

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Name of field → array, for a checkpoint; ``State(**arrays)`` is the same state again."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def begin(system: System, preconditioner: Preconditioner) -> State:
    """The state at α = 0, with the first cycle started."""
    n, c = system.Y.shape
    residual = _norms(system.Y) / system.label_norms
    state = State(
        alpha=np.zeros((n, c)),
        residual=residual,
        recursive_residual=residual.copy(),
        iterations=np.zeros(c, dtype=np.int64),
        stalled=np.zeros(c, dtype=np.bool_),
        cycle=np.zeros(0, dtype=np.int64),
        step=np.zeros((n, 0)),
        active=np.zeros(0, dtype=np.int64),
        R=np.zeros((n, 0)),
        P=np.zeros((n, 0)),
        rz=np.zeros(0),
        goals=np.zeros(0),
    )
    _begin_cycle(state, system, preconditioner, system.Y, np.arange(c))
    return state


def advance(state: State, system: System, preconditioner: Preconditioner) -> None:
    """One iteration of every active column. If it was the last one of a cycle, start the next cycle."""
    ridges = system.ridges[state.active]
    Q = system.operator.apply(state.P) + ridges * state.P
    curvature = np.einsum("ij,ij->j", state.P, Q)
    sound = np.isfinite(curvature) & (curvature > 0.0) & (state.rz > 0.0)
    length = np.divide(state.rz, curvature, out=np.zeros_like(curvature), where=sound)
    # With a singular K at ridge 0 one step can be arbitrarily long: such a column stops before α overflows.
    sound &= length * np.max(np.abs(state.P), axis=0, initial=0.0) < MOST_STEP
    length[~sound] = 0.0
    # `active` is a subset of `cycle` and both are sorted: searchsorted gives the columns of `step` to update.
    state.step[:, np.searchsorted(state.cycle, state.active)] += length * state.P
    state.R -= length * Q
    state.iterations[state.active] += 1
    sizes = _norms(state.R)
    state.recursive_residual[state.active] = sizes / system.label_norms[state.active]
    lost = state.recursive_residual[state.active] > MOST_RESIDUAL
    going = sound & ~lost & (sizes > state.goals) & (state.iterations[state.active] < system.limit)
    if not np.any(going):
        next_cycle(state, system, preconditioner)
        return
    if not np.all(going):
        state.active, state.rz, state.goals = state.active[going], state.rz[going], state.goals[going]
        state.R, state.P = np.ascontiguousarray(state.R[:, going]), np.ascontiguousarray(state.P[:, going])
    Z = preconditioner.solve(state.R, system.ridges[state.active])
    rz = np.einsum("ij,ij->j", state.R, Z)
    state.P *= rz / state.rz
    state.P += Z
    state.rz = rz


def next_cycle(state: State, system: System, preconditioner: Preconditioner, *, mark_stalled: bool = True) -> None:
    """End the cycle and start the next one with the columns that are not solved yet.

    Computes the true residuals of the new solutions. Each column keeps the better one of its old and new solutions.

    mark_stalled: whether columns that gained too little count as stalled. False for a cycle that is interrupted (to
        change the preconditioner), whose residuals need not be smaller yet.
    """
    columns = state.cycle
    trial = state.alpha[:, columns] + state.step
    R = system.residuals(trial, columns)
    residual = _norms(R) / system.label_norms[columns]
    earlier = state.residual[columns]
    better = residual < earlier
    state.alpha[:, columns[better]] = trial[:, better]
    state.residual[columns[better]] = residual[better]
    state.recursive_residual[columns] = state.residual[columns]
    if mark_stalled:
        state.stalled[columns] = ~(residual <= STALL_RATIO * earlier) | (state.iterations[columns] >= system.limit)
    # R belongs to the new solutions: columns that return to their old one need the residual of that.
    if not np.all(better | state.stalled[columns]):
        worse = ~better
        R[:, worse] = system.residuals(state.alpha[:, columns[worse]], columns[worse])
    left = ~state.stalled[columns]
    _begin_cycle(state, system, preconditioner, R[:, left], columns[left])


def _begin_cycle(state: State, system: System, preconditioner: Preconditioner, R: Floats, columns: Integers) -> None:
    """Start a cycle with those of `columns` that are above the tolerance. R : (n, len(columns)) true residuals."""
    unsolved = state.residual[columns] > system.tolerance
    state.cycle = columns[unsolved]
    state.active = state.cycle
    state.R = np.array(R[:, unsolved], order="C")
    state.step = np.zeros_like(state.R)
    # Half the tolerance: the recursive residual drifts from the true one.
    goals = 0.5 * system.tolerance * system.label_norms[state.cycle]
    state.goals = goals if system.operator.is_exact else np.maximum(goals, CYCLE_RATIO * _norms(state.R))
    state.P = preconditioner.solve(state.R, system.ridges[state.cycle])
    state.rz = np.einsum("ij,ij->j", state.R, state.P)


def _norms(A: Floats) -> Floats:
    """Euclidean norm of each column of A : (n, c), as (c,)."""
    return np.asarray(np.sqrt(np.einsum("ij,ij->j", A, A)))
