"""A flow on inputs of the law φ², beside it what theory says of the radial problem. MATH §8.

Everything that `gradient_flow` does and records, on ``ball_fourier``; and

- for a three-layer net the α-flow, its limit of infinite width, at the recorded times: α_t and the exact population
  loss ½E(f* − f)², started from the α₀ of the law of the weights (``alpha_limit``, ``loss_limit``) and from that of
  the particles as drawn (``alpha_matched``, ``loss_matched``); both with the outer weights as drawn;
- for a net with a width the ``certificate`` of two-layer nets of as many neurons in the first layer: their E(f − g)² is
  at least that, whatever the weights (twice a loss); a deeper net may be below it.

Where the target is not radial, or its breaks are too many or too far out, these are NaN; so is the α-flow from where it
ends or takes more than `MOST` evaluations to the next record. Its time is that of particles, v̇ = −m₁ ∂R/∂v: a step of
η m₁ (``step_unit = "particle"``), or the time 1 of an ode with ``unit = "particle"``, is the time η, or 1.

The α-flow goes from one recorded time to the next, so that what it gives depends on the times recorded, by about its
tolerance, and on nothing else. State: ``{limit,matched}_{time,alpha,w,b}``, where it stands.

Functions that grow have infinite risk under this law (`_heavy_tail`): positive outer weights and unbounded activations
are refused; training that makes an outer weight positive ends at the record that shows it.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import model_validator

from simlab.core import kinds
from simlab.core.errors import BadInput, one_of
from simlab.core.params import kind_of, module_of
from simlab.core.rng import Streams
from simlab.experiments import _heavy_tail, gradient_flow
from simlab.experiments._heavy_tail import THREE_LAYER
from simlab.experiments.gradient_flow import finished as finished  # of the contract
from simlab.experiments.gradient_flow import progress as progress
from simlab.record.schema import RECORD, Output
from simlab.record.segments import State
from simlab.targets.radial_function import Radial
from simlab.theory import alpha_flow
from simlab.theory.certificate import certificate

STARTS = ("limit", "matched")
MOST = 20_000  # a few seconds


class Params(gradient_flow.Params):
    @model_validator(mode="after")
    def _has_a_radial_theory(self) -> Params:
        if not self.data.has_radius_law:
            able = kinds.able("data", lambda law: law.has_radius_law)
            raise ValueError(
                f"data.kind = {kind_of(self.data)!r}: no law of the radius to compare with; "
                f"use gradient_flow (allowed: {one_of(able)})"
            )
        _heavy_tail.check_bounded(self.data, self.network)
        flow = self.flow
        if kind_of(self.network) == THREE_LAYER:
            if not flow.is_descent:
                raise ValueError(f"flow.kind = {kind_of(flow)!r}: the α-flow beside is the limit of plain descent")
            if (alpha := flow.output_scale()) != 1.0:
                raise ValueError(f"flow.alpha = {alpha}: must be 1, the output scale of the α-flow beside")
        return self


_SMALL: dict[str, Any] = {
    "experiment": {"kind": "radial_flow", "samples": 64, "test_samples": 32, "records": 7},
    "data": {"kind": "ball_fourier", "dim": 3},
    "target": {"kind": "radial_relu"},
    "network": {"kind": THREE_LAYER, "width": 12, "outer_width": 3},
    "flow": {"kind": "gradient_descent", "steps": 60, "step": 0.2, "step_unit": "particle"},
    "observables": ["train_loss", "test_loss"],
}
EXAMPLES = (
    _SMALL,
    _SMALL | {"network": {"kind": "two_layer", "width": 9, "activation": "tanh", "bias": True}},
    _SMALL | {"target": {"kind": "axis_relu"}, "flow": {"kind": "ode", "end_time": 5.0, "unit": "particle"}},
)


@dataclass
class Work:
    """Everything that can be derived again: what is followed, and what theory says of a two-layer net, or NaN."""

    followed: gradient_flow.Work
    certificate: float


def outputs(params: Params) -> dict[str, Output]:
    found = gradient_flow.outputs(params)
    if kind_of(params.network) == THREE_LAYER:
        for start, words in (("limit", "the law of the weights"), ("matched", "the particles' own")):
            found[f"alpha_{start}"] = Output(f"α of the α-flow started from that of {words}", (RECORD,))
            found[f"loss_{start}"] = Output(f"population loss of the α-flow started from α of {words}", (RECORD,))
    if hasattr(params.network, "width"):
        found["certificate"] = Output("least E(f − g)² of any two-layer net of this width; NaN: there is none")
    return found


def prepare(params: Params, streams: Streams) -> Work:
    followed = gradient_flow.prepare(params, streams)
    bound, network = float("nan"), params.network
    if hasattr(network, "width") and isinstance(followed.target, Radial):
        width: int = getattr(network, "bottleneck", None) or network.width
        with contextlib.suppress(BadInput):  # shells without number, a ball that is nearly everything
            bound = certificate(followed.target, params.data.radius_law(), width).bound
    return Work(followed, bound)


def start(params: Params, work: Work, streams: Streams) -> State:
    state = gradient_flow.start(params, work.followed, streams)
    if kind_of(params.network) == THREE_LAYER:
        network, theta0 = module_of(params.network), work.followed.theta0
        dim = module_of(params.data).dimension(params.data)
        _, w, b = network.particles(params.network, theta0)
        for name, alpha in zip(
            STARTS, (network.mean_alpha(params.network, dim), network.alpha(params.network, theta0)), strict=True
        ):
            here = {"time": 0.0, "alpha": float(alpha), "w": w.copy(), "b": b.copy()}
            state |= {f"{name}_{key}": value for key, value in here.items()}
    return state


def advance(params: Params, work: Work, state: State) -> dict[str, NDArray[Any]]:
    rows = gradient_flow.advance(params, work.followed, state)
    if kind_of(params.network) == THREE_LAYER:
        for name in STARTS:
            along = np.array([_go_on(params, work, state, name, float(t)) for t in rows["time"]]).reshape(-1, 2)
            rows |= {f"alpha_{name}": along[:, 0], f"loss_{name}": along[:, 1]}
    if "certificate" in outputs(params) and state["finished"]:
        rows["certificate"] = np.asarray(work.certificate)
    return rows


def _go_on(params: Params, work: Work, state: State, name: str, time: float) -> tuple[float, float]:
    """α and the loss at a time of the flow; the α-flow then stands there."""
    target = work.followed.target
    if not isinstance(target, Radial):
        return float("nan"), float("nan")
    network: Any = params.network
    a, w, b = (state[f"{name}_{key}"] for key in ("alpha", "w", "b"))
    time = time if params.flow.in_particle_time() else time / network.width
    times = np.array([0.0, time - state[f"{name}_time"]]) if time > 0.0 else np.zeros(1)
    try:
        if np.isnan(a):
            return a, a
        law = params.data.radius_law()
        course = alpha_flow.solve(law, target, a, w, b, times, network.trained, alpha_flow.Accuracy(most=MOST))
    except BadInput:  # it has ended on the way
        state[f"{name}_alpha"] = float("nan")
        return float("nan"), float("nan")
    here = {"time": time, "alpha": float(course.alpha[-1]), "w": course.w[-1], "b": course.b[-1]}
    state |= {f"{name}_{key}": value for key, value in here.items()}
    return here["alpha"], float(course.loss[-1])


def cost(params: Params) -> tuple[float, float]:
    return gradient_flow.cost(params)


def memory(params: Params) -> float:
    return gradient_flow.memory(params)
