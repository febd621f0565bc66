"""Stochastic gradient descent, the loss being the mean over a batch of B samples. MATH §6, §9.

    v ← β v − η_t (∇R_α(θ; batch) + λ (θ − θ̄)),   θ ← θ + v          v = 0 at first

with momentum β (heavy ball, as in `momentum`) and weight decay λ towards θ̄, 0 or the start, for all steps or up to
`decay_until`; without them it is θ ← θ − η_t ∇R_α. The loss here is half the mean square: where an experiment is stated
with the mean square itself, its learning rate is half of η and its weight decay twice λ.

`layerwise` trains the layers one after another, from the first to the last and the steps shared out evenly: what the
network calls its `stages`. Each goes through the whole schedule of the step size.

Batches:

sampling = "epochs"       every epoch visits each training sample once, in a new random order; its last batch has what
                          is left over (n mod B samples)
sampling = "replacement"  each sample of a batch is drawn from all n, independently
fresh = true              one pass: every batch is new, from the law of the data and the target, and none comes again.
                          The training samples then only serve to measure. Samples are drawn in chunks of a fixed
                          number of batches, so that nothing depends on the clock; the state keeps the generator as it
                          was before the chunk, and the place in it.

The flow ends where the loss of a batch is not finite or beyond the limit.

Streams: ``batches`` (orders), ``fresh`` (samples).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numba import float64, int64
from numba.core.types import npy_rng
from numpy.typing import NDArray
from pydantic import Field, model_validator

from simlab.core import catalogue
from simlab.core.errors import BadInput, one_of
from simlab.core.jit import jit, per_real
from simlab.core.rng import Streams, copy_generator
from simlab.flows._schedule import factor
from simlab.flows._stepping import Stage, Stepping, SteppingState, signature
from simlab.flows.problem import BEYOND, GOING, NOT_FINITE, Problem

if TYPE_CHECKING:
    from simlab.data.law import Law
    from simlab.networks.network import Trainable

Array = NDArray[Any]
EPOCHS, REPLACEMENT, FRESH = range(3)
CHUNK_ROWS = 4096
"""Fresh samples drawn at a time, rounded down to whole batches."""


@jit
def _below(n: int, rng: Any) -> int:
    """One of 0 … n − 1, to within n 2^(−53); numba takes 20 s to compile Generator.integers or permutation."""
    return int(rng.random() * n)


def _signature(real: Any) -> Any:
    more = int64, int64, int64[::1], int64, npy_rng, real[:, ::1], real[:, ::1], real[::1], real[::1], float64, float64
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
    velocity: Array,
    towards: Array,
    beta: float,
    decay: float,
) -> tuple[int, int, float, int]:
    """`at` is the place in the order, or in the chunk X; also returned. Ends early where the chunk is used up.

    `velocity` and `towards` (θ̄) are of θ's size or, where they are 0, empty.
    """
    n = X.shape[0]
    b, decaying, pulled, moving = theta.dtype.type(beta), decay > 0, towards.size > 0, velocity.size > 0
    # Slices, and indices from 0: `begin` could be negative to the compiler, and the update was not vectorised. With
    # momentum and weight decay it took 79 µs for 49,000 weights in float32, so 13.
    moved, slope, speed, centre = theta[begin:end], grad[begin:end], velocity[begin:end], towards[begin:end]
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
        shrink = theta.dtype.type(eta * s * decay)
        for k in range(moved.size):
            change = move * slope[k]
            if decaying:
                change += shrink * (moved[k] - centre[k] if pulled else moved[k])
            if moving:
                speed[k] = b * speed[k] - change
                moved[k] += speed[k]
            else:
                moved[k] -= change
    return steps, GOING, units, at


@dataclass(kw_only=True)
class SGDState(SteppingState):
    """Where the descent stands.

    rng: the generator of the orders; of fresh samples as it was before the chunk that `at` is in.
    at: the place in `order`, or in the chunk of fresh samples.
    order: the order of the samples in this epoch, (n,); empty where there are no epochs.
    velocity: v, of the length of θ; None without momentum.
    towards: θ̄ of weight decay towards the start; None otherwise.
    """

    rng: np.random.Generator
    at: int
    order: NDArray[np.int64]
    velocity: Array | None = None
    towards: Array | None = None


class SGD(Stepping):
    """θ ← θ − η_t ∇R_α(θ; batch), with momentum and weight decay where they are given."""

    state_class: ClassVar[type[SteppingState]] = SGDState
    loop: ClassVar[Any] = descend
    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {"steps": 50, "step": 0.05, "batch": 4},
        {"steps": 50, "step": 0.05, "batch": 3, "sampling": "replacement"},
        {"steps": 50, "step": "auto", "auto_every": 20, "batch": 2, "fresh": True},
        {"steps": 50, "step": 0.02, "batch": 4, "momentum": 0.9, "weight_decay": 0.01},
        {"steps": 50, "step": 0.05, "batch": 4, "weight_decay": 0.1, "decay_to": "start", "decay_until": 30},
    )

    batch: int = Field(ge=1, description="number B of samples per step")
    sampling: Literal["epochs", "replacement"] | None = Field(
        None, description="epochs (default): each sample once in an epoch; replacement: independent draws"
    )
    fresh: bool = Field(False, description="one pass: new samples at every step")
    momentum: float = Field(0.0, ge=0, lt=1, description="β")
    weight_decay: float = Field(0.0, ge=0, le=1e15, description="λ")
    decay_to: Literal["zero", "start"] = Field("zero", description="where weight decay leads")
    decay_until: int | None = Field(None, ge=1, description="steps with weight decay; all by default")
    layerwise: bool = Field(False, description="one layer after another, instead of all at once")

    @model_validator(mode="after")
    def _one_way(self) -> SGD:
        if self.fresh and self.sampling is not None:
            raise ValueError(f"sampling = {self.sampling!r}: not with fresh = true, where no sample comes twice")
        return self

    def batch_size(self) -> int:
        return self.batch

    def draws_fresh(self) -> bool:
        return self.fresh

    def check_network(self, network: Trainable, samples: int, dtype: str = "float64", data: Law | None = None) -> None:
        if self.fresh:
            if data is None:
                raise ValueError("flow.fresh = true: arrays are no law that new samples can be drawn from")
            if data.finite:
                raise ValueError(f"flow.fresh = true: data.kind = {data.kind!r} has no new samples to draw")
        elif self.batch > samples:
            raise ValueError(f"flow.batch = {self.batch}: more than the {samples} training samples")
        if self.layerwise and not network.has_stages:
            able = one_of(catalogue.able("networks", lambda cls: bool(cls.has_stages)))
            raise ValueError(
                f"flow.layerwise = true: network.kind = {network.kind!r} has no named layers (allowed: {able})"
            )
        super().check_network(network, samples, dtype, data)

    def _own_state(self, problem: Problem, theta: Array, streams: Streams) -> dict[str, Any]:
        n, none = len(problem.X), np.zeros(0, np.int64)
        if self.layerwise:
            _stages(problem)
        if self.fresh:
            if problem.fresh is None:
                raise BadInput("flow.fresh = true: these data are not a law that new samples can be drawn from")
            own: dict[str, Any] = {"rng": copy_generator(streams["fresh"]), "at": 0, "order": none}
        else:
            if self.batch > n:
                raise BadInput(f"flow.batch = {self.batch}: more than the {n} training samples")
            own = {"rng": copy_generator(streams["batches"]), "at": n, "order": np.arange(n, dtype=np.int64)}
            if self.sampling == "replacement":
                own |= {"at": 0, "order": none}
        if self.momentum:
            own["velocity"] = np.zeros_like(theta)
        if self.decay_to == "start":
            own["towards"] = theta.copy()
        return own

    def _stretch(self, problem: Problem, state: SGDState, steps: int) -> tuple[int, int, float]:
        mode = FRESH if self.fresh else REPLACEMENT if self.sampling == "replacement" else EPOCHS
        rows = problem.buffer("rows", (self.batch, problem.X.shape[1]))
        values = problem.buffer("values", (self.batch, problem.y.shape[1]))
        none = problem.buffer("none", 0)
        X, y = self._chunk(problem, state) if self.fresh else (problem.X, problem.y)
        stage, decay = self._stage(problem, state.step), self.weight_decay
        last = stage.last
        if self.decay_until is not None:
            decay, last = (decay, min(last, self.decay_until)) if state.step < self.decay_until else (0.0, last)
        usual = self._arguments(problem, state, min(steps, last - state.step), (X, y), stage)
        own = mode, self.batch, state.order, state.at, state.rng, rows, values
        velocity = none if state.velocity is None else state.velocity
        towards = none if state.towards is None else state.towards
        done, ending, units, state.at = self.loop[problem.dtype](*usual, *own, velocity, towards, self.momentum, decay)
        return done, ending, units

    def _chunk(self, problem: Problem, state: SGDState) -> tuple[Array, Array]:
        """The samples that the state stands in; the next ones where those are used up."""
        size = self.batch * max(1, CHUNK_ROWS // self.batch)
        X, y, after = _draw_chunk(problem, size, state.rng)
        if state.at == size:
            state.rng, state.at = after, 0
            X, y, _ = _draw_chunk(problem, size, after)
        return X, y

    def _stage(self, problem: Problem, step: int) -> Stage:
        """The stage that this step belongs to."""
        if not self.layerwise:
            return Stage(problem.trained, 0, self.steps)
        stages = _stages(problem)
        each = -(-self.steps // len(stages))
        return Stage(stages[step // each], step // each * each, (step // each + 1) * each, len(stages))


def _draw_chunk(problem: Problem, size: int, before: np.random.Generator) -> tuple[Array, Array, np.random.Generator]:
    """A chunk drawn by a copy of `before`, and that copy after it; not drawn again while it is asked for."""
    drawn_for = size, before.bit_generator.state
    if problem.chunk is None or problem.chunk[0] != drawn_for:
        assert problem.fresh is not None
        rng = copy_generator(before)
        X, y = problem.fresh(size, rng)
        problem.chunk = drawn_for, (np.ascontiguousarray(X, problem.dtype), problem.column(y), rng)
    X, y, rng = problem.chunk[1]
    return X, y, copy_generator(rng)


def _stages(problem: Problem) -> tuple[range, ...]:
    """The parts of θ that are trained one after another."""
    network = None if problem.bound is None else problem.bound.network
    if network is None or not network.has_stages:
        raise BadInput("flow.layerwise = true: the network does not say which part of it is a layer")
    every: tuple[range, ...] = network.stages(problem.X.shape[1])
    # A layer that the network does not train has no gradient, and weight decay would move it.
    return tuple(part for part in every if part[0] in problem.trained and part[-1] in problem.trained)
