"""One-pass SGD at finite dimension, and its limit, the dimension-free dynamics. MATH §9.

Everything that `gradient_flow` does and records, for two-layer nets of mean-field scaling on the cube and a target of a
few coordinates. At the recorded times also, for the limit from the same a_j, u = 0 and s = the root mean square of w·x:

- ``loss_limit``: ½E(f* − f)² of the dimension-free dynamics, exact; ``loss_difference``: the net's test loss less it;
- ``distance``: the mean over the test inputs of (f_net − f_limit)²;
- ``coefficient`` and ``coefficient_limit`` : (record, term), E f χ_S on the target's monomials. That of the limit is
  exact; that of the net is the limit's plus the mean of (f_net − f_limit)χ_S over the test inputs, which is less noisy;
- ``leap`` of the target: at most 1 for a merged staircase.

Time is that of particles, step count × step: a step of η m (``step_unit = "particle"``) is the time η. The two agree
for wide nets, high dimension and small noise. To f² SGD adds a noise of the order η d/batch, from the d coordinates
that do not count, and the finite width one of the order 1/m; w·x is Gaussian, and u = 0 at the start, to within 1/d.

The limit goes from one recorded time to the next by steps of at most ``limit_step``, or by an adaptive solver
(`simlab.theory.dimension_free`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from simlab.core.errors import BadInput, shown
from simlab.core.rng import Streams
from simlab.core.state import State
from simlab.experiments.course import Floats, SampledCourse
from simlab.experiments.following import FollowedState
from simlab.experiments.gradient_flow import GradientFlow
from simlab.networks.two_layer import TwoLayer
from simlab.observables.view import View
from simlab.record.schema import RECORD, Output
from simlab.targets import BooleanFunction
from simlab.targets.boolean_function import OnTheCube
from simlab.theory import dimension_free, leap

TERM = "term"
RELU_STEP = 0.05  # in time; ReLU's is no smooth flow, which an adaptive solver could follow
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


@dataclass
class LimitPlace(State):
    """Where the dimension-free dynamics stand.

    time: time of particles.
    a, u, s: particles, (m,), (m, P) and (m,); a is NaN where the dynamics have no solution any more.
    """

    time: float
    a: Floats
    u: Floats
    s: Floats


@dataclass(kw_only=True)
class MergedState(FollowedState):
    """Where the flow stands.

    limit: where the dimension-free dynamics stand.
    """

    limit: LimitPlace | None = None


@dataclass(kw_only=True)
class Work(SampledCourse):
    """What the net's flow follows, and what its limit needs.

    function: the target as drawn.
    rates: right-hand side of the limit.
    features: the target's monomials at the test inputs, (n, k).
    corner: number of the corner of {±1}^P that each test input has at the target's coordinates, (n,).
    """

    function: BooleanFunction
    rates: dimension_free.Rates
    features: Floats
    corner: NDArray[np.int64]


class MergedStaircase(GradientFlow):
    """Training of a two-layer net on the cube, beside the dynamics of infinite dimension."""

    state_class: ClassVar[type[FollowedState]] = MergedState
    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        _SMALL,
        _SMALL
        | {
            "target": {"kind": "monomials", "terms": [[0], [0, 1, 2]], "coordinates": "random"},
            "network": {**_SMALL["network"], "activation": {"kind": "shifted", "of": "tanh", "shift": 0.5}},
            "flow": {"kind": "ode", "end_time": 2.0, "unit": "particle"},
        },
    )

    limit_step: float | None = Field(
        None, gt=0, description="longest step of the limit; left out: adaptive, but 0.05 for ReLU, of no smooth flow"
    )
    target: OnTheCube = Field(description="the function to be learned")
    network: TwoLayer = Field(description="the network that is trained")

    @model_validator(mode="after")
    def _has_the_limit(self) -> Self:
        if not self.data.is_cube:
            raise ValueError(f"data.kind = {self.data.kind!r}: must be boolean_cube, which the limit is for")
        for key, wanted in (("scaling", "mean_field"), ("bias", False), ("trained", "both")):
            if (given := getattr(self.network, key)) != wanted:
                raise ValueError(f"network.{key} = {shown(given)}: must be {wanted!r}, as in the limit")
        if not self.flow.is_descent:
            raise ValueError(f"flow.kind = {self.flow.kind!r}: the dynamics beside are the limit of plain descent")
        if (alpha := self.flow.output_scale()) != 1.0:
            raise ValueError(f"flow.alpha = {alpha}: must be 1, the output scale of the dynamics beside")
        if not self.test_samples:
            raise ValueError("test_samples = 0: must be 1 or more, to measure the distance to the limit")
        factor, size = self.target.sign_factor(self.data.dimension()), self.data.coordinate_size()
        if abs(factor * size - 1.0) > 1e-9:
            raise ValueError(
                f"target.factor: {factor:.6g} times data.scale = {size:.6g} is not 1, so that z is not ±1; "
                "set one to 1 over the other"
            )
        leap.check_count(self.target.place_count(), dimension_free.MOST_COORDINATES)
        try:
            dimension_free.check_activation(self.network.activation)
        except BadInput as error:
            raise BadInput(f"network.{error}") from None
        return self

    def outputs(self) -> dict[str, Output]:
        terms = {TERM: np.arange(len(self.target.expansion()[0]))}
        return super().outputs() | {
            "loss_limit": Output("½E(f* − f)² of the dimension-free dynamics, exact", (RECORD,)),
            "loss_difference": Output("test loss of the net less that of the dimension-free dynamics", (RECORD,)),
            "distance": Output("mean over the test inputs of (f_net − f_limit)²", (RECORD,)),
            "coefficient": Output("E f χ_S of the net on the target's monomials", (RECORD, TERM), coords=terms),
            "coefficient_limit": Output("E f χ_S of the dimension-free dynamics", (RECORD, TERM), coords=terms),
            "leap": Output("leap of the target: at most 1 for a merged staircase", dtype="int64"),
        }

    def prepare(self, streams: Streams) -> Work:
        course: SampledCourse = super().prepare(streams)
        target, X_test = course.target, course.samples.X_test
        assert isinstance(target, BooleanFunction)  # validated
        count = target.coordinates.size
        terms = dict(zip(target.terms, target.coefficients.tolist(), strict=True))
        rates = dimension_free.Rates(self.network.activation, leap.values(terms, count))
        # A corner's number: bit j is 1 where the sign at place j is −1.
        bits = np.rint((1.0 - target.signs(X_test)) / 2.0).astype(np.int64)
        corner = bits @ (1 << np.arange(count, dtype=np.int64))
        features = target.features(X_test)
        return Work(**vars(course), function=target, rates=rates, features=features, corner=corner)

    def start(self, work: Work, streams: Streams) -> MergedState:
        state: MergedState = super().start(work, streams)
        dim = self.data.dimension()
        a, _, _ = self.network.neurons(work.theta0)
        norm = self.network.inner_weight_std(dim) * dim**0.5 * self.data.coordinate_size()
        begun = dimension_free.begin(a, work.function.coordinates.size, norm)
        state.limit = LimitPlace(0.0, begun.a, begun.u, begun.s)
        return state

    def inner_states(self) -> dict[str, type[State]]:
        return super().inner_states() | {"limit": LimitPlace}

    def measure_more(self, work: Work, state: MergedState, view: View) -> dict[str, Any]:
        assert state.limit is not None
        f, y, terms = view.predict(view.X_test), view.y_test, work.function.terms
        risk, table = self._advance_limit(work, state.limit, view.time)
        limit = table[work.corner]
        exact = leap.walsh(table)[[sum(1 << j for j in term) for term in terms]] if np.isfinite(risk) else np.nan
        return {
            "loss_limit": risk,
            "loss_difference": 0.5 * float(np.mean((f - y) ** 2)) - risk,
            "distance": float(np.mean((f - limit) ** 2)),
            "coefficient": exact + (f - limit) @ work.features / f.size,
            "coefficient_limit": exact + np.zeros(len(terms)),
        }

    def _advance_limit(self, work: Work, place: LimitPlace, time: float) -> tuple[float, Floats]:
        """½E e² and f : (2^P,) of the limit at a time of the flow, where it then stands; NaN: it has no solution."""
        time = time if self.flow.in_particle_time() else time / self.network.width
        here = dimension_free.Particles(place.a, place.u, place.s)
        step = RELU_STEP if self.limit_step is None and work.rates.shift is not None else self.limit_step
        try:
            course = dimension_free.solve(work.rates, here, [0.0, time - place.time], step)
        except BadInput:
            place.a = np.full_like(place.a, np.nan)
            return float("nan"), np.full(len(work.rates.z), np.nan)
        place.time, place.a, place.u, place.s = time, course.end.a, course.end.u, course.end.s
        return float(course.risk[-1]), course.f[-1]

    def measure_at_end(self, work: Work, state: MergedState) -> dict[str, Any]:
        target = work.function
        nonzero = [term for term, c in zip(target.terms, target.coefficients, strict=True) if c != 0.0]
        return {"leap": leap.leap(nonzero).complexity}
