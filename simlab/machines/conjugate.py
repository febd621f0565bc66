"""Preconditioned conjugate gradients for (K + λ_j) α_j = y_j, all columns together: one product with K serves all.

Each column has a ridge and scalars of its own; scipy's solver takes one right-hand side at a time and would read K once
for each. A *cycle* iterates until every column's recursive residual has fallen to its goal (columns that have are taken
out of the product). Then the true residual y − (K + λ)α is computed in float64 by `operator.exact`, and columns that
have not reached the tolerance go on from there: iterative refinement, where products in float32 gain at most
`CYCLE_GAIN` before they must be corrected. A column has stalled where a cycle gains less than a factor of two; its best
solution is kept.

The state is plain arrays: a run that is stopped goes on from them, bit for bit.
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
CYCLE_GAIN = 1e-4
LEAST_GAIN = 0.5
FARTHEST, LOST = 1e100, 1e6
"""How far a column may go in a step, and how far its residual may rise, before it is given up for this cycle."""


class Preconditioner(Protocol):
    def solve(self, R: Floats, ridges: Floats) -> Floats:
        """P⁻¹ R, column by column near (K + λ_j)⁻¹ R."""


@dataclass(frozen=True)
class System:
    """Y : (n, c) and a ridge for each column; solved to ‖y − (K + λ)α‖ ≤ tolerance·‖y‖, in at most `limit` steps."""

    operator: Operator
    Y: Floats
    ridges: Floats
    tolerance: float
    limit: int

    @cached_property
    def sizes(self) -> Floats:
        """‖y_j‖ : (c,), 1 for y = 0"""
        sizes = _norms(self.Y)
        return np.where(sizes > 0.0, sizes, 1.0)

    def residuals(self, alpha: Floats, columns: Integers) -> Floats:
        """y − (K + λ)α of some columns, in float64."""
        R = self.Y[:, columns].copy()
        if np.any(alpha):
            R -= self.operator.exact(alpha) + self.ridges[columns] * alpha
        return R


@dataclass
class State:
    """alpha : (n, c) the best solutions so far, with their true relative residuals `residual` : (c,), and `told` : (c,)
    what the recursion tells of them since.

    Of the running cycle: its columns `cycle` with what they moved since it began, `step`; those still `active` with
    residuals R, directions P, scalars rz = R·P⁻¹R, the norms of R to reach, `goals`.
    """

    alpha: Floats
    residual: Floats
    told: Floats
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
        return self.active.size == 0

    def arrays(self) -> dict[str, NDArray[Any]]:
        """For a checkpoint; ``State(**arrays)`` goes on from it."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def begin(system: System, preconditioner: Preconditioner) -> State:
    """α = 0, and the first cycle begun."""
    n, c = system.Y.shape
    residual = _norms(system.Y) / system.sizes
    state = State(
        alpha=np.zeros((n, c)),
        residual=residual,
        told=residual.copy(),
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
    """One iteration of every active column; at the end of a cycle, the beginning of the next."""
    ridges = system.ridges[state.active]
    Q = system.operator.apply(state.P) + ridges * state.P
    curvature = np.einsum("ij,ij->j", state.P, Q)
    sound = np.isfinite(curvature) & (curvature > 0.0) & (state.rz > 0.0)
    length = np.divide(state.rz, curvature, out=np.zeros_like(curvature), where=sound)
    # A singular K at ridge 0 can send a column anywhere in one step: it stops before it leaves the range of float64.
    sound &= length * np.max(np.abs(state.P), axis=0, initial=0.0) < FARTHEST
    length[~sound] = 0.0
    state.step[:, np.searchsorted(state.cycle, state.active)] += length * state.P
    state.R -= length * Q
    state.iterations[state.active] += 1
    sizes = _norms(state.R)
    state.told[state.active] = sizes / system.sizes[state.active]
    lost = state.told[state.active] > LOST
    going = sound & ~lost & (sizes > state.goals) & (state.iterations[state.active] < system.limit)
    if not np.any(going):
        turn(state, system, preconditioner)
        return
    if not np.all(going):
        state.active, state.rz, state.goals = state.active[going], state.rz[going], state.goals[going]
        state.R, state.P = np.ascontiguousarray(state.R[:, going]), np.ascontiguousarray(state.P[:, going])
    Z = preconditioner.solve(state.R, system.ridges[state.active])
    rz = np.einsum("ij,ij->j", state.R, Z)
    state.P *= rz / state.rz
    state.P += Z
    state.rz = rz


def turn(state: State, system: System, preconditioner: Preconditioner, *, judge: bool = True) -> None:
    """End the cycle: true residuals, the better of old and new solutions; begin another with what is not yet solved.

    Without `judge` nothing stalls: a cycle broken off, whose residual may not be smaller yet.
    """
    columns = state.cycle
    trial = state.alpha[:, columns] + state.step
    R = system.residuals(trial, columns)
    residual = _norms(R) / system.sizes[columns]
    earlier = state.residual[columns]
    better = residual < earlier
    state.alpha[:, columns[better]] = trial[:, better]
    state.residual[columns[better]] = residual[better]
    state.told[columns] = state.residual[columns]
    if judge:
        state.stalled[columns] = ~(residual <= LEAST_GAIN * earlier) | (state.iterations[columns] >= system.limit)
    if not np.all(better | state.stalled[columns]):
        worse = ~better
        R[:, worse] = system.residuals(state.alpha[:, columns[worse]], columns[worse])
    left = ~state.stalled[columns]
    _begin_cycle(state, system, preconditioner, R[:, left], columns[left])


def _begin_cycle(state: State, system: System, preconditioner: Preconditioner, R: Floats, columns: Integers) -> None:
    some = state.residual[columns] > system.tolerance
    state.cycle = columns[some]
    state.active = state.cycle
    state.R = np.array(R[:, some], order="C")
    state.step = np.zeros_like(state.R)
    # A little below the tolerance: the recursive residual drifts from the true one.
    goals = 0.5 * system.tolerance * system.sizes[state.cycle]
    state.goals = goals if system.operator.is_exact else np.maximum(goals, CYCLE_GAIN * _norms(state.R))
    state.P = preconditioner.solve(state.R, system.ridges[state.cycle])
    state.rz = np.einsum("ij,ij->j", state.R, state.P)


def _norms(A: Floats) -> Floats:
    return np.asarray(np.sqrt(np.einsum("ij,ij->j", A, A)))
