"""Stochastic descent: which samples it sees, and plain NumPy loops fed the same ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simlab import networks
from simlab.core.errors import BadInput
from simlab.flows import sgd
from simlab.flows.problem import Problem
from simlab.flows.sgd import SGD
from simlab.networks.bound import Bound
from tests.support.flow_problems import Array, d, fresh, m, n, small, streams


def run(**fields: Any) -> Any:
    flow = SGD(**fields)
    problem, theta0 = small()
    state = flow.start(problem, theta0, streams())
    flow.advance(problem, state, flow.steps, 1e9)
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
    assert np.allclose(state.theta, numpy_loop(batches[:17], 0.1), rtol=1e-11, atol=1e-12)


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
    assert np.allclose(state.theta, numpy_loop(batches[:8], 0.1), rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize(("sampling", "visits_each_once"), [("epochs", True), ("replacement", False)])
def test_an_epoch_visits_each_sample_once(sampling: str, visits_each_once: bool) -> None:
    """With steps so small that θ hardly moves, one epoch of single samples adds up to n steps of the full gradient."""
    problem, theta0 = small()
    eta = 1e-8
    moved = run(steps=n, step=eta, batch=1, sampling=sampling).theta - theta0
    full = np.zeros_like(theta0)
    problem.loss_and_gradient(theta0, full)
    agrees = np.linalg.norm(moved + eta * n * full) < 1e-5 * np.linalg.norm(moved)
    assert agrees == visits_each_once


def test_what_cannot_be_drawn_is_refused() -> None:
    problem, theta0 = small()
    with pytest.raises(BadInput, match=r"^flow\.batch = 13: more than the 12 training samples$"):
        SGD(steps=1, step=0.1, batch=13).start(problem, theta0, streams())
    problem.fresh = None
    with pytest.raises(BadInput, match=r"^flow\.fresh = true: these data are not a law"):
        SGD(steps=1, step=0.1, batch=1, fresh=True).start(problem, theta0, streams())
    with pytest.raises(BadInput, match=r"sampling = 'epochs': not with fresh = true"):
        SGD(steps=1, step=0.1, batch=1, fresh=True, sampling="epochs")


@pytest.mark.parametrize("fields", [{"momentum": 0.9}, {"weight_decay": 0.3}, {"momentum": 0.5, "weight_decay": 0.2},
                                    {"weight_decay": 0.2, "decay_to": "start", "decay_until": 7},
                                    {"momentum": 0.8, "weight_decay": 0.1, "decay_to": "start"}])  # fmt: skip
def test_momentum_and_weight_decay_against_numpy(fields: dict[str, Any]) -> None:
    """v ← βv − η(g + λ(θ − θ̄)), θ ← θ + v, over all samples in one batch, so that the order does not matter."""
    problem, theta0 = small()
    flow = SGD(steps=20, step=0.1, batch=12, **fields)
    state = flow.start(problem, theta0, streams())
    flow.advance(problem, state, 20, float("inf"))
    theta, v, grad = theta0.copy(), np.zeros_like(theta0), np.zeros_like(theta0)
    towards = theta0 if flow.decay_to == "start" else np.zeros_like(theta0)
    for step in range(20):
        problem.loss_and_gradient(theta, grad)
        decay = flow.weight_decay if flow.decay_until is None or step < flow.decay_until else 0.0
        v = flow.momentum * v - 0.1 * (grad + decay * (theta - towards))
        theta = theta + v
    assert np.allclose(state.theta, theta, rtol=1e-10, atol=1e-12)


def test_layer_by_layer() -> None:
    """Only one layer moves at a time, each with the whole schedule; a network without named layers is refused."""
    rng = np.random.default_rng(0)
    network: Any = networks.get("resnet3", width=5, outputs=2)
    X, y = rng.standard_normal((8, 3)), rng.standard_normal((8, 2))
    problem, theta0 = Problem.of(Bound(network, 3), X, y, 1.0), network.initialise(3, rng)
    first, second = network.stages(3)
    fields: dict[str, Any] = {"schedule": "piecewise", "drop_steps": (10,), "drop_factors": (0.1,)}
    flow = SGD(steps=20, step=0.1, batch=8, layerwise=True, **fields)
    state = flow.start(problem, theta0, streams())
    times = []
    for until in (5, 10, 15, 20):
        flow.advance(problem, state, until, float("inf"))
        moved = state.theta != theta0
        assert moved[first.start : first.stop].any()
        assert moved[second.start : second.stop].any() == (until > 10)
        times.append(state.time)
        if until == 10:
            halfway = state.theta.copy()
    assert np.array_equal(state.theta[first.start : first.stop], halfway[first.start : first.stop])
    assert np.allclose(np.diff([0.0, *times]), [0.5, 0.05, 0.5, 0.05])
    half: Any = networks.get("resnet3", width=5, outputs=2, trained="first")
    problem = Problem.of(Bound(half, 3), X, y, 1.0)
    frozen = SGD(steps=20, step=0.1, batch=8, layerwise=True, weight_decay=0.5)
    state = frozen.start(problem, theta0, streams())
    frozen.advance(problem, state, 20, float("inf"))
    assert np.array_equal(state.theta[second.start :], theta0[second.start :]), "decay moved what is not trained"
    problem, theta0 = small()
    with pytest.raises(BadInput, match=r"flow\.layerwise = true: the network does not say which part"):
        SGD(steps=2, step=0.1, batch=12, layerwise=True).start(problem, theta0, streams())
