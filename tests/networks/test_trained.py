"""What the trained networks are to one another, and deep tangent kernels against their limits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from simlab import networks
from simlab.core.errors import BadInput
from simlab.kernels import ntk
from simlab.networks import MLP, Linearised, NeuralTangent, RandomFeatures, TwoLayer, _gram
from simlab.networks.bound import Bound
from simlab.networks.network import Trainable

n, d, m = 300, 4, 6  # rows: more than a tile
X, y = np.random.default_rng(0).standard_normal((n, d)), np.random.default_rng(5).standard_normal(n)
GENERAL = {"weight_std": 1.3, "bias_std": 0.4}


def start(net: Trainable, seed: int = 1) -> NDArray[np.float64]:
    return net.initialise(d, np.random.default_rng(seed))


def close(a: Any, b: Any, rel: float = 1e-12) -> bool:
    return bool(np.max(np.abs(np.subtract(a, b))) <= rel * np.max(np.abs(b)))


def test_a_net_of_depth_two_is_two_layer() -> None:
    """Normalised, without a bias, f is √2 times that of two_layer, its layers in the other order."""
    deep, flat = MLP(depth=2, width=m), TwoLayer(width=m)
    theta = start(deep)

    def turned(weights: NDArray[Any]) -> NDArray[Any]:
        return np.concatenate([weights[m * d :], weights[: m * d]])

    loss, gradient = deep.loss_and_gradient(theta, X, y, 1.7)
    loss_flat, gradient_flat = flat.loss_and_gradient(turned(theta), X, y, 1.7 * 2**0.5)
    assert loss == pytest.approx(loss_flat, rel=1e-13)
    assert close(turned(gradient), gradient_flat)


def test_parametrisations_differ_by_their_factors_alone() -> None:
    """W = factor · V makes ∂/∂V = factor · ∂/∂W; and f of mean_field is f/√m."""
    fields = {"depth": 3, "width": m, "activation": "tanh", **GENERAL}
    usual, standard = (MLP(parametrisation=p, **fields) for p in ("ntk", "standard"))
    V, W = start(usual), start(standard)
    assert close(standard.forward(W, X), usual.forward(V, X), 1e-13)
    assert close(standard.features(W, X), usual.features(V, X), 1e-13)
    (loss, by_W), (usual_loss, by_V) = standard.loss_and_gradient(W, X, y), usual.loss_and_gradient(V, X, y)
    assert loss == pytest.approx(usual_loss, rel=1e-13)
    assert close(by_V, by_W * W / V)
    assert np.allclose(np.unique(np.round(W / V, 12)), sorted({1.3 / d**0.5, 1.3 / m**0.5, 0.4}))
    fields = {"depth": 3, "width": m, "activation": "tanh"}
    usual, mean_field = (MLP(parametrisation=p, **fields) for p in ("ntk", "mean_field"))
    loss, gradient = mean_field.loss_and_gradient(start(mean_field), X, y, m**0.5)
    usual_loss, usual_gradient = usual.loss_and_gradient(start(usual), X, y)
    assert loss == pytest.approx(usual_loss, rel=1e-13)
    assert close(gradient, usual_gradient)


@pytest.mark.parametrize(
    "network", [{"kind": "two_layer", "width": m}, {"kind": "mlp", "depth": 3, "width": m, "outputs": 2, **GENERAL}]
)
def test_linearised(network: dict[str, Any]) -> None:
    """f_lin = f_θ0 + J(θ − θ0), so that its loss gradient is affine in θ; at θ0 it is the network, bit for bit."""
    net = Linearised(network=network)
    inner, tangent = Bound(net.network, d), Bound(net, d)
    c, P = inner.loops.outputs, inner.loops.size
    Y = np.random.default_rng(2).standard_normal((n, c))
    theta0, theta = start(net.network), start(net)
    assert np.array_equal(theta, net.around(theta0))
    assert np.array_equal(tangent.value(theta, X), inner.value(theta0, X))
    residual = (2.0 * inner.value(theta0, X) - Y) * (2.0 / n)  # α(αf − y)/n at θ0 for α = 2
    assert np.array_equal(tangent.loss_and_gradient(theta, X, Y, 2.0)[1][:P], inner.pull(theta0, residual, X))
    a, b = (np.concatenate([start(net.network, seed), theta0]) for seed in (3, 4))
    moved = inner.push(theta0, a[:P] - theta0, X)
    assert close(tangent.value(a, X), inner.value(theta0, X) + moved)
    far = inner.value(a[:P], X) - inner.value(theta0, X)
    assert not close(far, moved, 0.1)
    gradients = [tangent.loss_and_gradient(at, X, Y)[1] for at in (a, b, a + b - theta, theta)]
    assert close(gradients[0] + gradients[1], gradients[2] + gradients[3])
    assert np.array_equal(net.tangent_gram(a, X[:5]), net.network.tangent_gram(theta0, X[:5]))


def test_random_features_are_two_layer_with_its_first_layer_frozen() -> None:
    """f = √2 times two_layer's: a few steps of descent, step by step."""
    features = RandomFeatures(width=m, coefficient_std=1.0)
    flat = TwoLayer(width=m, trained="second")
    theta, other = start(features), start(features)
    for _ in range(5):
        loss, gradient = features.loss_and_gradient(theta, X, y)
        loss_flat, gradient_flat = flat.loss_and_gradient(other, X, y, 2**0.5)
        assert loss == pytest.approx(loss_flat, rel=1e-12)
        theta, other = theta - 0.1 * gradient, other - 0.1 * gradient_flat
    assert close(theta, other)
    assert np.array_equal(theta[m:], start(features)[m:])
    assert not close(theta[:m], start(features)[:m], 0.1)


