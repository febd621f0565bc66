"""Stochastic gradient descent θ ← θ − η_t ∇R_α(θ; batch), the loss being the mean over a batch of B samples. MATH §6.

sampling = "epochs"       every epoch visits each training sample once, in a new random order; its last batch has what
                          is left over (n mod B samples)
sampling = "replacement"  each sample of a batch is drawn from all n, independently
fresh = true              one pass: every batch is new, from the law of the data and the target, and none comes again.
                          The training samples then only serve to measure. Samples are drawn in chunks of a fixed
                          number of batches, so that nothing depends on the clock; the state keeps the generator as it
                          was before the chunk and the place in it.

A loss that is not finite or beyond the limit is that of a batch. Streams: ``batches`` (orders), ``fresh`` (samples).
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numba import int64
from numba.core.types import npy_rng
from numpy.typing import NDArray
from pydantic import Field, model_validator

from simlab.core.errors import BadInput
from simlab.core.jit import jit, per_real
from simlab.core.rng import Streams
from simlab.flows._problem import BEYOND, GOING, NOT_FINITE, Problem
from simlab.flows._schedule import factor
from simlab.flows._stepping import State, Stepping, arguments, begin, copy_of, go, signature

Array = NDArray[Any]
EPOCHS, REPLACEMENT, FRESH = range(3)
CHUNK_ROWS = 4096


class Params(Stepping):
    batch: int = Field(ge=1, description="number B of samples a step")
    sampling: Literal["epochs", "replacement"] | None = Field(
        None, description="epochs (default): each sample once in an epoch; replacement: independent draws"
    )
    fresh: bool = Field(False, description="one pass: new samples at every step")

    @model_validator(mode="after")
    def _one_way(self) -> Params:
        if self.fresh and self.sampling is not None:
            raise ValueError(f"sampling = {self.sampling!r}: not with fresh = true, where no sample comes twice")
        return self

    def batch_size(self) -> int:
        return self.batch


EXAMPLES = (
    {"steps": 50, "step": 0.05, "batch": 4},
    {"steps": 50, "step": 0.05, "batch": 3, "sampling": "replacement"},
    {"steps": 50, "step": "auto", "auto_every": 20, "batch": 2, "fresh": True},
)


@jit
def _below(n: int, rng: Any) -> int:
    """One of 0 … n − 1, to within n 2^(−53); numba takes 20 s to compile Generator.integers or permutation."""
    return int(rng.random() * n)


def _signature(real: Any) -> Any:
    more = int64, int64, int64[::1], int64, npy_rng, real[:, ::1], real[:, ::1]
    return signature(real, *more, also=(int64,))


@per_real(_signature)
def descend(
    gradient: Any,
    act: Any,
    a: Array,
    theta: Array,
    X: Array,
    y: Array,
    alpha: float,
    sizes: Array,
    numbers: Array,
    grad: Array,
    scratch: Array,
    begin: int,
    end: int,
    eta: float,
    code: int,
    schedule: Array,
    first: int,
    steps: int,
    units: float,
    limit: float,
    mode: int,
    batch: int,
    order: Array,
    at: int,
    rng: Any,
    rows: Array,
    values: Array,
) -> tuple[int, int, float, int]:
    """`at` is the place in the order, or in the chunk X; also returned. Ends early where the chunk is used up."""
    n = X.shape[0]
    for done in range(steps):
        if mode == FRESH:
            if at == n:
                return done, GOING, units, at
            last = at + batch
            loss = gradient(act, a, theta, X[at:last], y[at:last], alpha, sizes, numbers, grad, scratch)
        else:
            if mode == EPOCHS and at == n:
                for i in range(n - 1, 0, -1):
                    j = _below(i + 1, rng)
                    order[i], order[j] = order[j], order[i]
                at = 0
            last = min(at + batch, n) if mode == EPOCHS else at + batch
            for i in range(last - at):
                chosen = order[at + i] if mode == EPOCHS else _below(n, rng)
                for k in range(X.shape[1]):
                    rows[i, k] = X[chosen, k]
                for k in range(y.shape[1]):
                    values[i, k] = y[chosen, k]
            size = last - at
            loss = gradient(act, a, theta, rows[:size], values[:size], alpha, sizes, numbers, grad, scratch)
        if not np.isfinite(loss):
            return done, NOT_FINITE, units, at
        if loss > limit:
            return done, BEYOND, units, at
        at = last if mode != REPLACEMENT else 0
        s = factor(code, schedule, first + done)
        units += s
        move = theta.dtype.type(eta * s / (np.float64(alpha) * np.float64(alpha)))
        for k in range(begin, end):
            theta[k] -= move * grad[k]
    return steps, GOING, units, at


def start(params: Params, problem: Problem, theta0: Array, streams: Streams) -> State:
    n = len(problem.X)
    if params.fresh:
        if problem.fresh is None:
            raise BadInput("flow.fresh = true: these data are not a law that new samples can be drawn from")
        own: State = {"rng": copy_of(streams["fresh"]), "at": 0, "order": np.zeros(0, np.int64)}
    else:
        if params.batch > n:
            raise BadInput(f"flow.batch = {params.batch}: more than the {n} training samples")
        own = {"rng": copy_of(streams["batches"]), "at": n, "order": np.arange(n, dtype=np.int64)}
        if params.sampling == "replacement":
            own |= {"at": 0, "order": np.zeros(0, np.int64)}
    return begin(params, problem, theta0) | own


def _chunk(params: Params, problem: Problem, state: State) -> tuple[Array, Array]:
    """The samples that the state stands in; the next ones where those are used up."""
    size = params.batch * max(1, CHUNK_ROWS // params.batch)
    X, y, after = _drawn(problem, size, state["rng"])
    if state["at"] == size:
        state["rng"], state["at"] = after, 0
        X, y, _ = _drawn(problem, size, after)
    return X, y


def _drawn(problem: Problem, size: int, before: np.random.Generator) -> tuple[Array, Array, np.random.Generator]:
    """A chunk drawn by a copy of `before`, and that copy after it; not drawn again while it is asked for."""
    place = before.bit_generator.state
    if "chunk" not in problem.kept or problem.kept["chunk"][0] != (size, place):
        assert problem.fresh is not None
        rng = copy_of(before)
        X, y = problem.fresh(size, rng)
        problem.kept["chunk"] = (size, place), (np.ascontiguousarray(X, problem.dtype), problem.column(y), rng)
    X, y, rng = problem.kept["chunk"][1]
    return X, y, copy_of(rng)


def advance(params: Params, problem: Problem, state: State, until: int, seconds: float) -> None:
    mode = FRESH if params.fresh else REPLACEMENT if params.sampling == "replacement" else EPOCHS
    rows = problem.buffer("rows", (params.batch, problem.X.shape[1]))
    values = problem.buffer("values", (params.batch, problem.y.shape[1]))

    def stretch(steps: int) -> tuple[int, int, float]:
        X, y = _chunk(params, problem, state) if params.fresh else (problem.X, problem.y)
        own = mode, params.batch, state["order"], state["at"], state["rng"], rows, values
        done, ending, units, state["at"] = descend[problem.dtype](
            *arguments(params, problem, state, steps, (X, y)), *own
        )
        return done, ending, units

    go(params, problem, state, until, seconds, stretch)
