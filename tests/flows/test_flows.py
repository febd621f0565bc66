"""Every flow keeps the contract, and the contract check finds the flows that do not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pytest

from simlab import flows
from simlab.core import catalogue
from simlab.core.rng import Streams
from simlab.flows._stepping import SteppingState
from simlab.flows.gradient_descent import GradientDescent
from simlab.flows.momentum import MomentumState
from simlab.flows.ode import ODE
from simlab.flows.problem import Problem
from simlab.losses.squared import Squared


@pytest.mark.parametrize(("kind", "fields"), catalogue.all_examples("flows"))
def test_every_flow_keeps_the_contract(kind: str, fields: dict[str, Any]) -> None:
    """The clock changes no bit, a saved state goes on to the bit, frozen weights stay, a convex loss falls."""
    flows.check(flows.get(kind, **fields))


class Forgetful(GradientDescent):
    """Its state does not hold all that the next step needs."""

    def start(self, problem: Problem, theta0: Any, streams: Streams) -> Any:
        state = super().start(problem, theta0, streams)
        state.beyond = 0.0  # type: ignore[attr-defined]
        return state

    def advance(self, problem: Problem, state: Any, until: float, seconds: float) -> None:
        state.theta *= 1.0 - 1e-9 * getattr(state, "beyond", 1.0)
        super().advance(problem, state, until, seconds)


class Uphill(GradientDescent):
    def _stretch(self, problem: Problem, state: Any, steps: int) -> tuple[int, int, float]:
        before = state.theta.copy()
        found = super()._stretch(problem, state, 1)
        state.theta[:] = before - (state.theta - before)
        return found


class MovesAll(GradientDescent):
    def _stretch(self, problem: Problem, state: Any, steps: int) -> tuple[int, int, float]:
        state.theta *= 0.9999
        return super()._stretch(problem, state, 1)


class SharesItsStreams(GradientDescent):
    def start(self, problem: Problem, theta0: Any, streams: Streams) -> Any:
        state = super().start(problem, theta0, streams)
        state.eta *= 1.0 + 1e-6 * streams["noise"].random()
        return state


class ChangesTheStart(GradientDescent):
    def start(self, problem: Problem, theta0: Any, streams: Streams) -> Any:
        state = super().start(problem, theta0, streams)
        state.theta = theta0
        return state


class Overshoots(GradientDescent):
    def advance(self, problem: Problem, state: Any, until: float, seconds: float) -> None:
        super().advance(problem, state, min(self.steps, until + (seconds == 0.0)), seconds)


class OtherState(GradientDescent):
    state_class: ClassVar[type[SteppingState]] = MomentumState

    def start(self, problem: Problem, theta0: Any, streams: Streams) -> SteppingState:
        return GradientDescent(steps=self.steps, step=self.step).start(problem, theta0, Streams(0))


class SquaredAlways(GradientDescent):
    def advance(self, problem: Problem, state: Any, until: float, seconds: float) -> None:
        super().advance(replace(problem, loss_kind=Squared()), state, until, seconds)


class UphillOnClasses(GradientDescent):
    def advance(self, problem: Problem, state: Any, until: float, seconds: float) -> None:
        before = state.theta.copy()
        super().advance(problem, state, until, seconds)
        if not problem.loss_kind.quadratic:
            state.theta[:] = 2 * before - state.theta


class Unready(ODE):
    def last(self) -> float:
        return 2 * self.end_time

    def advance(self, problem: Problem, state: Any, until: float, seconds: float) -> None:
        super().advance(problem, state, min(until, self.end_time), seconds)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (Forgetful(steps=50, step=0.1), "restored from arrays"),
        (Uphill(steps=50, step=0.1), "convex loss rose"),
        (MovesAll(steps=50, step=0.1), "weights moved that are not trained"),
        (SharesItsStreams(steps=50, step=0.1), "two flows from the same streams differ in .*theta"),
        (ChangesTheStart(steps=50, step=0.1), "changed theta0"),
        (Overshoots(steps=50, step=0.1), "must stop exactly at until"),
        (OtherState(steps=50, step=0.1), "gives a SteppingState; state_class is MomentumState"),
        (Unready(end_time=2.0), "not at the last"),
        (SquaredAlways(steps=50, step=0.1), "the squared loss and logistic lead to the same weights"),
        (UphillOnClasses(steps=50, step=0.1), "a convex loss, logistic, rose"),
    ],
    ids=lambda value: value.kind if isinstance(value, flows.Flow) else "",
)
def test_the_check_finds_a_planted_fault(wrong: flows.Flow, says: str) -> None:
    with pytest.raises(AssertionError, match=says):
        flows.check(wrong)


def test_what_a_flow_tells_of_itself() -> None:
    """Facts that experiments ask for instead of names."""
    plain, sgd = flows.get("gradient_descent", steps=5, step=0.1), flows.get("sgd", steps=5, step=0.1, batch=2)
    ode = flows.get("ode", end_time=2.0, unit="particle")
    assert [flow.clock for flow in (plain, sgd, ode)] == ["step", "step", "time"]
    assert [flow.last() for flow in (plain, sgd, ode)] == [5.0, 5.0, 2.0]
    assert [flow.batch_size() for flow in (plain, sgd, ode)] == [None, 2, None]
    assert [flow.in_particle_time() for flow in (plain, sgd, ode)] == [False, False, True]
    assert [flow.is_constant_descent() for flow in (plain, sgd, ode)] == [True, False, False]
    assert not flows.get("gradient_descent", steps=5, step=0.1, schedule="cosine").is_constant_descent()
    automatic = flows.get("gradient_descent", steps=5, step="auto")
    assert automatic.chooses_steps()
    assert not automatic.is_constant_descent()
    assert automatic.needs_tangent() == "flow.step = 'auto'"
    assert flows.get("sgd", steps=5, step=0.1, batch=2, step_unit="edge").needs_tangent() == "flow.step_unit = 'edge'"
    assert plain.needs_tangent() == ode.needs_tangent() == ""
    assert {"langevin", "momentum"} <= set(catalogue.able("flows", lambda cls: not cls.is_descent))
    assert plain.is_descent
    assert sgd.is_descent
    assert ode.is_descent


def test_names_in_a_checkpoint_stay() -> None:
    """Runs begun with an earlier version go on."""
    from simlab.flows.checking import small_problem

    names = {"theta", "step", "time", "units", "base", "eta", "ending", "limit"}
    more: dict[str, set[str]] = {
        "gradient_descent": set(), "momentum": {"velocity"}, "langevin": {"rng"}, "sgd": {"rng", "at", "order"},
    }  # fmt: skip
    for kind, own in more.items():
        flow = flows.get(kind, **catalogue.get("flows", kind).examples[0])
        problem, theta0 = small_problem(flow)
        assert set(flow.start(problem, theta0, Streams(1)).arrays()) == names | own
    ode = flows.get("ode", end_time=1.0)
    problem, theta0 = small_problem(ode)
    assert set(ode.start(problem, theta0, Streams(1)).arrays()) == {"theta", "step", "time", "size", "limit", "ending"}
    heavy = flows.get("sgd", steps=5, step="auto", batch=2, momentum=0.5, decay_to="start")
    state = heavy.start(*small_problem(heavy), Streams(1))
    own = {"probe", "estimated", "rng", "at", "order", "velocity", "towards"}
    assert set(state.arrays()) == names | own
    assert isinstance(state.arrays()["rng"], np.random.Generator)
