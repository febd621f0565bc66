"""Gradient descent of a network on a target over sampled inputs, with observables along the way. MATH §6.

Streams: ``data`` and ``test`` (inputs), ``target``, ``init``. Time is η times the number of steps.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from simlab.core import lookup
from simlab.core.blas import one_blas_thread
from simlab.core.errors import one_of
from simlab.core.params import Params as Base
from simlab.core.params import Room, kind_of, module_of
from simlab.core.rng import Streams
from simlab.data._draw import draw
from simlab.flows import gradient_descent
from simlab.networks._bound import Bound
from simlab.observables import test_loss, train_loss, weight_movement
from simlab.observables._schedule import Spacing, schedule
from simlab.observables._view import View
from simlab.record.schema import RECORD, Output
from simlab.record.segments import State

ADVANCE_SECONDS = 0.5
STRETCH_SECONDS = 0.05


class Params(Base):
    samples: int = Field(ge=1, description="number n of training samples")
    test_samples: int = Field(0, ge=0, description="number of test samples")
    records: int = Field(101, ge=2, description="how many instants to record, the first and the last among them")
    spacing: Spacing = Field("linear", description="of the recorded steps: linear or log")
    data: Annotated[Base, Room("data")]
    target: Annotated[Base, Room("targets")]
    network: Annotated[Base, Room("networks")]
    flow: Annotated[gradient_descent.Params, Room("flows")]
    observables: Annotated[tuple[Base, ...], Room("observables")] = Field(
        (train_loss.Params(), test_loss.Params(), weight_movement.Params()), description="what to measure"
    )

    @model_validator(mode="after")
    def _can_be_trained(self) -> Params:
        if not hasattr(module_of(self.network), "loops"):
            able = [kind for kind in lookup.kinds("networks") if hasattr(lookup.get("networks", kind), "loops")]
            raise ValueError(
                f"network.kind = {kind_of(self.network)!r}: it has no gradient to descend along "
                f"(allowed: {one_of(able)})"
            )
        return self

    @model_validator(mode="after")
    def _distinct_outputs(self) -> Params:
        names = [name for o in self.observables for name in module_of(o).outputs(o)]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"observables: {twice[0]} is recorded by two of them; name each once")
        return self


EXAMPLES = (
    {
        "experiment": {"kind": "gradient_flow", "samples": 10, "test_samples": 5, "records": 6},
        "data": {"kind": "uniform_sphere", "dim": 5},
        "target": {"kind": "relu_teacher"},
        "network": {"kind": "two_layer", "width": 20},
        "flow": {"kind": "gradient_descent", "steps": 50, "step": 0.1},
        "observables": ["train_loss", "test_loss", "weight_movement", "tangent_spectrum"],
    },
)


@dataclass
class Work:
    """Everything that can be derived again; `repeated` are the observables measured at every record, `pace` the steps
    a second of the last stretch."""

    X: NDArray[np.float64]
    y: NDArray[np.float64]
    X_test: NDArray[np.float64]
    y_test: NDArray[np.float64]
    theta0: NDArray[np.float64]
    bound: Bound
    step: float
    schedule: NDArray[np.int64]
    grad: NDArray[np.float64]
    repeated: list[Base]
    pace: float = 1e3


def outputs(params: Params) -> dict[str, Output]:
    found = {
        "step": Output("number of steps made", (RECORD,), dtype="int64"),
        "time": Output("step size times number of steps", (RECORD,)),
    }
    for observable in params.observables:
        found |= module_of(observable).outputs(observable)
    found["step_size"] = Output("step size η")
    found["diverged"] = Output("1 if the loss became infinite and descent was stopped there, else 0", dtype="int8")
    return found


def prepare(params: Params, streams: Streams) -> Work:
    law, network = module_of(params.data), module_of(params.network)
    dim = law.dimension(params.data)
    X, X_test = draw(params.data, {"data": params.samples, "test": params.test_samples}, streams).values()
    target = module_of(params.target).draw(params.target, dim, streams["target"])
    theta0 = network.initialise(params.network, dim, streams["init"])
    flow = params.flow
    step = flow.step
    if flow.step_unit == "edge":
        K = network.tangent_gram(params.network, theta0, X)
        step *= 2.0 / float(np.linalg.eigvalsh(K / params.samples)[-1])
    return Work(
        X=X,
        y=target(X),
        X_test=X_test,
        y_test=target(X_test),
        theta0=theta0,
        bound=Bound(params.network, dim),
        step=step,
        schedule=schedule(flow.steps, params.records, params.spacing),
        grad=np.zeros_like(theta0),
        repeated=[o for o in params.observables if any(out.is_trajectory for out in module_of(o).outputs(o).values())],
    )


def start(params: Params, work: Work, streams: Streams) -> State:
    return {"theta": work.theta0.copy(), "step": 0, "recorded": 0, "diverged": False, "finished": False}


def advance(params: Params, work: Work, state: State) -> dict[str, NDArray[Any]]:
    declared = outputs(params)
    rows: dict[str, list[Any]] = {name: [] for name, output in declared.items() if output.is_trajectory}
    once: dict[str, NDArray[Any]] = {}
    deadline = time.monotonic() + ADVANCE_SECONDS
    while not finished(params, state):
        if state["diverged"] or state["step"] == work.schedule[state["recorded"]]:
            _record(params, work, state, rows, once)
        else:
            _descend(params, work, state)
        if time.monotonic() >= deadline:
            break
    if finished(params, state):
        once |= {"step_size": np.asarray(work.step), "diverged": np.asarray(state["diverged"])}
    return {**{name: np.array(values, declared[name].dtype) for name, values in rows.items()}, **once}


def _descend(params: Params, work: Work, state: State) -> None:
    """A compiled stretch of about STRETCH_SECONDS, or up to the next record."""
    left = int(work.schedule[state["recorded"]]) - state["step"]
    steps = max(1, min(left, int(work.pace * STRETCH_SECONDS)))
    began = time.monotonic()
    bound = work.bound
    with one_blas_thread():
        done, state["diverged"] = gradient_descent.descend[bound.dtype](
            bound.loops.gradient[bound.dtype],
            *bound.activation,
            state["theta"],
            work.X,
            work.y[:, np.newaxis],
            params.flow.alpha,
            bound.sizes,
            bound.numbers,
            work.grad,
            bound.scratch(len(work.X)),
            work.step / params.flow.alpha**2,
            bound.trained.start,
            bound.trained.stop,
            steps,
        )
    state["step"] += done
    work.pace = max(1.0, done / max(time.monotonic() - began, 1e-7))


def _record(
    params: Params, work: Work, state: State, rows: dict[str, list[Any]], once: dict[str, NDArray[Any]]
) -> None:
    view = View(
        state["theta"],
        work.theta0,
        work.X,
        work.y,
        work.X_test,
        work.y_test,
        params.network,
        params.flow.alpha,
    )
    rows["step"].append(state["step"])
    rows["time"].append(state["step"] * work.step)
    first = state["recorded"] == 0
    for observable in params.observables if first else work.repeated:
        with np.errstate(over="ignore", invalid="ignore"):  # the row that shows a divergence
            measured = module_of(observable).measure(observable, view)
        for name, value in measured.items():
            if name in rows:
                rows[name].append(value)
            elif first:
                once[name] = np.asarray(value)
    state["recorded"] += 1
    # A divergent descent ends with the row that shows it.
    with np.errstate(over="ignore", invalid="ignore"):
        state["diverged"] = bool(state["diverged"] or not np.isfinite(view.train_loss))
    state["finished"] = state["diverged"] or state["recorded"] == len(work.schedule)


def finished(params: Params, state: State) -> bool:
    return bool(state["finished"])


def progress(params: Params, state: State) -> tuple[int, int]:
    return state["step"], params.flow.steps


def cost(params: Params) -> tuple[float, float]:
    """Two products with the weights a step: about 6 flops a weight and sample; 8 bytes a recorded number."""
    dim = module_of(params.data).dimension(params.data)
    weights = module_of(params.network).loops(params.network, dim).size
    trajectories = sum(output.is_trajectory for output in outputs(params).values())
    return 6.0 * params.flow.steps * params.samples * weights, 8.0 * params.records * trajectories
