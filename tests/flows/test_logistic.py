"""The logistic loss: linear models against scikit-learn, and lazy training beside the linearised network."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from simlab import flows, losses, networks
from simlab.core.rng import Streams
from simlab.flows.problem import GOING, Problem
from simlab.networks.bound import Bound

Floats = NDArray[np.float64]
LINEAR = networks.MLP(width=1, depth=1, weight_std=2.0)  # f(x) = (2/√d) ⟨θ, x⟩, which is ⟨θ, x⟩ in R⁴
DIM = 4


def problem_of(network: Any, X: Floats, y: Floats, alpha: float = 1.0) -> Problem:
    return Problem.of(Bound(network, X.shape[1]), X, y, alpha, losses.Logistic())


def ended(flow: Any, problem: Problem, theta0: Floats) -> Floats:
    state = flow.start(problem, theta0, Streams(0))
    flow.advance(problem, state, flow.last(), 1e9)
    assert state.ending == GOING
    return state.theta


@pytest.mark.parametrize("decay", [0.3, 0.03])
def test_weight_decay_leads_to_logistic_regression(decay: float) -> None:
    """Descent on all samples has the limit argmin (1/n) Σ log(1 + e^(−y⟨w, x⟩)) + λ‖w‖²/2, of C = 1/(nλ) there."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, DIM))
    y = np.where(X @ [2.0, -1.0, 0.5, 0.0] + rng.standard_normal(80) > 0, 1.0, -1.0)
    assert np.array_equal(LINEAR.forward(np.eye(DIM)[1], X), X[:, 1])
    flow = flows.SGD(steps=3000, step=1.0, batch=len(X), weight_decay=decay)
    theta = ended(flow, problem_of(LINEAR, X, y), rng.standard_normal(DIM))
    peer = LogisticRegression(C=1 / (len(X) * decay), fit_intercept=False, tol=1e-12, max_iter=10_000)
    np.testing.assert_allclose(theta, peer.fit(X, y).coef_[0], rtol=0, atol=1e-6)


def test_several_outputs_lead_to_multinomial_regression() -> None:
    rng = np.random.default_rng(1)
    X = rng.standard_normal((90, DIM))
    y = np.argmax(X[:, :3] + rng.standard_normal((90, 3)), axis=1)
    loss, network = losses.Softmax(), LINEAR.model_copy(update={"outputs": 3})
    problem = Problem.of(Bound(network, DIM), X, loss.encode(y, 3), 1.0, loss)
    flow = flows.SGD(steps=3000, step=1.0, batch=len(X), weight_decay=0.05)
    theta = ended(flow, problem, np.zeros(3 * DIM))
    peer = LogisticRegression(C=1 / (len(X) * 0.05), fit_intercept=False, tol=1e-12, max_iter=10_000)
    np.testing.assert_allclose(theta.reshape(3, DIM), peer.fit(X, y).coef_, rtol=0, atol=1e-6)


def test_separable_data_turn_the_weights_to_the_largest_margin() -> None:
    """Soudry et al., 2018: the direction of gradient flow tends to that of the support vector machine, like 1/log t.

    With every (x, y) also (−x, −y) is a sample, so that the machine's intercept is 0.
    """
    rng = np.random.default_rng(2)
    X = rng.standard_normal((20, DIM))
    margins = X @ [1.0, 0.5, 0.0, 0.0]
    X = X[np.abs(margins) > 0.3]
    X, y = np.concatenate([X, -X]), np.sign(np.concatenate([X, -X]) @ [1.0, 0.5, 0.0, 0.0])
    machine = SVC(kernel="linear", C=1e6, tol=1e-8).fit(X, y)
    assert abs(machine.intercept_[0]) < 1e-5
    best = machine.coef_[0] / np.linalg.norm(machine.coef_)
    problem, flow = problem_of(LINEAR, X, y), flows.ODE(end_time=1e6, method="Radau", rtol=1e-8, atol=1e-10)
    state, angles, norms = flow.start(problem, 0.1 * rng.standard_normal(DIM), Streams(0)), [], []
    for until in 10.0 ** np.arange(7):
        flow.advance(problem, state, until, 1e9)
        norms.append(np.linalg.norm(state.theta))
        angles.append(np.arccos(np.clip(state.theta @ best / norms[-1], -1, 1)))
    assert state.ending == GOING
    assert np.all(np.diff(norms[2:]) > 0), "the weights go to infinity"
    assert np.all(np.diff(angles[2:]) < 0), angles
    assert angles[-1] < 0.5 * angles[2], angles
    assert np.all(y * (X @ state.theta) > 0)


def distance_to_linearised(alpha: float, seed: int) -> float:
    """RMS over new inputs of α f − α f_lin, after the flow of the logistic loss up to time 4 from one start."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((12, DIM))
    y, new = np.where(np.sin(2 * X[:, 0]) + X[:, 1] > 0, 1.0, -1.0), rng.standard_normal((40, DIM))
    network: Any = networks.TwoLayer(width=16, activation="tanh", doubled=True)
    linear, theta0 = networks.Linearised(network=network), network.initialise(DIM, rng)
    assert np.max(np.abs(network.forward(theta0, X))) < 1e-14
    flow = flows.ODE(end_time=4.0, method="DOP853", rtol=1e-11, atol=1e-13, alpha=alpha)
    found = ended(flow, problem_of(network, X, y, alpha), theta0)
    straight = ended(flow, problem_of(linear, X, y, alpha), linear.around(theta0))
    apart = alpha * (network.forward(found, new) - linear.forward(straight, new))
    assert np.sqrt(np.mean((alpha * linear.forward(straight, new)) ** 2)) > 0.1, "it learned something"
    return float(np.sqrt(np.mean(apart**2)))


def test_lazy_training_stays_near_the_linearised_network() -> None:
    """Lazy training with a smooth loss: the distance is O(1/α).

    Of neurons in pairs it is O(1/α²): the second-order terms of f, δa φ' δw and a φ'' δw²/2, are equal and opposite
    in the two of a pair, whose δa are equal and whose a and δw are opposite.
    """
    alphas = np.array([2.0, 4.0, 8.0, 16.0, 32.0])
    distances = np.array([[distance_to_linearised(alpha, seed) for alpha in alphas] for seed in range(4)])
    rates = np.array([np.polyfit(np.log(alphas), np.log(row), 1)[0] for row in distances])
    assert np.all(rates < -0.9), rates
    error = rates.std(ddof=1) / len(rates) ** 0.5
    assert abs(rates.mean() + 2) < 4 * error + 0.2, rates
