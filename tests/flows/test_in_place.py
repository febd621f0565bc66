"""Steps that change θ while they compute the gradient (`Goal.rate`), against a gradient and then a step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simlab import flows, losses, networks
from simlab.core.rng import Streams
from simlab.flows.problem import BEYOND, NOT_FINITE, Problem
from simlab.networks.bound import Bound

NET: dict[str, Any] = {"width": 150, "depth": 4, "weight_std": 1.4, "bias_std": 0.3}


def problem_of(network: networks.MLP, n: int, dtype: Any = np.float64, alpha: float = 1.0) -> tuple[Problem, Any]:
    """Logistic loss on random labels, and θ at the start."""
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((n, 7)), rng.choice([-1.0, 1.0], n)
    return Problem.of(Bound(network, 7, dtype), X, y, alpha, losses.Logistic()), network.initialise(7, rng)


@pytest.mark.parametrize("activation", ["relu", "tanh"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_as_a_gradient_and_then_a_step(activation: str, dtype: Any) -> None:
    """Several layers on several threads: a layer's weights are read before they change. With α and a schedule too."""
    problem, theta = problem_of(networks.MLP(activation=activation, **NET), 40, dtype, alpha=2.0)
    flow = flows.GradientDescent(steps=12, step=0.5, alpha=2.0, schedule="cosine")
    assert problem.bound is not None
    assert problem.bound.loops.in_place(40)
    state = flow.start(problem, theta, Streams(0, 0))
    expected, grad = state.theta.astype(np.float64), np.zeros_like(state.theta)
    for step in range(12):
        problem.loss_and_gradient(expected.astype(dtype), grad)
        expected -= 0.5 * (1 + np.cos(np.pi * step / 12)) / 2 / 2.0**2 * grad
    flow.advance(problem, state, 12, 60.0)
    rounding = 12 * np.finfo(dtype).eps * np.linalg.norm(theta)  # θ is rounded at every step
    assert np.linalg.norm(state.theta - expected) < rounding < 1e-3 * np.linalg.norm(expected - theta)


def test_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """SGD, the last batch of an epoch being smaller, is the same with and without."""
    found = []
    for allowed in (True, False):
        problem, theta = problem_of(networks.MLP(**NET), 37)
        assert problem.bound is not None
        if not allowed:
            monkeypatch.setattr(type(problem.bound.loops), "in_place", lambda self, n: False)
        flow = flows.SGD(steps=30, step=0.3, batch=8)
        state = flow.start(problem, theta, Streams(0, 0))
        flow.advance(problem, state, 30, 60.0)
        found.append(state.theta)
    assert not np.array_equal(*found)  # another order of roundings: the two ways were really taken
    np.testing.assert_allclose(*found, rtol=0, atol=1e-11)


@pytest.mark.parametrize(("step", "ending"), [(1e3, BEYOND), (1e200, NOT_FINITE)])
def test_a_step_that_would_leave_from_a_diverged_loss_is_not_made(step: float, ending: int) -> None:
    rng = np.random.default_rng(0)
    network = networks.MLP(**NET)
    problem = Problem.of(Bound(network, 7), rng.standard_normal((20, 7)), rng.standard_normal(20), 1.0)
    state = flows.GradientDescent(steps=50, step=step).start(problem, network.initialise(7, rng), Streams(0, 0))
    flow = flows.GradientDescent(steps=50, step=step)
    flow.advance(problem, state, 50, 60.0)
    assert state.ending == ending
    before = state.theta.copy()
    reached = problem.loss(state.theta)
    assert not np.isfinite(reached) if ending == NOT_FINITE else reached > state.limit
    expected, grad = network.initialise(7, _again(rng)), np.zeros_like(before)
    for _ in range(state.step):
        problem.loss_and_gradient(expected, grad)
        expected -= step * grad
    np.testing.assert_allclose(before, expected, rtol=1e-9)


def _again(rng: np.random.Generator) -> np.random.Generator:
    """The generator as it was when the weights were drawn."""
    fresh = np.random.default_rng(0)
    fresh.standard_normal((20, 7))
    fresh.standard_normal(20)
    return fresh


def test_only_where_one_tile_holds_all_rows_and_a_step_is_nothing_else() -> None:
    loops = networks.MLP(width=20, depth=3).loops(5)
    assert loops.in_place(1024)
    assert not loops.in_place(1025)
    assert not networks.TwoLayer(width=20).loops(5).in_place(8)
    assert not networks.get("linearised", network=networks.MLP(width=20, depth=3)).loops(5).in_place(8)
    for more in ({"momentum": 0.5}, {"weight_decay": 0.1}):
        problem, theta = problem_of(networks.MLP(**NET), 24)
        flow = flows.SGD(steps=3, step=0.3, batch=24, **more)
        state = flow.start(problem, theta, Streams(0, 0))
        grad, expected, velocity = np.zeros_like(state.theta), state.theta.copy(), np.zeros_like(state.theta)
        for _ in range(3):
            problem.loss_and_gradient(expected, grad)
            velocity = more.get("momentum", 0.0) * velocity - 0.3 * (grad + more.get("weight_decay", 0.0) * expected)
            expected += velocity
        flow.advance(problem, state, 3, 60.0)
        np.testing.assert_allclose(state.theta, expected, rtol=0, atol=1e-11)
