"""Every network, by what it defines: nets, trainable nets (gradient against central differences, tangent kernel against
the Jacobian) and feature maps."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from simlab import networks
from simlab.core import lookup
from simlab.core.errors import BadInput
from simlab.core.params import parse
from simlab.networks import two_layer

NET = {"initialise", "forward"}
TRAINABLE = NET | {"sizes", "output_scale", "scratch_size", "gradient", "tangent_gram"}
FEATURES = {"draw", "count", "features"}
n, d = 6, 4


def group(names: set[str]) -> list[tuple[str, dict[str, Any]]]:
    """The examples of the kinds that define all of these."""
    return [
        (k, fields) for k, fields in lookup.all_examples("networks") if names <= set(vars(lookup.get("networks", k)))
    ]


def problem(kind: str, fields: dict[str, Any]) -> tuple[ModuleType, Any, NDArray[Any], NDArray[Any], NDArray[Any]]:
    module = lookup.get("networks", kind)
    params = parse(module.Params, fields)
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


@pytest.mark.parametrize("kind", lookup.kinds("networks"))
def test_every_kind_belongs_to_a_group_and_to_the_whole_of_it(kind: str) -> None:
    defined = set(vars(lookup.get("networks", kind)))
    assert defined >= NET or defined >= FEATURES
    for names, mark in ((NET, "forward"), (TRAINABLE, "gradient"), (FEATURES, "features")):
        assert mark not in defined or names <= defined


@pytest.mark.parametrize(("kind", "fields"), group(NET))
def test_a_net_is_a_function_of_each_row(kind: str, fields: dict[str, Any]) -> None:
    module, params, theta, X, _ = problem(kind, fields)
    f = module.forward(params, theta, X)
    outputs = getattr(params, "outputs", 1)
    assert f.shape == ((n,) if outputs == 1 else (n, outputs))
    assert np.allclose(f[::-1], module.forward(params, theta, X[::-1]), rtol=1e-12, atol=1e-14)
    assert np.array_equal(theta, module.initialise(params, d, np.random.default_rng(1)))
    assert not np.allclose(f, module.forward(params, module.initialise(params, d, np.random.default_rng(2)), X))


@pytest.mark.parametrize(("kind", "fields"), group(FEATURES))
def test_features_by_parts_are_the_whole(kind: str, fields: dict[str, Any]) -> None:
    module = lookup.get("networks", kind)
    params = parse(module.Params, fields)
    weights, X = module.draw(params, d, np.random.default_rng(1)), np.random.default_rng(0).standard_normal((n, d))
    Phi = module.features(params, weights, X)
    p = module.count(params, d)
    assert Phi.shape == (n, p)
    for begin in range(p):
        for end in range(begin, p + 1):
            part = module.features(params, weights, X, slice(begin, end))
            assert np.allclose(part, Phi[:, begin:end], rtol=1e-12, atol=1e-14)
    assert np.allclose(module.features(params, weights, X[::-1]), Phi[::-1], rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(("kind", "fields"), group(FEATURES))
def test_a_wider_draw_begins_with_the_narrower(kind: str, fields: dict[str, Any]) -> None:
    """So that an error against the width is measured on the same neurons."""
    module = lookup.get("networks", kind)
    narrow, wide = (
        module.draw(parse(module.Params, fields | {"width": width}), d, np.random.default_rng(5)) for width in (5, 23)
    )
    assert np.array_equal(narrow, wide[:5])


@pytest.mark.parametrize(("kind", "fields"), group(FEATURES))
def test_features_of_other_inputs_than_drawn_for_are_refused(kind: str, fields: dict[str, Any]) -> None:
    module = lookup.get("networks", kind)
    params = parse(module.Params, fields)
    weights = module.draw(params, d, np.random.default_rng(1))
    with pytest.raises(BadInput, match=f"X: {d + 1} columns; the weights were drawn for {d}"):
        module.features(params, weights, np.zeros((n, d + 1)))
    with pytest.raises(BadInput, match=r"X: shape \(4,\); must be \(n, d\)"):
        module.features(params, weights, np.zeros(d))


@pytest.mark.parametrize(
    ("name", "fields", "says"),
    [
        ("random_features", {"width": 4, "bias_std": 0.1}, "bias_std = 0.1: the normalised family has no bias"),
        ("random_features", {"width": 4, "activation": two_layer.Params(width=1)}, "must be an activation"),
        ("neural_tangent", {"width": 4, "activation": "step"}, "activation = 'step': it jumps"),
        ("mlp", {"width": 4, "depth": 1, "bottleneck": 2}, "bottleneck = 2: a net of depth 1 has no hidden layer"),
        ("fourier_features", {"width": 4, "scale": 0.0}, "scale = 0.0: must be greater than 0"),
    ],
)
def test_impossible_networks_are_refused(name: str, fields: dict[str, Any], says: str) -> None:
    with pytest.raises(BadInput, match=says) as caught:
        networks.get(name, **fields)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("kind", "fields"), group(TRAINABLE))
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


@pytest.mark.parametrize(("kind", "fields"), group(TRAINABLE))
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
