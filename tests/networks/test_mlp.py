"""Deep random nets against the Gaussian process they tend to: covariance, conjugate kernel, width, bottleneck."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from simlab.core.errors import BadInput
from simlab.kernels import nngp
from simlab.networks import MLP

SIGMAS = 5.0
n, d = 4, 5
X = np.random.default_rng(3).standard_normal((n, d))
X /= np.linalg.norm(X, axis=1, keepdims=True)
GENERAL = {"weight_std": 1.3, "bias_std": 0.4}


def covariances(net: MLP, at: NDArray[np.float64], repeats: int) -> NDArray[np.float64]:
    """f fᵀ of independent draws, each a mean over its outputs: (repeats, n, n)"""
    rng, found = np.random.default_rng(8), []
    for _ in range(repeats):
        f = net.forward(net.initialise(d, rng), at)
        found.append(f @ f.T / net.outputs)
    return np.array(found)


def conjugate(net: MLP, repeats: int) -> NDArray[np.float64]:
    """H Hᵀ of independent draws, (repeats, n, n)"""
    rng = np.random.default_rng(9)
    H = [net.features(net.initialise(d, rng), X) for _ in range(repeats)]
    return np.array([h @ h.T for h in H])


def scores(samples: NDArray[np.float64], expected: NDArray[np.float64]) -> NDArray[np.float64]:
    error = samples.std(axis=0, ddof=1) / np.sqrt(len(samples))
    scored: NDArray[np.float64] = np.abs(samples.mean(axis=0) - expected) / error
    return scored


@pytest.mark.parametrize(
    ("depth", "activation", "general"),
    [
        (1, "relu", GENERAL),
        (2, "relu", {}),
        (2, "erf", GENERAL),
        (3, "relu", {}),
        (3, "gelu", GENERAL),
        (4, "relu", GENERAL),
    ],
)
def test_covariance_over_draws_tends_to_nngp(depth: int, activation: Any, general: dict[str, float]) -> None:
    """200 draws of width 200 with 50 outputs: standard error about 2 %, the bias of order 1/200 less than that."""
    net = MLP(depth=depth, width=200, outputs=50, activation=activation, **general)
    at = X * (np.sqrt(d) if general else 1.0)
    samples, K = covariances(net, at, 200), nngp(depth, activation, **general).gram(at)
    assert scores(samples, K).max() < SIGMAS
    assert scores(samples, 1.15 * K).max() > SIGMAS
    if depth > 1:
        assert scores(samples, nngp(depth + 1, activation, **general).gram(at)).max() > SIGMAS


@pytest.mark.parametrize(("depth", "general"), [(2, {}), (3, GENERAL)])
def test_conjugate_kernel_tends_to_nngp_with_variance_one_over_width(depth: int, general: dict[str, float]) -> None:
    spread = []
    for width in (60, 120):
        samples = conjugate(MLP(depth=depth, width=width, **general), 400)
        spread.append(samples.var(axis=0).mean())
    assert scores(samples, nngp(depth, **general).gram(X)).max() < SIGMAS
    # A variance from 400 draws of 10 dependent entries: within 20 %.
    assert spread[0] / spread[1] == pytest.approx(2.0, rel=0.2)


def test_a_bottleneck_keeps_the_conjugate_kernel_random_and_the_output_from_being_gaussian() -> None:
    """For normalised ReLU E H² = 1 on the diagonal, and the variance of a mean of m terms 2 relu(z)² is 5/m.

    Of two layers of widths k and m it is 5/k + (1 + 5/k)·5/m, which stays at 5/k; the excess kurtosis of f, Gaussian
    with that random variance, is three times it; and for k = 2 both neurons are off, f = 0, in a quarter of the nets.
    """
    repeats, m = 1000, 100
    for k in (2, m):
        net, rng = MLP(depth=3, width=m, bottleneck=k), np.random.default_rng(9)
        thetas = [net.initialise(d, rng) for _ in range(repeats)]
        squares = np.array([np.sum(net.features(theta, X[:1]) ** 2) for theta in thetas])
        deviations = (squares - 1) ** 2
        error = deviations.std() / np.sqrt(repeats)
        variance = 5 / k + (1 + 5 / k) * 5 / m
        assert abs(deviations.mean() - variance) < SIGMAS * error
        # Given the layers below the top one f² has the mean `squares`, and f⁴ three times its square.
        f = np.array([net.forward(theta, X[:1])[0] for theta in thetas])
        error = (f**4).std() / np.sqrt(repeats)
        assert abs(np.mean(f**4) - 3 * (1 + variance)) < SIGMAS * error
        dead = 0.5**k
        assert abs(np.mean(f == 0) - dead) <= SIGMAS * np.sqrt(dead / repeats)


def test_one_output_is_the_top_row() -> None:
    one, three = (MLP(depth=3, width=6, outputs=k, **GENERAL) for k in (1, 3))
    theta = three.initialise(d, np.random.default_rng(0))
    assert np.allclose(one.forward(theta[: one.size(d)], X), three.forward(theta, X)[:, 0], rtol=1e-13)


def test_by_hand() -> None:
    """A net of depth 3 written out."""
    net = MLP(depth=3, width=6, **GENERAL)
    theta = net.initialise(d, np.random.default_rng(0))
    one = np.ones(1)
    W1, W2, W3 = theta[: 6 * 6].reshape(6, 6), theta[36 : 36 + 42].reshape(6, 7), theta[78:].reshape(1, 7)
    for x, f in zip(X, net.forward(theta, X), strict=True):
        h = W1 @ np.concatenate([1.3 / np.sqrt(5) * x, 0.4 * one])
        h = W2 @ np.concatenate([1.3 / np.sqrt(6) * np.maximum(h, 0), 0.4 * one])
        h = W3 @ np.concatenate([1.3 / np.sqrt(6) * np.maximum(h, 0), 0.4 * one])
        assert f == pytest.approx(h[0], rel=1e-13)


def test_weights_of_another_size_are_refused() -> None:
    with pytest.raises(BadInput, match=r"theta has shape \(5,\): must be \(18,\) for inputs in R\^5"):
        MLP(depth=2, width=3).forward(np.zeros(5), X)
