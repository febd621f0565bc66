"""Stochastic descent: which samples it sees, and plain NumPy loops fed the same ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simlab.core.errors import BadInput
from simlab.flows import sgd
from tests.flows.problems import Array, d, fresh, m, n, small, streams


def run(**fields: Any) -> dict[str, Any]:
    params = sgd.Params(**fields)
    problem, theta0 = small()
    state = sgd.start(params, problem, theta0, streams())
    sgd.advance(params, problem, state, params.steps, 1e9)
    return state


def numpy_loop(batches: list[tuple[Array, Array]], eta: float) -> Array:
    theta0 = small()[1]
    a, W = theta0[:m].copy(), theta0[m:].reshape(m, d).copy()
    for X, y in batches:
        H = np.tanh(X @ W.T)
        r = (H @ a / np.sqrt(m) - y) / (len(X) * np.sqrt(m))
        a, W = a - eta * H.T @ r, W - eta * ((1 - H**2) * np.outer(r, a)).T @ X
    return np.concatenate([a, W.ravel()])


def test_one_pass_equals_a_numpy_loop_fed_the_same_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Over the ends of two chunks."""
    monkeypatch.setattr(sgd, "CHUNK_ROWS", 50)
    rng, batch = streams()["fresh"], 7
    chunks = [fresh(49, rng) for _ in range(3)]
    batches = [(X[i : i + batch], y[i : i + batch]) for X, y in chunks for i in range(0, 49, batch)]
    state = run(steps=17, step=0.1, batch=batch, fresh=True)
    assert np.allclose(state["theta"], numpy_loop(batches[:17], 0.1), rtol=1e-11, atol=1e-12)


def test_epochs_equal_a_numpy_loop_in_the_same_order() -> None:
    """n = 12 in batches of 5, 5 and 2."""
    problem, _ = small()
    rng = streams()["batches"]
    order, orders = np.arange(n), []
    for _ in range(3):
        for i in range(n - 1, 0, -1):  # Fisher and Yates
            j = int(rng.random() * (i + 1))
            order[i], order[j] = order[j], order[i]
        orders.append(order.copy())
    batches = [
        (problem.X[order[i : i + 5]], problem.y[order[i : i + 5], 0]) for order in orders for i in range(0, n, 5)
    ]
    state = run(steps=8, step=0.1, batch=5)
    assert np.allclose(state["theta"], numpy_loop(batches[:8], 0.1), rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize(("sampling", "visits_each_once"), [("epochs", True), ("replacement", False)])
def test_an_epoch_visits_each_sample_once(sampling: str, visits_each_once: bool) -> None:
    """With steps so small that θ hardly moves, one epoch of single samples adds up to n steps of the full gradient."""
    problem, theta0 = small()
    eta = 1e-8
    moved = run(steps=n, step=eta, batch=1, sampling=sampling)["theta"] - theta0
    full = np.zeros_like(theta0)
    problem.loss_and_gradient(theta0, full)
    agrees = np.linalg.norm(moved + eta * n * full) < 1e-5 * np.linalg.norm(moved)
    assert agrees == visits_each_once


def test_what_cannot_be_drawn_is_refused() -> None:
    problem, theta0 = small()
    with pytest.raises(BadInput, match=r"^flow\.batch = 13: more than the 12 training samples$"):
        sgd.start(sgd.Params(steps=1, step=0.1, batch=13), problem, theta0, streams())
    problem.fresh = None
    with pytest.raises(BadInput, match=r"^flow\.fresh = true: these data are not a law"):
        sgd.start(sgd.Params(steps=1, step=0.1, batch=1, fresh=True), problem, theta0, streams())
    with pytest.raises(ValueError, match=r"sampling = 'epochs': not with fresh = true"):
        sgd.Params(steps=1, step=0.1, batch=1, fresh=True, sampling="epochs")
