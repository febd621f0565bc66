"""The one loop of every descent with steps; a flow is its update of θ. MATH §6, §9, §10.

Step t, with η_t = η s(t) (`_schedule`): ∇R_α of all samples or of a batch, at θ or at θ + β m where the flow looks
ahead, then ``update`` on the part of θ that is trained. m is the flow's *memory*, a vector of the length of θ:

    update(theta, grad, memory, towards, pace, numbers)

changes theta and memory in place from grad = ∇R(αf), entry by entry, so that large networks divide θ among the threads.
towards and numbers are the flow's own, and `pace` has the factors of this step. With a temperature T the memory is
filled with N(0, 2η_t T) before the step.

The loop ends where the loss, that of a batch, is not finite or beyond the limit, and where a chunk of fresh samples is
used up.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import boolean, float64, int64, prange, types, void
from numba.core.types import npy_rng
from numpy.typing import NDArray

from simlab.core.jit import jit, per_real
from simlab.flows._schedule import factor
from simlab.flows.problem import BEYOND, GOING, NOT_FINITE
from simlab.networks.signature import GRADIENT, Goal, Net, Rows, tuple_type

Array = NDArray[Any]
ALL, EPOCHS, REPLACEMENT, FRESH = range(4)
THREADED_WEIGHTS = 1 << 17  # fewer are updated by one thread: 50 µs
CHUNKS = 8


class Batches(NamedTuple):
    """Which samples a step sees.

    mode: ALL; EPOCHS, each once in an epoch; REPLACEMENT, independent draws; FRESH, those of a chunk one after another.
    size: samples of a batch.
    order: order of the samples in this epoch, (n,); empty where there are no epochs.
    at: place in the order, or in the chunk.
    rows: space for a batch.
    """

    mode: int
    size: int
    order: NDArray[np.int64]
    at: int
    rows: Rows


class Task(NamedTuple):
    """What is descended on, and workspace.

    grad: of the length of θ.
    scratch: as the gradient needs it.
    """

    net: Net
    rows: Rows
    goal: Goal
    batches: Batches
    grad: Array
    scratch: Array


class Way(NamedTuple):
    """How far to go, and how fast.

    begin, end: first entry of θ that moves, and one past the last.
    eta: η.
    code, schedule: s(t), as `_schedule.factor` takes them.
    first: number of steps made before.
    steps: number of steps to make.
    units: sum of s(t) so far.
    limit: loss beyond which the flow has diverged.
    in_place: θ ← θ − η_t ∇R_α is all that a step does, and the gradient does it at once (`Goal.rate`).
    """

    begin: int
    end: int
    eta: float
    code: int
    schedule: NDArray[np.float64]
    first: int
    steps: int
    units: float
    limit: float
    in_place: bool


class Own(NamedTuple):
    """What the flow's update needs.

    memory: m, of the length of θ, or empty.
    towards: another vector of that length, or empty.
    ahead: space for θ + β m; empty where the flow does not look ahead.
    beta: β of looking ahead.
    temperature: T.
    numbers: of the update.
    """

    memory: Array
    towards: Array
    ahead: Array
    beta: float
    temperature: float
    numbers: NDArray[np.float64]


class Pace(NamedTuple):
    """The factors of one step.

    move: η_t/α², in θ's precision: what ∇R(αf) is multiplied with.
    eta: η_t.
    """

    move: Any
    eta: float


def UPDATE(real: Any) -> Any:
    """The types of an update."""
    pace = tuple_type((real, float64), Pace)
    return void(real[::1], real[::1], real[::1], real[::1], pace, float64[::1])


def _signature(real: Any) -> Any:
    gradient = GRADIENT(real)
    act, loss, net, rows, goal, vector, _ = gradient.args
    batches = tuple_type((int64, int64, int64[::1], int64, rows), Batches)
    task = tuple_type((net, rows, goal, batches, vector, vector), Task)
    way = tuple_type((int64, int64, float64, int64, float64[::1], int64, int64, float64, float64, boolean), Way)
    own = tuple_type((vector, vector, vector, float64, float64, float64[::1]), Own)
    found = types.Tuple((int64, int64, float64, int64))
    return found(types.FunctionType(gradient), act, loss, types.FunctionType(UPDATE(real)), task, way, own, npy_rng)


@jit
def _below(n: int, rng: Any) -> int:
    """One of 0 … n − 1, to within n 2^(−53); numba takes 20 s to compile Generator.integers or permutation."""
    return int(rng.random() * n)


@jit
def _batch(rows: Rows, batches: Batches, at: int, rng: Any) -> tuple[Rows, int]:
    """The next batch, from place `at` on, and the place after it."""
    mode, order = batches.mode, batches.order
    n = rows.X.shape[0]
    if mode == ALL:
        return rows, at
    if mode == FRESH:
        last = at + batches.size
        return Rows(rows.X[at:last], rows.Y[at:last]), last
    if mode == EPOCHS and at == n:
        for i in range(n - 1, 0, -1):
            j = _below(i + 1, rng)
            order[i], order[j] = order[j], order[i]
        at = 0
    last = min(at + batches.size, n) if mode == EPOCHS else at + batches.size
    X, Y = batches.rows.X, batches.rows.Y
    for i in range(last - at):
        chosen = order[at + i] if mode == EPOCHS else _below(n, rng)
        for k in range(X.shape[1]):
            X[i, k] = rows.X[chosen, k]
        for k in range(Y.shape[1]):
            Y[i, k] = rows.Y[chosen, k]
    return Rows(X[: last - at], Y[: last - at]), last if mode == EPOCHS else 0


@jit(parallel=True)
def _update_on_all(update: Any, theta: Array, grad: Array, own: Own, pace: Pace) -> None:
    size = theta.size
    for chunk in prange(CHUNKS):
        first, last = chunk * size // CHUNKS, (chunk + 1) * size // CHUNKS
        part = theta[first:last], grad[first:last], own.memory[first:last], own.towards[first:last]
        update(part[0], part[1], part[2], part[3], pace, own.numbers)


@per_real(_signature)
def descend(
    gradient: Any, act: Any, loss: Any, update: Any, task: Task, way: Way, own: Own, rng: Any
) -> tuple[int, int, float, int]:
    """(steps made, ending, units, place in the order or chunk)"""
    net, goal, at, units, alpha = task.net, task.goal, task.batches.at, way.units, np.float64(task.goal.alpha)
    # Slices, and indices from 0: `begin` could be negative to the compiler, and the update was not vectorised. With
    # momentum and weight decay it took 79 µs for 49,000 weights in float32, so 13.
    theta, grad = net.theta[way.begin : way.end], task.grad[way.begin : way.end]
    memory, towards = own.memory[way.begin : way.end], own.towards[way.begin : way.end]
    mine = Own(memory, towards, own.ahead, own.beta, own.temperature, own.numbers)
    beta, ahead = net.theta.dtype.type(own.beta), own.ahead[way.begin : way.end]
    point = net
    if own.ahead.size > 0:
        point = Net(own.ahead, net.sizes, net.numbers, net.phi, net.begin, net.end, net.threads, net.calls)
    for done in range(way.steps):
        if task.batches.mode == FRESH and at == task.rows.X.shape[0]:
            return done, GOING, units, at
        rows, after = _batch(task.rows, task.batches, at, rng)
        if own.ahead.size > 0:
            for k in range(own.ahead.size):
                own.ahead[k] = net.theta[k]
            for k in range(ahead.size):
                ahead[k] += beta * memory[k]
        s = factor(way.code, way.schedule, way.first + done)
        pace = Pace(net.theta.dtype.type(way.eta * s / (alpha * alpha)), way.eta * s)
        aim = Goal(goal.alpha, goal.mean, goal.numbers, np.float64(pace.move) if way.in_place else 0.0, way.limit)
        out = net.theta if way.in_place else task.grad
        found = gradient(act, loss, point, rows, aim, out, task.scratch)
        if not np.isfinite(found):
            return done, NOT_FINITE, units, at
        if found > way.limit:
            return done, BEYOND, units, at
        at = after
        units += s
        if way.in_place:
            continue
        if own.temperature > 0:
            size = math.sqrt(2.0 * pace.eta * own.temperature)
            for k in range(memory.size):
                memory[k] = size * rng.standard_normal()
        if net.threads > 1 and theta.size >= THREADED_WEIGHTS:
            _update_on_all(update, theta, grad, mine, pace)
        else:
            update(theta, grad, memory, towards, pace, own.numbers)
    return way.steps, GOING, units, at


@per_real(UPDATE)
def heavy_ball(theta: Array, grad: Array, memory: Array, towards: Array, pace: Pace, numbers: Array) -> None:
    """v ← β v − η_t (∇R_α + λ (θ − θ̄)), θ ← θ + v, or θ ← θ − η_t (…) where there is no v.

    memory: v, or empty.
    towards: θ̄, or empty for 0.
    numbers: (β, λ).
    """
    beta, shrink = theta.dtype.type(numbers[0]), theta.dtype.type(pace.eta * numbers[1])
    decaying, pulled, moving = numbers[1] > 0, towards.size > 0, memory.size > 0
    for k in range(theta.size):
        change = pace.move * grad[k]
        if decaying:
            change += shrink * (theta[k] - towards[k] if pulled else theta[k])
        if moving:
            memory[k] = beta * memory[k] - change
            theta[k] += memory[k]
        else:
            theta[k] -= change
