"""One-pass SGD at finite dimension beside the dimension-free dynamics, its limit. MATH §9.

Everything that `gradient_flow` does and records, for two-layer nets of mean-field scaling on the cube and a target of a
few coordinates; and, at the recorded times, on the same a_j with u = 0 and s = the root mean square of w·x:

- ``loss_limit``: ½E(f* − f)² of the dimension-free dynamics, exact; ``loss_difference``: the net's test loss less it;
- ``distance``: the mean over the test inputs of (f_net − f_limit)²;
- ``coefficient`` and ``coefficient_limit`` : (record, term), E f χ_S on the target's monomials: of the limit exact, of
  the net as that plus the mean of (f_net − f_limit)χ_S over the test inputs, which is less noisy;
- ``leap`` of the target: at most 1 for a merged staircase.

Time is that of particles, step count × step: a step of η m (``step_unit = "particle"``) is the time η. The two agree
for wide nets, high dimension and small noise: SGD adds a noise of the order η d/batch to f², from the d coordinates
that do not count, neurons the order 1/m, and w·x is Gaussian, and u = 0 at the start, to within 1/d.

The limit goes from one recorded time to the next by steps of at most ``limit_step``, or by an adaptive solver
(`simlab.theory.dimension_free`). State: ``limit_{time,a,u,s}``, where it stands.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from simlab.core.errors import BadInput, shown
from simlab.core.params import kind_of, module_of
from simlab.core.rng import Streams
from simlab.experiments import _descent, gradient_flow
from simlab.experiments.gradient_flow import finished as finished  # of the contract
from simlab.experiments.gradient_flow import progress as progress
from simlab.observables.view import View
from simlab.record.schema import RECORD, Output
from simlab.record.segments import State
from simlab.targets import BooleanFunction
from simlab.theory import dimension_free, leap

Floats = NDArray[np.float64]
TERM = "term"
RELU_STEP = 0.05


class Params(gradient_flow.Params):
    limit_step: float | None = Field(
        None, gt=0, description="longest step of the limit; left out: adaptive, but 0.05 for ReLU, of no smooth flow"
    )

    @model_validator(mode="after")
    def _has_the_limit(self) -> Params:
        network: Any = self.network
        flow = self.flow
        if not self.data.is_cube:
            raise ValueError(f"data.kind = {kind_of(self.data)!r}: must be boolean_cube, which the limit is for")
        if not self.target.is_boolean:
            raise ValueError(
                f"target.kind = {kind_of(self.target)!r}: not of a few coordinates "
                "(allowed: monomials, staircase, parity)"
            )
        if kind_of(network) != "two_layer":
            raise ValueError(f"network.kind = {kind_of(network)!r}: must be two_layer, which the limit is of")
        for key, wanted in (("scaling", "mean_field"), ("bias", False), ("trained", "both")):
            if (given := getattr(network, key)) != wanted:
                raise ValueError(f"network.{key} = {shown(given)}: must be {wanted!r}, as in the limit")
        if not flow.is_descent:
            raise ValueError(f"flow.kind = {kind_of(flow)!r}: the dynamics beside are the limit of plain descent")
        if (alpha := flow.output_scale()) != 1.0:
            raise ValueError(f"flow.alpha = {alpha}: must be 1, the output scale of the dynamics beside")
        if not self.test_samples:
            raise ValueError("test_samples = 0: must be 1 or more, to measure the distance to the limit")
        _limit(self, _drawn(self, np.random.default_rng(0)))
        return self


_SMALL: dict[str, Any] = {
    "experiment": {"kind": "merged_staircase", "samples": 32, "test_samples": 64, "records": 7},
    "data": {"kind": "boolean_cube", "dim": 6},
    "target": {"kind": "staircase", "steps": 2},
    "network": {
        "kind": "two_layer", "width": 8, "activation": "shifted", "scaling": "mean_field", "inner_std": "unit",
    },
    "flow": {"kind": "sgd", "steps": 60, "step": 0.1, "step_unit": "particle", "batch": 8, "fresh": True},
    "observables": ["test_loss"],
}  # fmt: skip
EXAMPLES = (
    _SMALL,
    _SMALL
    | {
        "target": {"kind": "monomials", "terms": [[0], [0, 1, 2]], "coordinates": "random"},
        "network": {**_SMALL["network"], "activation": {"kind": "shifted", "of": "tanh", "shift": 0.5}},
        "flow": {"kind": "ode", "end_time": 2.0, "unit": "particle"},
    },
)


@dataclass
class Work:
    """Everything that can be derived again: what is followed, the limit, the monomials at the test inputs (n, k), and
    which of the 2^P points each test input is."""

    followed: gradient_flow.Work
    rates: dimension_free.Rates
    features: Floats
    place: NDArray[np.int64]


def _drawn(params: Params, rng: np.random.Generator) -> BooleanFunction:
    """The target; BadInput where its signs on these data are not ±1."""
    data: Any = params.data
    found = _descent.drawn(params.target, data.dim, rng)
    assert isinstance(found, BooleanFunction)
    size = module_of(data).coordinate_size(data)
    if abs(found.factor * size - 1.0) > 1e-9:
        raise BadInput(
            f"target.factor: {found.factor:.6g} times data.scale = {size:.6g} is not 1, so that z is not ±1; "
            "set one to 1 over the other"
        )
    return found


def _limit(params: Params, target: BooleanFunction) -> dimension_free.Rates:
    network: Any = params.network
    count = target.coordinates.size
    terms = dict(zip(target.terms, target.coefficients.tolist(), strict=True))
    leap.check_count(count, dimension_free.MOST)
    try:
        return dimension_free.Rates(network.activation, leap.values(terms, count))
    except BadInput as error:
        raise BadInput(f"network.{error}") from None


def outputs(params: Params) -> dict[str, Output]:
    target = _drawn(params, np.random.default_rng(0))
    terms = {TERM: np.arange(len(target.terms))}
    return gradient_flow.outputs(params) | {
        "loss_limit": Output("½E(f* − f)² of the dimension-free dynamics, exact", (RECORD,)),
        "loss_difference": Output("test loss of the net less that of the dimension-free dynamics", (RECORD,)),
        "distance": Output("mean over the test inputs of (f_net − f_limit)²", (RECORD,)),
        "coefficient": Output("E f χ_S of the net on the target's monomials", (RECORD, TERM), coords=terms),
        "coefficient_limit": Output("E f χ_S of the dimension-free dynamics", (RECORD, TERM), coords=terms),
        "leap": Output("leap of the target: at most 1 for a merged staircase", dtype="int64"),
    }


def prepare(params: Params, streams: Streams) -> Work:
    followed = gradient_flow.prepare(params, streams)
    target: BooleanFunction = followed.target
    bits = np.rint((1.0 - target.signs(followed.X_test)) / 2.0).astype(np.int64)
    place = bits @ (1 << np.arange(target.coordinates.size, dtype=np.int64))
    return Work(followed, _limit(params, target), target.features(followed.X_test), place)


def start(params: Params, work: Work, streams: Streams) -> State:
    state = gradient_flow.start(params, work.followed, streams)
    network, data = module_of(params.network), params.data
    dim, scale = module_of(data).dimension(data), module_of(data).coordinate_size(data)
    a, _, _ = network.neurons(params.network, work.followed.theta0)
    norm = params.network.inner_weight_std(dim) * dim**0.5 * scale
    begun = dimension_free.begin(a, work.followed.target.coordinates.size, norm)
    return state | {"limit_time": 0.0, "limit_a": begun.a, "limit_u": begun.u, "limit_s": begun.s}


def advance(params: Params, work: Work, state: State) -> dict[str, NDArray[Any]]:
    seen: list[tuple[float, Floats]] = []

    def view(state: State) -> View:
        found = gradient_flow._view(params, work.followed, state)
        with np.errstate(over="ignore", invalid="ignore"):
            seen.append((found.time, found.predict(found.X_test)))
        return found

    rows = _descent.advance(params, work.followed.course, state, view)
    beside = [_measured(params, work, state, time, f) for time, f in seen]
    k = work.features.shape[1]
    shapes = {"loss_limit": (), "loss_difference": (), "distance": (), "coefficient": (k,), "coefficient_limit": (k,)}
    for name, shape in shapes.items():
        rows[name] = np.array([row[name] for row in beside], dtype=np.float64).reshape(-1, *shape)
    if state["finished"]:
        target = work.followed.target
        nonzero = [term for term, c in zip(target.terms, target.coefficients, strict=True) if c != 0.0]
        rows["leap"] = np.asarray(leap.leap(nonzero).complexity)
    return rows


def _measured(params: Params, work: Work, state: State, time: float, f: Floats) -> dict[str, Any]:
    """What is recorded at a time of the flow, f at the test inputs; the limit then stands there."""
    risk, table = _go_on(params, work, state, time)
    limit, y = table[work.place], work.followed.y_test
    terms = work.followed.target.terms
    with np.errstate(over="ignore", invalid="ignore"):  # the row that shows a divergence
        exact = leap.walsh(table)[[sum(1 << j for j in term) for term in terms]] if np.isfinite(risk) else np.nan
        return {
            "loss_limit": risk,
            "loss_difference": 0.5 * float(np.mean((f - y) ** 2)) - risk,
            "distance": float(np.mean((f - limit) ** 2)),
            "coefficient": exact + (f - limit) @ work.features / f.size,
            "coefficient_limit": exact + np.zeros(len(terms)),
        }


def _go_on(params: Params, work: Work, state: State, time: float) -> tuple[float, Floats]:
    """½E e² and f : (2^P,) of the limit at a time of the flow, where it then stands; NaN where it has no solution."""
    time = time if params.flow.in_particle_time() else time / params.network.width  # type: ignore[attr-defined]
    here = dimension_free.Particles(state["limit_a"], state["limit_u"], state["limit_s"])
    step = params.limit_step
    if step is None and work.rates.shift is not None:
        step = RELU_STEP
    try:
        course = dimension_free.solve(work.rates, here, [0.0, time - state["limit_time"]], step)
    except BadInput:
        state["limit_a"] = np.full_like(here.a, np.nan)
        return float("nan"), np.full(len(work.rates.z), np.nan)
    state |= {"limit_time": time, "limit_a": course.end.a, "limit_u": course.end.u, "limit_s": course.end.s}
    return float(course.risk[-1]), course.f[-1]


def cost(params: Params) -> tuple[float, float]:
    return gradient_flow.cost(params)


def memory(params: Params) -> float:
    return gradient_flow.memory(params)
