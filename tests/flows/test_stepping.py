"""Step sizes: units, schedules, the automatic choice; and the endings of a descent."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from simlab import networks
from simlab.core.errors import BadInput
from simlab.core.parsing import parse
from simlab.flows import _curvature
from simlab.flows._schedule import factor
from simlab.flows.gradient_descent import GradientDescent
from simlab.flows.problem import BEYOND, GOING, LIMIT, NOT_FINITE, Problem
from simlab.flows.sgd import SGD
from simlab.networks.bound import Bound
from tests.support.flow_problems import Array, linear, n, small, streams


def jacobian(problem: Any, theta: Array) -> Array:
    """(n, trained), by pushes of unit vectors."""
    columns = []
    for k in range(*problem.span):
        unit = np.zeros_like(theta)
        unit[k] = 1.0
        columns.append(problem.bound.push(theta, unit, problem.X)[:, 0])
    return np.column_stack(columns)


def started(**fields: Any) -> Any:
    flow = parse(GradientDescent, {"steps": 10, **fields}, "flow")
    problem, theta0 = small()
    return flow.start(problem, theta0, streams())


def test_units_of_the_step() -> None:
    problem, theta0 = small()
    J = jacobian(problem, theta0)
    top = np.linalg.eigvalsh(J @ J.T / n)[-1]
    assert started(step=0.3).eta == 0.3
    assert started(step=0.3, step_unit="particle").eta == 0.3 * 8
    assert started(step=0.3, step_unit="edge").eta == pytest.approx(0.3 * 2 / top, rel=1e-12)


def test_many_samples_take_the_power_iteration(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = started(step=1.0, step_unit="edge").eta
    monkeypatch.setattr(_curvature, "EXACT_ROWS", 0)
    assert started(step=1.0, step_unit="edge").eta == pytest.approx(exact, rel=1e-4)


def test_several_outputs() -> None:
    """The edge of a net with two outputs is that of its (2n, P) Jacobian, and descent below it lowers the loss."""
    network: Any = networks.get("mlp", width=6, depth=3, outputs=2, activation="tanh", weight_std=1.5)
    problem, _ = small()
    y = np.column_stack([problem.y[:, 0], problem.y[:, 0] ** 2])
    theta0 = network.initialise(problem.X.shape[1], np.random.default_rng(1))
    problem = Problem.of(Bound(network, problem.X.shape[1]), problem.X, y, 1.0)
    J = np.column_stack([problem.bound.push(theta0, e, problem.X).ravel() for e in np.eye(theta0.size)])  # type: ignore[union-attr]
    flow = GradientDescent(steps=50, step=0.9, step_unit="edge")
    state = flow.start(problem, theta0, streams())
    assert state.eta == pytest.approx(0.9 * 2 / np.linalg.eigvalsh(J @ J.T / n)[-1], rel=1e-4)
    flow.advance(problem, state, 50, 1e9)
    assert problem.loss(state.theta) < 0.5 * problem.loss(theta0)
    with pytest.raises(BadInput, match=r"^y has shape \(12,\): the network has 2 outputs for 12 inputs$"):
        Problem.of(Bound(network, problem.X.shape[1]), problem.X, y[:, 0], 1.0)


def test_the_diagonal_and_the_bound_for_batches() -> None:
    """E H_B² ⪯ (κ/B + (1 − 1/B) λ_max) H, checked on 4000 batches drawn with replacement."""
    problem, theta0 = small()
    J = jacobian(problem, theta0)
    kappa, top = np.max(np.sum(J**2, axis=1)), np.linalg.eigvalsh(J @ J.T / n)[-1]
    assert _curvature.largest_diagonal(problem, theta0) == pytest.approx(kappa, rel=1e-12)
    bound = _curvature.batch_edge(problem, top, theta0, 3)
    assert bound == pytest.approx(kappa / 3 + 2 * top / 3, rel=1e-12)
    rng, H = np.random.default_rng(0), J.T @ J / n
    squares = np.zeros_like(H)
    for _ in range(4000):
        some = J[rng.integers(0, n, 3)]
        squares += (some.T @ some / 3) @ (some.T @ some / 3) / 4000
    gap = np.linalg.eigvalsh(bound * H - squares)
    assert gap[0] > -1e-3 * np.linalg.eigvalsh(squares)[-1]


@pytest.mark.parametrize(
    ("fields", "at", "expected"),
    [
        ({}, 7, 1.0),
        ({"schedule": "cosine"}, 0, 1.0),
        ({"schedule": "cosine"}, 25, (1 + math.cos(math.pi / 4)) / 2),
        ({"schedule": "power", "decay_power": 0.5, "decay_steps": 10.0}, 30, 0.5),
        ({"schedule": "piecewise", "drop_steps": [10, 50], "drop_factors": [0.1, 0.02]}, 9, 1.0),
        ({"schedule": "piecewise", "drop_steps": [10, 50], "drop_factors": [0.1, 0.02]}, 10, 0.1),
        ({"schedule": "piecewise", "drop_steps": [10, 50], "drop_factors": [0.1, 0.02]}, 99, 0.02),
    ],
)
def test_schedules(fields: dict[str, Any], at: int, expected: float) -> None:
    flow = parse(GradientDescent, {"steps": 100, "step": 1.0, **fields}, "flow")
    assert factor(*flow.schedule_numbers(), at) == pytest.approx(expected, rel=1e-14)


def test_a_schedule_shapes_descent_and_time() -> None:
    """On a quadratic ∏ (1 − η_t λ), and time is the sum of the η_t."""
    problem, theta0, A, b = linear()
    lam, V = np.linalg.eigh(A)
    eta = 0.9 / lam[-1]
    flow = GradientDescent(steps=30, step=eta, schedule="power", decay_power=0.7, decay_steps=4.0)
    state = flow.start(problem, theta0, streams())
    flow.advance(problem, state, 30, 1e9)
    sizes = eta * (1 + np.arange(30) / 4.0) ** -0.7
    best = np.linalg.solve(A, b)
    predicted = V.T @ (theta0[problem.part] - best) * np.prod(1 - np.outer(sizes, lam), axis=0)
    assert np.allclose(V.T @ (state.theta[problem.part] - best), predicted, rtol=1e-9, atol=1e-11)
    assert state.time == pytest.approx(sizes.sum(), rel=1e-13)


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"step": 0.0}, r"^flow\.step = 0\.0: must be a number greater than 0, or \"auto\"$"),
        ({"step": "fast"}, r"^flow\.step = 'fast': must be a number greater than 0, or \"auto\"$"),
        ({"step": 0.1, "alpha": 0.0}, r"^flow\.alpha = 0\.0: must be greater than 0$"),
        ({"step": 0.1, "alpha": 1e-170}, r"alpha = 1e-170: must be at least 1e-15$"),
        ({"step": "auto", "step_unit": "edge"}, r"^flow\.step_unit = 'edge': not with step = \"auto\""),
        ({"step": 0.1, "schedule": "power"}, r"^flow\.decay_power: missing; schedule = \"power\" needs it$"),
        ({"step": 0.1, "decay_power": 1.0}, r"^flow\.decay_power: only with schedule = \"power\""),
        (
            {"step": 0.1, "schedule": "piecewise", "drop_steps": [5, 2], "drop_factors": [1.0, 1.0]},
            r"^flow\.drop_steps = \[5, 2\]: must be 0 or more and rise$",
        ),
        (
            {"step": 0.1, "schedule": "piecewise", "drop_steps": [5], "drop_factors": [1.0, 1.0]},
            r"^flow\.drop_factors has 2 numbers: must be 1",
        ),
    ],
)
def test_impossible_steps_are_refused(fields: dict[str, Any], says: str) -> None:
    with pytest.raises(BadInput, match=says):
        started(**fields)


@pytest.mark.parametrize("step", ["auto", 1e3])
@pytest.mark.parametrize("batch", [None, 1, 4])
def test_the_automatic_step_is_stable_where_a_large_one_is_not(step: Any, batch: int | None) -> None:
    """A net with weights ten times as large: its tangent kernel is 100 times as large, and changes on the way."""
    flow: Any = GradientDescent(steps=400, step=step) if batch is None else SGD(steps=400, step=step, batch=batch)
    problem, theta0 = small(activation="relu")
    theta0 *= 10.0
    state = flow.start(problem, theta0, streams())
    flow.advance(problem, state, 400, 1e9)
    if step == "auto":
        assert state.ending == GOING
        assert problem.loss(state.theta) < 0.05 * problem.loss(theta0)
    else:
        assert state.ending != GOING


def test_endings() -> None:
    """Beyond the limit, or not finite at all; the weights stay where it was noticed."""
    for step, ending in ((1e5, BEYOND), (1e300, NOT_FINITE)):
        flow = GradientDescent(steps=1000, step=step)
        problem, theta0 = small(activation="relu")
        state = flow.start(problem, theta0, streams())
        flow.advance(problem, state, 1000, 1e9)
        assert state.ending == ending
        assert 0 < state.step < 100
        loss = problem.loss(state.theta)
        assert loss > LIMIT * problem.loss(theta0) or not np.isfinite(loss)
