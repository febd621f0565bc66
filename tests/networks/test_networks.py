"""Every network: gradient against central differences, tangent kernel against the Jacobian, scale invariances."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from simlab.core import lookup
from simlab.networks import two_layer

KINDS = lookup.all_examples("networks")
n, d = 6, 4


def problem(kind: str, fields: dict[str, Any]) -> tuple[ModuleType, Any, NDArray[Any], NDArray[Any], NDArray[Any]]:
    module = lookup.get("networks", kind)
    params = module.Params(**fields)
    rng = np.random.default_rng(1)
    theta = module.initialise(params, d, rng)
    return module, params, theta, rng.standard_normal((n, d)), rng.standard_normal(n)


def loss_and_gradient(
    module: ModuleType, params: Any, theta: NDArray[Any], X: NDArray[Any], y: NDArray[Any], alpha: float
) -> tuple[float, NDArray[Any]]:
    out = np.full_like(theta, np.nan)
    scratch = np.full(module.scratch_size(params, d, n), np.nan)
    scale = alpha * module.output_scale(params)
    return module.gradient(theta, X, y, module.sizes(params, d), scale, out, scratch), out


@pytest.mark.parametrize(("kind", "fields"), KINDS)
@pytest.mark.parametrize("alpha", [1.0, 3.0])
def test_loss_and_gradient(kind: str, fields: dict[str, Any], alpha: float) -> None:
    """The loss is (1/2n)Σ(α f − y)² of `forward`; its gradient agrees with central differences to O(h²)."""
    module, params, theta, X, y = problem(kind, fields)

    def loss(at: NDArray[Any]) -> float:
        return float(np.mean((alpha * module.forward(params, at, X) - y) ** 2) / 2)

    value, gradient = loss_and_gradient(module, params, theta, X, y, alpha)
    assert value == pytest.approx(loss(theta), rel=1e-13)
    h = 1e-6
    numeric = [(loss(theta + h * e) - loss(theta - h * e)) / (2 * h) for e in np.eye(theta.size)]
    assert np.allclose(gradient, numeric, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize(("kind", "fields"), KINDS)
def test_tangent_kernel_is_the_gram_of_the_jacobian(kind: str, fields: dict[str, Any]) -> None:
    module, params, theta, X, _ = problem(kind, fields)
    h = 1e-6
    columns = [
        (module.forward(params, theta + h * e, X) - module.forward(params, theta - h * e, X)) / (2 * h)
        for e in np.eye(theta.size)
    ]
    J = np.array(columns).T
    assert np.allclose(module.tangent_gram(params, theta, X), J @ J.T, rtol=1e-7, atol=1e-9)


def test_two_layer_tangent_kernel_tends_to_its_limit() -> None:
    """On the unit sphere with N(0,1) weights K → κ1(u)/2 + u κ0(u)/2 entrywise (MATH §2, §3), at rate m^(-1/2).

    Per entry K is a mean of m terms of standard deviation at most 3, so 6·3/√m bounds it at six standard errors.
    """
    rng = np.random.default_rng(0)
    X = rng.standard_normal((5, 8))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    u = np.clip(X @ X.T, -1, 1)
    angle = np.arccos(u)
    kappa0, kappa1 = 1 - angle / np.pi, (np.sin(angle) + (np.pi - angle) * u) / np.pi
    # w·x is N(0, 1) here, so E relu relu = κ1/2 and E 1 1 = κ0/2.
    limit = kappa1 / 2 + u * kappa0 / 2
    for width in (1000, 100_000):
        params = two_layer.Params(width=width)
        K = two_layer.tangent_gram(params, two_layer.initialise(params, 8, rng), X)
        assert np.max(np.abs(K - limit)) < 18 / np.sqrt(width)


def test_relu_is_homogeneous() -> None:
    params = two_layer.Params(width=9)
    rng = np.random.default_rng(3)
    theta, X = two_layer.initialise(params, d, rng), rng.standard_normal((n, d))
    assert np.allclose(two_layer.forward(params, 2 * theta, X), 4 * two_layer.forward(params, theta, X), rtol=1e-14)
