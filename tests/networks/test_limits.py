"""Random features, tangent features and deep nets against the kernels they tend to, within Monte Carlo error.

Each estimate is a mean over independent draws; its standard error is measured from the same draws, and every entry must
lie within 5 standard errors of the kernel, where a kernel that is 15 % larger does not.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.distance import pdist, squareform

from simlab import activations, networks
from simlab.core.errors import BadInput
from simlab.kernels import nngp, ntk
from simlab.networks.network import FeatureMap

SIGMAS = 5.0
n, d = 6, 4


def on_sphere(radius: float = 1.0) -> NDArray[np.float64]:
    X = np.random.default_rng(3).standard_normal((n, d))
    return radius * X / np.linalg.norm(X, axis=1, keepdims=True)


def draws(features: FeatureMap, X: NDArray[np.float64], repeats: int) -> NDArray[np.float64]:
    """Φ Φᵀ of independent draws, (repeats, n, n)"""
    rng, found = np.random.default_rng(17), []
    for _ in range(repeats):
        Phi = features.features_of(features.draw(X.shape[1], rng), X)
        found.append(Phi @ Phi.T)
    return np.array(found)


def scores(samples: NDArray[np.float64], expected: NDArray[np.float64]) -> NDArray[np.float64]:
    """Deviations of the mean over draws, in standard errors; rounding counts as none."""
    error = samples.std(axis=0, ddof=1) / np.sqrt(len(samples))
    scored: NDArray[np.float64] = np.abs(samples.mean(axis=0) - expected) / (error + 1e-12)
    return scored


GENERAL = {"weight_std": 1.3, "bias_std": 0.4}


@pytest.mark.parametrize(
    ("activation", "general"), [("relu", {}), ("erf", {}), ("step", {}), ("relu", GENERAL), ("gelu", GENERAL)]
)
def test_random_features_tend_to_nngp(activation: Any, general: dict[str, float]) -> None:
    X = on_sphere(2.0 if general else 1.0)
    features = networks.RandomFeatures(width=200, activation=activation, **general)
    samples, K = draws(features, X, 100), nngp(2, activation, **general).gram(X)
    assert scores(samples, K).max() < SIGMAS
    # The same draws tell this kernel from a near one.
    assert scores(samples, 1.15 * K).max() > SIGMAS


@pytest.mark.parametrize(("activation", "general"), [("relu", {}), ("erf", {}), ("relu", GENERAL), ("gelu", GENERAL)])
def test_tangent_features_tend_to_ntk(activation: Any, general: dict[str, float]) -> None:
    X = on_sphere(2.0 if general else 1.0)
    both, first = (
        networks.NeuralTangent(width=200, activation=activation, parts=parts, **general) for parts in ("both", "first")
    )
    K, Theta = nngp(2, activation, **general).gram(X), ntk(2, activation, **general).gram(X)
    assert scores(draws(both, X, 100), Theta).max() < SIGMAS
    assert scores(draws(first, X, 100), Theta - K).max() < SIGMAS
    assert scores(draws(first, X, 100), Theta).max() > SIGMAS


def test_weights_on_the_sphere_have_the_same_limit_for_relu() -> None:
    """‖w‖² factors out, with mean d in both laws; for erf in d = 4 the limit is another."""
    X = on_sphere(2.0)
    for cls, limit in ((networks.RandomFeatures, nngp), (networks.NeuralTangent, ntk)):
        features = cls(width=200, law="sphere", weight_std=1.0)
        W = features.draw(d, np.random.default_rng(0))
        assert np.allclose(np.linalg.norm(W, axis=1), 2.0)
        assert scores(draws(features, X, 100), limit(2, weight_std=1.0).gram(X)).max() < SIGMAS
    erf = networks.RandomFeatures(width=200, law="sphere", activation="erf", weight_std=2.0)
    assert scores(draws(erf, X, 100), nngp(2, "erf", weight_std=2.0).gram(X)).max() > SIGMAS


def test_tangent_features_are_the_gradient_of_the_net() -> None:
    """Φ = ∂/∂(a, c, W) of σ/√N Σ a_j φ(w_j·x̃) + σ_b c at a = 1, by central differences."""
    features = networks.NeuralTangent(width=5, activation="tanh", **GENERAL)
    W, X = features.draw(d, np.random.default_rng(1)), on_sphere(2.0)
    lifted = np.column_stack([1.3 * X / np.sqrt(d), np.full(n, 0.4)])

    def net(at: NDArray[np.float64]) -> NDArray[np.float64]:
        a, c, w = at[:5], at[5], at[6:].reshape(5, d + 1)
        out: NDArray[np.float64] = 1.3 / np.sqrt(5) * np.tanh(lifted @ w.T) @ a + 0.4 * c
        return out

    at, h = np.concatenate([np.ones(6), W.ravel()]), 1e-5
    J = np.array([(net(at + h * e) - net(at - h * e)) / (2 * h) for e in np.eye(at.size)]).T
    assert np.allclose(features.features_of(W, X), J, rtol=1e-8, atol=1e-9)


def test_a_function_of_ones_own_makes_the_same_features() -> None:
    X, own = on_sphere(2.0), activations.custom(np.tanh, dphi=lambda z: 1.0 / np.cosh(z) ** 2)
    for cls in (networks.RandomFeatures, networks.NeuralTangent):
        ours, theirs = (cls(width=5, activation=phi, **GENERAL) for phi in ("tanh", own))
        W = ours.draw(d, np.random.default_rng(2))
        assert np.allclose(ours.features_of(W, X), theirs.features_of(W, X), rtol=1e-12)


def fourier_kernel(kernel: str, Z: NDArray[np.float64]) -> NDArray[np.float64]:
    """Written out again, by pairs of rows."""
    by_hand = {
        "gaussian": lambda x, y: np.exp(-((x - y) @ (x - y)) / 2),
        "laplacian": lambda x, y: np.exp(-np.abs(x - y).sum()),
        "cauchy": lambda x, y: 1 / np.prod(1 + (x - y) ** 2),
    }
    found: NDArray[np.float64] = squareform(pdist(Z, by_hand[kernel])) + np.eye(len(Z))
    return found


@pytest.mark.parametrize("kernel", ["gaussian", "laplacian", "cauchy"])
@pytest.mark.parametrize("sampling", ["random", "sobol"])
def test_fourier_features_tend_to_their_kernel(kernel: str, sampling: str) -> None:
    X = on_sphere()
    features = networks.FourierFeatures(width=256, kernel=kernel, scale=1.7, sampling=sampling)
    K = features.exact(X)
    assert np.allclose(K, fourier_kernel(kernel, X / 1.7), rtol=1e-14)
    samples = draws(features, X, 100)
    assert scores(samples, K).max() < SIGMAS
    assert scores(samples, fourier_kernel(kernel, X / 1.9)).max() > SIGMAS


def test_fourier_error_falls_as_the_root_of_the_width_and_sobol_faster() -> None:
    """Root mean square error in one dimension: a slope of −1/2 in log–log against the width, and less than −0.8."""
    X = np.linspace(-1, 1, 6)[:, np.newaxis]
    slopes = {}
    for sampling in ("random", "sobol"):
        errors = []
        for width in (64, 1024):
            features = networks.FourierFeatures(width=width, sampling=sampling)
            errors.append(np.sqrt(np.mean((draws(features, X, 100) - features.exact(X)) ** 2)))
        slopes[sampling] = np.log(errors[1] / errors[0]) / np.log(1024 / 64)
    assert slopes["random"] == pytest.approx(-0.5, abs=0.05)
    assert slopes["sobol"] < -0.8


def test_too_many_dimensions_for_sobol_are_refused() -> None:
    features = networks.FourierFeatures(width=2, sampling="sobol")
    with pytest.raises(BadInput, match="sampling = 'sobol': at most 21200 dimensions"):
        features.draw(30_000, np.random.default_rng(0))
