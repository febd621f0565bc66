"""Descent against independent recursions, and its report of divergence."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from simlab.flows.gradient_descent import descend
from simlab.networks import two_layer
from simlab.networks._bound import Bound

rng = np.random.default_rng(0)
X, y = rng.standard_normal((12, 5)), rng.standard_normal(12)
params = two_layer.Params(width=8)
theta0 = two_layer.initialise(params, 5, rng)


def run(steps: int, step: float, theta: NDArray[Any] | None = None) -> tuple[NDArray[Any], int, bool]:
    theta = theta0.copy() if theta is None else theta
    bound = Bound(params, 5)
    done, diverged = descend[np.float64](
        bound.loops.gradient[np.float64],
        *bound.activation,
        theta,
        X,
        y[:, np.newaxis],
        1.0,
        bound.sizes,
        bound.numbers,
        np.zeros_like(theta),
        bound.scratch(12),
        step,
        0,
        theta.size,
        steps,
    )
    return theta, done, diverged


def test_against_plain_numpy() -> None:
    a, W = theta0[:8].copy(), theta0[8:].reshape(8, 5).copy()
    s, eta = 8**-0.5, 0.05
    for _ in range(40):
        Z = X @ W.T
        r = (s * np.maximum(Z, 0) @ a - y) / 12
        grad_a, grad_W = s * np.maximum(Z, 0).T @ r, s * ((Z > 0) * np.outer(r, a)).T @ X
        a, W = a - eta * grad_a, W - eta * grad_W
    theta, done, diverged = run(40, eta)
    assert (done, diverged) == (40, False)
    assert np.allclose(theta, np.concatenate([a, W.ravel()]), rtol=1e-12, atol=1e-13)


def test_stretches_do_not_change_a_bit() -> None:
    """How far one call goes depends on the clock; the numbers must not."""
    whole, _, _ = run(100, 0.05)
    theta = theta0.copy()
    for steps in (1, 30, 2, 60, 7):
        run(steps, 0.05, theta)
    assert whole.tobytes() == theta.tobytes()


def test_small_steps_follow_the_flow_to_first_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Euler's method: halving the step halves the distance to a much finer solution.

    With positive inputs and weights no neuron meets its kink, and the flow is smooth.
    """
    monkeypatch.setattr(sys.modules[__name__], "X", np.abs(X))
    positive = np.abs(theta0) + 1.0

    def end(steps: int) -> NDArray[Any]:
        return run(steps, 0.2 / steps, positive.copy())[0]

    fine = end(51200)
    assert np.all(fine[8:] > 0), "a kink was met"
    errors = [np.linalg.norm(end(steps) - fine) for steps in (100, 200, 400)]
    orders = np.log2(np.array(errors[:-1]) / np.array(errors[1:]))
    assert np.all(np.abs(orders - 1) < 0.15)


def test_divergence_is_reported_where_it_happens() -> None:
    _, done, diverged = run(1000, 1e5)
    assert diverged
    assert 0 < done < 1000