def test_tangent_features_are_the_tangent_of_two_layer() -> None:
    """√2 J c with the outer weights at 1."""
    features = NeuralTangent(width=m, coefficient_std=1.0)
    theta = start(features)
    c, W = theta[: -m * d], theta[-m * d :]
    Jc = TwoLayer(width=m).push(np.concatenate([np.ones(m), W]), c, X)
    assert close(features.forward(theta, X), 2**0.5 * Jc)


@pytest.mark.parametrize("cls", [RandomFeatures, NeuralTangent])
def test_feature_nets_are_their_features_times_coefficients(cls: type[Any]) -> None:
    for fields in cls.examples:
        net = cls(**fields | {"coefficient_std": 0.7})
        theta = start(net)
        p, W = net.count(d), net.draw(d, np.random.default_rng(1))
        assert np.array_equal(theta[p:], W.ravel())
        assert close(net.forward(theta, X), net.features_of(W, X) @ theta[:p])
        Phi = net.features_of(W, X[:9])
        assert close(net.tangent_gram(theta, X[:9]), Phi @ Phi.T)


@pytest.mark.parametrize(("depth", "activation", "general"), [(3, "relu", {}), (3, "erf", GENERAL), (4, "gelu", {})])
def test_tangent_kernel_tends_to_ntk(depth: int, activation: str, general: dict[str, float]) -> None:
    """40 draws of width 300 with 2 outputs, of which K is the mean; the bias is of order 1/300."""
    net = MLP(depth=depth, width=300, outputs=2, activation=activation, **general)
    at = X[:4] * ((d**0.5 if general else 1.0) / np.linalg.norm(X[:4], axis=1, keepdims=True))
    draws = np.array([net.tangent_gram(start(net, seed), at) for seed in range(40)])

    def score(limit: NDArray[np.float64]) -> float:
        return float(np.max(np.abs(draws.mean(axis=0) - limit) / (draws.std(axis=0, ddof=1) / 40**0.5)))

    assert score(ntk(depth, activation, **general).gram(at)) < 5.0
    assert score(ntk(depth + 1, activation, **general).gram(at)) > 5.0


def test_tangent_kernel_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    net = MLP(depth=3, width=m, outputs=2, **GENERAL)
    theta = start(net)
    whole, against = net.tangent_gram(theta, X[:13]), net.tangent_gram(theta, X[:13], X[13:20])
    monkeypatch.setattr(_gram, "MOST_ROWS", 5)
    monkeypatch.setattr(_gram, "LEAST_ROWS", 5)
    assert close(net.tangent_gram(theta, X[:13]), whole)
    assert close(net.tangent_gram(theta, X[:13], X[13:20]), against)


def test_a_thousand_layers() -> None:
    """⟨J v, R⟩ = ⟨v, Jᵀ R⟩, with tiles of few rows."""
    net = MLP(depth=1000, width=40, activation="tanh", weight_std=1.5, bias_std=0.1)
    bound, theta = Bound(net, d), start(net)
    assert bound.loops.sizes[0] < 60
    v, R = start(net, 2), np.random.default_rng(3).standard_normal(150)
    left = float(bound.push(theta, v, X[:150])[:, 0] @ R)
    assert np.isfinite(left)
    assert left == pytest.approx(float(v @ bound.pull(theta, R, X[:150])), rel=1e-9)


def test_what_cannot_be_trained_is_refused() -> None:
    net = MLP(depth=2, width=m, activation="sign")
    theta = start(net)
    assert set(np.sign(net.features(theta, X)).ravel()) == {-1.0, 1.0}
    for attempt in (lambda: Bound(net, d), lambda: net.tangent_gram(theta, X)):
        with pytest.raises(BadInput, match=r"^activation = 'sign': it jumps, so that .*; use one that does not$"):
            attempt()
    for fields, says in [
        ({"network": {"kind": "linearised", "network": {"kind": "two_layer", "width": 2}}}, "linear already"),
        (
            {"network": {"kind": "fourier_features", "width": 2}},
            "it has no gradient to descend along .allowed: linearised, mlp, ",
        ),
    ]:
        with pytest.raises(BadInput, match=says):
            networks.get("linearised", **fields)
    with pytest.raises(BadInput, match="parametrisation = 'mean_field': a net of depth 1 has no hidden layer"):
        MLP(depth=1, width=2, parametrisation="mean_field")
    features = RandomFeatures(width=8, activation="step")
    with pytest.raises(BadInput, match=r"theta has shape \(5,\): must be \(40,\) for inputs in R\^4"):
        features.tangent_gram(np.zeros(5), X)
