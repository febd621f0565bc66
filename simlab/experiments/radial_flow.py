"""A flow on inputs of the law φ², and what theory says of the radial problem. MATH §8.

Everything that `gradient_flow` does and records, on ``ball_fourier``; and

- for a three-layer net the α-flow, its limit of infinite width, at the recorded times: α_t and the exact population
  loss ½E(f* − f)². It is started from the α₀ of the law of the weights (``alpha_limit``, ``loss_limit``) and from that
  of the particles as drawn (``alpha_matched``, ``loss_matched``), both with the outer weights as drawn;
- for a net with a width the ``certificate`` of two-layer nets with as many neurons as its first layer: their E(f − g)²
  is at least that, whatever the weights (twice a loss). A deeper net may be below it.

These are NaN where the target is not radial, or where its breaks are too many or too far out. So is the α-flow from
where it ends, or takes more than `MOST_EVALUATIONS` to the next record. Its time is that of particles, v̇ = −m₁ ∂R/∂v:
a step of η m₁ (``step_unit = "particle"``) is the time η, as is the time η of an ode with ``unit = "particle"``. It
goes from one recorded time to the next, so that its numbers depend on the recorded times, by about its tolerance.

Functions that grow have infinite risk under this law (`_heavy_tail`): positive outer weights and unbounded activations
are refused, and training that makes an outer weight positive ends at the record that shows it.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from pydantic import model_validator

from simlab.core import catalogue
from simlab.core.errors import BadInput, one_of
from simlab.core.rng import Streams
from simlab.core.state import State
from simlab.experiments import _heavy_tail
from simlab.experiments.course import Floats, SampledCourse
from simlab.experiments.following import FollowedState
from simlab.experiments.gradient_flow import GradientFlow
from simlab.networks.network import ThreeLayer
from simlab.observables.view import View
from simlab.record.schema import RECORD, Output
from simlab.targets import Radial
from simlab.theory import alpha_flow
from simlab.theory.alpha_flow import Accuracy
from simlab.theory.certificate import certificate

MOST_EVALUATIONS = 20_000
"""Right-hand sides of the α-flow from one record to the next: a few seconds."""
NAN = float("nan")
_SMALL: dict[str, Any] = {
    "experiment": {"kind": "radial_flow", "samples": 64, "test_samples": 32, "records": 7},
    "data": {"kind": "ball_fourier", "dim": 3},
    "target": {"kind": "radial_relu"},
    "network": {"kind": "three_layer_mean_field", "width": 12, "outer_width": 3},
    "flow": {"kind": "gradient_descent", "steps": 60, "step": 0.2, "step_unit": "particle"},
    "observables": ["train_loss", "test_loss"],
}


@dataclass
class AlphaPlace(State):
    """Where an α-flow stands.

    time: time of particles.
    alpha: α; NaN where the flow has ended.
    w, b: outer weights and biases, (m₂,).
    """

    time: float
    alpha: float
    w: Floats
    b: Floats


@dataclass(kw_only=True)
class RadialState(FollowedState):
    """Where the flow stands, and beside a three-layer net its α-flows.

    limit: started from the α of the law of the weights.
    matched: started from the α of the particles as drawn.
    """

    limit: AlphaPlace | None = None
    matched: AlphaPlace | None = None


class RadialFlow(GradientFlow):
    """Training on inputs of the law φ², beside what theory says of the radial problem."""

    state_class: ClassVar[type[FollowedState]] = RadialState
    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        _SMALL,
        _SMALL | {"network": {"kind": "two_layer", "width": 9, "activation": "tanh", "bias": True}},
        _SMALL | {"target": {"kind": "axis_relu"}, "flow": {"kind": "ode", "end_time": 5.0, "unit": "particle"}},
    )

    @model_validator(mode="after")
    def _has_a_radial_theory(self) -> Self:
        if not self.data.has_radius_law:
            able = catalogue.able("data", lambda law: law.has_radius_law)
            raise ValueError(
                f"data.kind = {self.data.kind!r}: no law of the radius to compare with; "
                f"use gradient_flow (allowed: {one_of(able)})"
            )
        _heavy_tail.check_bounded(self.data, self.network)
        if isinstance(self.network, ThreeLayer):
            if not self.flow.is_descent:
                raise ValueError(f"flow.kind = {self.flow.kind!r}: the α-flow beside is the limit of plain descent")
            if (alpha := self.flow.output_scale()) != 1.0:
                raise ValueError(f"flow.alpha = {alpha}: must be 1, the output scale of the α-flow beside")
        return self

    def outputs(self) -> dict[str, Output]:
        found = super().outputs()
        if isinstance(self.network, ThreeLayer):
            for start, words in (("limit", "the law of the weights"), ("matched", "the particles' own")):
                found[f"alpha_{start}"] = Output(f"α of the α-flow started from that of {words}", (RECORD,))
                found[f"loss_{start}"] = Output(f"population loss of the α-flow started from α of {words}", (RECORD,))
        if self.network.particle_count() is not None:
            found["certificate"] = Output("least E(f − g)² of any two-layer net of this width; NaN: there is none")
        return found

    def start(self, work: SampledCourse, streams: Streams) -> RadialState:
        state: RadialState = super().start(work, streams)
        if isinstance(self.network, ThreeLayer):
            _, w, b = self.network.particles(work.theta0)
            law, own = self.network.mean_alpha(self.data.dimension()), self.network.alpha(work.theta0)
            state.limit = AlphaPlace(0.0, float(law), w.copy(), b.copy())
            state.matched = AlphaPlace(0.0, float(own), w.copy(), b.copy())
        return state

    def inner_states(self) -> dict[str, type[State]]:
        return super().inner_states() | {"limit": AlphaPlace, "matched": AlphaPlace}

    def measure_more(self, work: SampledCourse, state: RadialState, view: View) -> dict[str, Any]:
        found = {}
        for name, place in (("limit", state.limit), ("matched", state.matched)):
            if place is not None:
                found[f"alpha_{name}"], found[f"loss_{name}"] = self._advance_alpha_flow(work, place, view.time)
        return found

    def _advance_alpha_flow(self, work: SampledCourse, place: AlphaPlace, time: float) -> tuple[float, float]:
        """α and the loss at a time of the flow, where the α-flow then stands."""
        width = self.network.particle_count()
        assert isinstance(self.network, ThreeLayer)
        assert width is not None
        if not isinstance(work.target, Radial) or np.isnan(place.alpha):
            return NAN, NAN
        time = time if self.flow.in_particle_time() else time / width
        times = np.array([0.0, time - place.time]) if time > 0.0 else np.zeros(1)
        law, trained = self.data.radius_law(), self.network.trained_layers()
        try:
            course = alpha_flow.solve(
                law, work.target, place.alpha, place.w, place.b, times, trained, Accuracy(most=MOST_EVALUATIONS)
            )
        except BadInput:  # it has ended on the way
            place.alpha = NAN
            return NAN, NAN
        place.time, place.alpha, place.w, place.b = time, float(course.alpha[-1]), course.w[-1], course.b[-1]
        return place.alpha, float(course.loss[-1])

    def measure_at_end(self, work: SampledCourse, state: RadialState) -> dict[str, Any]:
        width = self.network.first_width()
        if width is None:
            return {}
        bound = NAN
        if isinstance(work.target, Radial):
            with contextlib.suppress(BadInput):  # shells without number, a ball that is nearly everything
                bound = certificate(work.target, self.data.radius_law(), width).bound
        return {"certificate": bound}
