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
from numpy.typing import NDArray
from pydantic import Field, model_validator

from simlab.core import catalogue
from simlab.core.errors import BadInput, one_of
from simlab.core.rng import Streams, copy_generator
from simlab.flows._descent import EPOCHS, FRESH, REPLACEMENT, Batches, Own
from simlab.flows._stepping import Stage, Stepping, SteppingState
from simlab.flows.problem import Problem
from simlab.networks.signature import Rows

if TYPE_CHECKING:
    from simlab.data.law import Law
    from simlab.networks.network import Trainable

Array = NDArray[Any]
CHUNK_ROWS = 4096
"""Fresh samples drawn at a time, rounded down to whole batches."""


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

    def _own(self, problem: Problem, state: SGDState) -> Own:
        none = problem.buffer("none", 0)
        velocity = none if state.velocity is None else state.velocity
        towards = none if state.towards is None else state.towards
        decays = self.decay_until is None or state.step < self.decay_until
        return Own(velocity, towards, none, 0.0, 0.0, np.array([self.momentum, self.weight_decay if decays else 0.0]))

    def _samples(self, problem: Problem, state: SGDState) -> tuple[Rows, Batches, np.random.Generator]:
        mode = FRESH if self.fresh else REPLACEMENT if self.sampling == "replacement" else EPOCHS
        X, y = problem.X, problem.y
        space = Rows(
            problem.buffer("rows", (self.batch, X.shape[1])), problem.buffer("values", (self.batch, y.shape[1]))
        )
        rows = self._chunk(problem, state) if self.fresh else problem.rows
        return rows, Batches(mode, self.batch, state.order, state.at, space), state.rng

    def _stretch(self, problem: Problem, state: SGDState, steps: int) -> tuple[int, int, float]:
        done, ending, units, state.at = self._descend(problem, state, steps)
        return done, ending, units

    def _chunk(self, problem: Problem, state: SGDState) -> Rows:
        """The samples that the state stands in; the next ones where those are used up."""
        size = self.batch * max(1, CHUNK_ROWS // self.batch)
        X, y, after = _draw_chunk(problem, size, state.rng)
        if state.at == size:
            state.rng, state.at = after, 0
            X, y, _ = _draw_chunk(problem, size, after)
        return Rows(X, y)

    def _stage(self, problem: Problem, step: int) -> Stage:
        stage = super()._stage(problem, step)
        if self.layerwise:
            stages = _stages(problem)
            each = -(-self.steps // len(stages))
            stage = Stage(stages[step // each], step // each * each, (step // each + 1) * each, len(stages))
        if self.decay_until is not None and step < self.decay_until < stage.last:
            stage = stage._replace(last=self.decay_until)
        return stage


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
