"""Gradient flow by scipy's solvers: their orders, exact recording times, a loss that never rises."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba import float64
from scipy.integrate import Radau, solve_ivp

from simlab.core.errors import BadInput
from simlab.core.jit import jit
from simlab.flows import ode
from simlab.flows.ode import ODE
from simlab.flows.problem import SOLVER_FAILED, TOO_MANY_STEPS, Problem
from simlab.networks.signature import GRADIENT
from tests.support.flow_problems import Array, small, streams

T = 2.0


def run(net: dict[str, Any] | None = None, **fields: Any) -> Array:
    flow = ODE(**{"end_time": T, **fields})
    problem, theta0 = small(flow.alpha, **(net or {}))
    state = flow.start(problem, theta0, streams())
    flow.advance(problem, state, flow.end_time, 1e9)
    assert state.time == flow.end_time
    theta: Array = state.theta
    return theta


class TightRadau(Radau):
    """scipy's Newton iteration stops at a share of the step's tolerance, which fixed steps make huge."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.newton_tol = 1e-12 / self.atol


@pytest.mark.parametrize(
    ("method", "order", "steps"),
    [("RK45", 5, (8, 12, 18, 27)), ("DOP853", 8, (3, 4, 6, 8)), ("Radau", 5, (8, 12, 18, 27))],
)
def test_order(method: str, order: int, steps: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """With tolerances that accept everything and first_step = max_step = h the steps are all h: error ~ h^order.

    A smooth net (tanh); the reference is LSODA at 1e-13, of another family than all three.
    """
    monkeypatch.setitem(ode.METHODS, "Radau", TightRadau)
    problem, theta0 = small()
    rate = ode._Rate(ODE(end_time=T), problem, theta0)
    exact = solve_ivp(rate, (0.0, T), theta0, method="LSODA", rtol=2.3e-14, atol=1e-15).y[:, -1]

    def error(h: float) -> float:
        loose = {"rtol": 0.9, "atol": 1e6, "first_step": h, "max_step": h}
        return float(np.linalg.norm(run(method=method, **loose) - exact))

    sizes = T / np.array(steps)
    slope = np.polyfit(np.log(sizes), np.log([error(h) for h in sizes]), 1)[0]
    assert round(slope) == order


@pytest.mark.parametrize("method", ["RK45", "DOP853", "Radau"])
def test_the_loss_never_rises_and_times_are_met_exactly(method: str) -> None:
    flow = ODE(end_time=30.0, method=method, rtol=1e-7, atol=1e-10)
    problem, theta0 = small()
    state = flow.start(problem, theta0, streams())
    losses = [problem.loss(theta0)]
    for until in np.geomspace(0.01, 30.0, 40):
        flow.advance(problem, state, float(until), 1e9)
        assert state.time == until
        losses.append(problem.loss(state.theta))
    assert np.all(np.diff(losses) < 1e-7 * losses[0])
    assert losses[-1] < 0.5 * losses[0]


def test_recording_hardly_costs_steps() -> None:
    """A step that was shortened to end at a recorded time does not shorten the next ones."""

    def steps(records: int) -> int:
        flow = ODE(end_time=T, rtol=1e-9, atol=1e-12)
        problem, theta0 = small()
        state = flow.start(problem, theta0, streams())
        for until in np.linspace(0.0, T, records + 1)[1:]:
            flow.advance(problem, state, float(until), 1e9)
        return int(state.step)

    assert steps(5) <= steps(1) + 5


def test_alpha_and_particles_are_factors_of_time() -> None:
    """θ' = −∇R(αf)/α² is the flow of R(αf) slowed down by α²; particle time is m times as fast."""
    tight = {"rtol": 1e-11, "atol": 1e-13}
    slow = run(alpha=3.0, **tight)
    problem, theta0 = small(3.0)
    rate = ode._Rate(ODE(end_time=T), problem, theta0)  # α of the flow is 1 here, that of the loss 3
    exact = solve_ivp(rate, (0.0, T / 9.0), theta0, method="LSODA", rtol=1e-12, atol=1e-13).y[:, -1]
    assert np.allclose(slow, exact, rtol=1e-8, atol=1e-9)
    particles = run(unit="particle", end_time=T / 8, **tight)
    assert np.allclose(particles, run(**tight), rtol=1e-8, atol=1e-9)


@jit(signatures=[GRADIENT(float64)])
def explosive(act: Any, loss: Any, net: Any, rows: Any, goal: Any, out: Any, scratch: Any) -> float:
    """θ' = θ², which is infinite at time 1/θ₀."""
    for k in range(net.theta.size):
        out[k] = -net.theta[k] * net.theta[k]
    return 0.0


@pytest.mark.parametrize("method", ["RK45", "Radau"])
def test_a_solver_that_fails_is_an_ending(method: str) -> None:
    like, _ = small()
    problem = Problem(explosive, like.act, like.net, like.X, like.y, 1.0, range(1), scratch=lambda rows: 1)
    flow = ODE(end_time=2.0, method=method)
    state = flow.start(problem, np.ones(1), streams())
    flow.advance(problem, state, 2.0, 1e9)
    assert state.ending == SOLVER_FAILED
    assert state.time == pytest.approx(1.0, abs=1e-3)
    assert np.all(np.isfinite(state.theta))


def test_what_makes_no_sense_is_refused() -> None:
    problem, theta0 = small(dtype=np.float32)
    with pytest.raises(BadInput, match=r"^experiment\.dtype = 'float32': flow\.kind = 'ode' integrates in float64$"):
        ODE(end_time=1.0).start(problem, theta0, streams())
    with pytest.raises(BadInput, match=r"max_step = 3\.0: must be at most end_time = 2\.0"):
        ODE(end_time=2.0, max_step=3.0)


@pytest.mark.parametrize("method", ["RK45", "Radau"])
def test_a_solver_that_makes_too_many_steps_is_given_up(method: str) -> None:
    flow = ODE(end_time=T, method=method, max_step=1e-3, max_steps=7)
    problem, theta0 = small()
    state = flow.start(problem, theta0, streams())
    flow.advance(problem, state, T, 1e9)
    assert (state.step, state.ending) == (7, TOO_MANY_STEPS)
