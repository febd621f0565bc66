"""Descent against independent recursions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simlab.flows.gradient_descent import GradientDescent
from simlab.flows.ode import ODE
from tests.support.flow_problems import Array, d, m, n, small, streams


def run(alpha: float = 1.0, net: dict[str, Any] | None = None, **fields: Any) -> Any:
    flow = GradientDescent(alpha=alpha, **fields)
    problem, theta0 = small(alpha, **(net or {}))
    state = flow.start(problem, theta0, streams())
    flow.advance(problem, state, flow.steps, 1e9)
    return state


@pytest.mark.parametrize("alpha", [1.0, 5.0])
def test_against_plain_numpy(alpha: float) -> None:
    """θ ← θ − η ∇R(αf)/α² written out for f = m^(−1/2) Σ a_j tanh(w_j·x)."""
    problem, theta0 = small(alpha)
    X, y = problem.X, problem.y[:, 0]
    a, W = theta0[:m].copy(), theta0[m:].reshape(m, d).copy()
    s, eta = m**-0.5, 0.05
    for _ in range(40):
        H = np.tanh(X @ W.T)
        r = (alpha * s * H @ a - y) / (n * alpha)
        grad_a, grad_W = s * H.T @ r, s * ((1 - H**2) * np.outer(r, a)).T @ X
        a, W = a - eta * grad_a, W - eta * grad_W
    state = run(alpha, steps=40, step=eta)
    assert state.step == 40
    assert state.time == 40 * eta
    assert np.allclose(state.theta, np.concatenate([a, W.ravel()]), rtol=1e-12, atol=1e-13)


def test_small_steps_follow_the_flow_to_first_order() -> None:
    """Euler's method: the distance to the flow at time 1 falls as the step."""
    problem, theta0 = small()
    exact = ODE(end_time=1.0, method="DOP853", rtol=1e-12, atol=1e-13)
    reached = exact.start(problem, theta0, streams())
    exact.advance(problem, reached, 1.0, 1e9)

    def error(steps: int) -> float:
        theta: Array = run(steps=steps, step=1.0 / steps).theta
        return float(np.linalg.norm(theta - reached.theta))

    sizes = [50, 100, 200, 400]
    slope = np.polyfit(-np.log(sizes), np.log([error(k) for k in sizes]), 1)[0]
    assert slope == pytest.approx(1.0, abs=0.02)
