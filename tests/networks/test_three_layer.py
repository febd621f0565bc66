"""The three-layer mean-field net against MATH §8 written out in NumPy, and the symmetry that it is made for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simlab.networks import ThreeLayerMeanField
from simlab.networks.bound import diverged_weights
from simlab.sphere.mean_relu import mean_relu


def problem(n: int = 40, d: int = 5, **fields: Any) -> tuple[Any, Any, Any, Any]:
    """(network, θ, X, y)"""
    net = ThreeLayerMeanField(**({"width": 9, "outer_width": 6} | fields))
    rng = np.random.default_rng(3)
    theta = net.initialise(d, rng)
    return net, theta, 2.0 * rng.standard_normal((n, d)), rng.standard_normal(n)


@pytest.mark.parametrize("fields", [{}, {"w2": 1.0, "b2": -0.3}, {"width": 30, "outer_width": 2, "norms": "equal"}])
def test_the_flow_in_particle_time_is_that_of_the_equations(fields: dict[str, Any]) -> None:
    """v̇ = E S₂ [v̄σ(v·x) + ‖v‖σ'(v·x)x],  ẇ = E(f*−f)σ'F,  ḃ = E(f*−f)σ', E the mean over the samples."""
    net, theta, X, y = problem(**fields)
    V, w, b = net.particles(theta)
    Z, norm = X @ V.T, np.linalg.norm(V, axis=1)
    F = np.maximum(Z, 0) @ norm / net.width
    A = np.multiply.outer(F, w) + b
    gap = y - np.maximum(A, 0).mean(axis=1)
    S = gap * ((A > 0) @ w) / net.outer_width
    dV = (np.maximum(Z, 0).T @ S / len(X))[:, None] * V / norm[:, None] + norm[:, None] * (
        (Z > 0).T @ (S[:, None] * X)
    ) / len(X)
    loss, grad = net.loss_and_gradient(theta, X, y)
    moved = net.particles(theta - 1e-3 * net.width * grad)
    assert loss == pytest.approx(0.5 * np.mean(gap**2), rel=1e-13)
    for found, now, expected in zip(
        moved, (V, w, b), (dV, (gap * F) @ (A > 0) / len(X), gap @ (A > 0) / len(X)), strict=True
    ):
        assert np.allclose((found - now) / 1e-3, expected, rtol=1e-9, atol=1e-11)


def test_the_first_layer_is_homogeneous() -> None:
    net, theta, X, _ = problem(width=50, outer_width=7)
    assert np.allclose(net.first_layer(theta, 3.0 * X), 3.0 * net.first_layer(theta, X), rtol=1e-13)


def test_neurons_of_every_kind_beside_each_other() -> None:
    """Some stop, some start, some are always active and some never; two kinks coincide; a first-layer neuron is 0."""
    net, _, X, y = problem(width=3, outer_width=7)
    c = (3 / 7) ** 0.5
    w, b = np.array([-1, -1, 2, 1, -1, 0, -2.0]), np.array([1, 0.5, -0.5, 0.2, -0.1, 0.3, 1.0])
    V = np.vstack([np.zeros(5), np.random.default_rng(0).standard_normal((2, 5))])
    theta = np.concatenate([V.ravel(), c * w, c * b])
    F = net.first_layer(theta, X)
    assert np.allclose(net.outer(w, b, F), net.forward(theta, X), rtol=1e-12, atol=1e-14)
    _, grad = net.loss_and_gradient(theta, X, y)
    assert not grad[:5].any()  # no direction to go
    h = 1e-7
    for k in range(5, theta.size):
        if theta[k] == 0.0:
            continue
        e = np.zeros(theta.size)
        e[k] = h
        losses = [0.5 * np.mean((net.forward(theta + s * e, X) - y) ** 2) for s in (1, -1)]
        assert grad[k] == pytest.approx((losses[0] - losses[1]) / (2 * h), rel=1e-5, abs=1e-8)


@pytest.mark.parametrize("norms", ["random", "equal"])
def test_the_first_layer_of_many_neurons_is_alpha_times_the_radius(norms: str) -> None:
    d, m = 6, 40_000
    net = ThreeLayerMeanField(width=m, norms=norms, init_std=1.5)
    theta = net.initialise(d, np.random.default_rng(5))
    X = np.random.default_rng(6).standard_normal((50, d))
    ratio = net.first_layer(theta, X) / np.linalg.norm(X, axis=1)
    alpha = net.mean_alpha(d)
    assert alpha == pytest.approx(mean_relu(d) * 1.5**2)
    # A term ‖v‖²σ(v̄·x̄) varies by less than its root mean square, ~ 1.5² √(2 · 1/2d).
    error = 1.5**2 * (1 / d) ** 0.5 / m**0.5
    assert np.abs(ratio - alpha).max() < 4.5 * error
    assert net.alpha(theta) == pytest.approx(alpha, rel=0.02 if norms == "random" else 1e-12)


def test_widths_share_their_neurons() -> None:
    narrow, wide = (ThreeLayerMeanField(width=m) for m in (4, 16))
    small, large = (net.particles(net.initialise(3, np.random.default_rng(1))) for net in (narrow, wide))
    assert np.array_equal(small[0], large[0][:4])
    for a, b in zip(small[1:], large[1:], strict=True):
        assert np.allclose(a, b, rtol=1e-15)


def test_a_stretched_law_has_the_mean_that_it_tells() -> None:
    net = ThreeLayerMeanField(width=100_000, stretch=3.0)
    theta = net.initialise(4, np.random.default_rng(2))
    assert net.alpha(theta) == pytest.approx(net.mean_alpha(4), rel=0.02)


def test_a_weight_that_is_no_number_makes_the_loss_none() -> None:
    net, theta, X, y = problem()
    for at in (-1, -net.outer_width - 1, 0):
        broken = theta.copy()
        broken[at] = np.nan
        with diverged_weights():
            loss, _ = net.loss_and_gradient(broken, X, y)
        assert np.isnan(loss)
