"""Every network keeps its contract; what the two-layer net is, and what is refused."""

from __future__ import annotations

import doctest
from typing import Any

import numpy as np
import pytest

from simlab import networks
from simlab.core import catalogue
from simlab.core.errors import BadInput
from simlab.networks import TwoLayer
from simlab.networks import network as network_file
from simlab.networks.bound import Bound

n, d = 6, 4
EXAMPLES = [networks.get(kind, **fields) for kind, fields in catalogue.all_examples("networks")]
MAPS = [network for network in EXAMPLES if isinstance(network, networks.FeatureMap)]


@pytest.mark.parametrize("network", EXAMPLES, ids=repr)
def test_every_network_keeps_its_contract(network: networks.Network) -> None:
    networks.check(network)


def test_the_example_of_the_contract_is_true() -> None:
    assert doctest.testmod(network_file).failed == 0
    assert doctest.testmod(network_file).attempted > 10


@pytest.mark.parametrize("network", [net for net in EXAMPLES if isinstance(net, networks.Trainable)], ids=repr)
def test_another_generator_gives_another_function(network: networks.Trainable) -> None:
    """But for those that start at f = 0."""
    X = np.random.default_rng(0).standard_normal((n, d))
    f, other = (network.forward(network.initialise(d, np.random.default_rng(seed)), X) for seed in (1, 2))
    if network.model_dump().get("doubled") or network.model_dump().get("coefficient_std") == 0.0:
        assert np.allclose(f, 0.0, atol=1e-14)
    else:
        assert not np.allclose(f, other)


@pytest.mark.parametrize("network", MAPS, ids=repr)
def test_features_of_other_inputs_than_drawn_for_are_refused(network: networks.FeatureMap) -> None:
    weights = network.draw(d, np.random.default_rng(1))
    with pytest.raises(BadInput, match=f"X: {d + 1} columns; the weights were drawn for {d}"):
        network.features_of(weights, np.zeros((n, d + 1)))
    with pytest.raises(BadInput, match=r"X has shape \(4,\): must be \(n, d\)"):
        network.features_of(weights, np.zeros(d))


@pytest.mark.parametrize(
    ("name", "fields", "says"),
    [
        ("random_features", {"width": 4, "bias_std": 0.1}, "bias_std = 0.1: the normalised family has no bias"),
        (
            "random_features",
            {"width": 4, "activation": TwoLayer(width=1)},
            "activation.kind = 'two_layer': not an activation",
        ),
        ("neural_tangent", {"width": 4, "activation": "step"}, "activation = 'step': it jumps"),
        ("mlp", {"width": 4, "depth": 1, "bottleneck": 2}, "bottleneck = 2: a net of depth 1 has no hidden layer"),
        ("fourier_features", {"width": 4, "scale": 0.0}, "scale = 0.0: must be greater than 0"),
        ("two_layer", {"width": 0}, "width = 0: must be greater than or equal to 1"),
        ("two_layer", {"width": 5, "doubled": True}, "width = 5: must be even"),
        ("two_layer", {"width": 5, "activation": "sign"}, "activation = 'sign': it jumps"),
    ],
)
def test_impossible_networks_are_refused(name: str, fields: dict[str, Any], says: str) -> None:
    with pytest.raises(BadInput, match=says) as caught:
        networks.get(name, **fields)
    assert "\n" not in str(caught.value)


def test_arrays_of_the_wrong_shape_are_refused() -> None:
    bound = Bound(TwoLayer(width=3), d)
    theta, X = np.zeros(15), np.zeros((n, d))
    with pytest.raises(BadInput, match=r"X has shape \(6, 3\): must be \(n, 4\)"):
        bound.value(theta, X[:, 1:])
    with pytest.raises(BadInput, match=r"theta has shape \(14,\): must be \(15,\)"):
        bound.value(theta[1:], X)
    with pytest.raises(BadInput, match=r"v has shape \(3,\): must be \(15,\)"):
        bound.push(theta, theta[:3], X)
    with pytest.raises(BadInput, match=r"y has shape \(5,\): must be \(6, 1\)"):
        bound.loss_and_gradient(theta, X, np.zeros(5))
    with pytest.raises(BadInput, match="dtype = int64: must be float64 or float32"):
        Bound(TwoLayer(width=3), d, np.int64)


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
        net = TwoLayer(width=width)
        K = net.tangent_gram(net.initialise(8, rng), X)
        assert np.max(np.abs(K - limit)) < 18 / np.sqrt(width)


@pytest.mark.parametrize("doubled", [False, True])
def test_inner_weights_of_their_own_size(doubled: bool) -> None:
    """The same draw: left out, or equal to init_std, bit for bit; else W alone is scaled."""
    plain, same, other, unit = (
        TwoLayer(width=6, bias=True, doubled=doubled, init_std=0.3, inner_std=inner).initialise(
            d, np.random.default_rng(1)
        )
        for inner in (None, 0.3, 0.9, "unit")
    )
    assert np.array_equal(plain, same)
    for theta, factor in ((other, 3.0), (unit, d**-0.5 / 0.3)):
        assert np.array_equal(theta[:12], plain[:12])
        assert np.allclose(theta[12:], factor * plain[12:], rtol=1e-14)


def test_relu_is_homogeneous() -> None:
    net, rng = TwoLayer(width=9), np.random.default_rng(3)
    theta, X = net.initialise(d, rng), rng.standard_normal((n, d))
    assert np.allclose(net.forward(2 * theta, X), 4 * net.forward(theta, X), rtol=1e-14)


def test_doubled_neurons_start_at_zero_and_nest() -> None:
    narrow, wide = (TwoLayer(width=m, doubled=True, init_std=0.3) for m in (4, 10))
    X = np.random.default_rng(0).standard_normal((n, d))
    theta, wider = (net.initialise(d, np.random.default_rng(1)) for net in (narrow, wide))
    assert np.max(np.abs(narrow.forward(theta, X))) < 1e-16
    for small, large in zip(narrow.neurons(theta), wide.neurons(wider), strict=True):
        assert np.array_equal(small, large[:4])
    unit = TwoLayer(width=4, doubled=True).initialise(d, np.random.default_rng(1))
    assert np.allclose(theta, 0.3 * unit, rtol=1e-15)
