"""The three-layer ResNet and its rivals against their formulas; exact tangent kernels of all outputs."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from simlab import networks
from simlab.core.errors import BadInput
from simlab.networks import ResNet3, resnet3

n, d, k, m = 9, 4, 3, 6
X = np.random.default_rng(0).standard_normal((n, d))
FORMS = [
    ("residual", "factored"),
    ("residual", "full"),
    ("plain", "factored"),
    ("plain", "full"),
    ("two_layer", "factored"),
]


def start(net: ResNet3, seed: int = 1) -> NDArray[np.float64]:
    return net.initialise(d, np.random.default_rng(seed))


@pytest.mark.parametrize(("form", "inner"), FORMS)
def test_the_formula(form: str, inner: str) -> None:
    """A(σ(Wx + b₁) + σ(Uσ(Wx + b₁) + b₂)) written out, U = VA where it is factored."""
    net = ResNet3(width=m, outputs=k, form=form, inner=inner)
    theta = start(net)
    W, b1, V, b2, A = net.weights(theta, d)
    for x, f in zip(X, net.forward(theta, X), strict=True):
        first = np.maximum(W @ x + b1, 0.0)
        if form == "two_layer":
            expected = A @ first
        else:
            U = V if inner == "full" else V @ A
            second = np.maximum(U @ first + b2, 0.0)
            expected = A @ (first + second if form == "residual" else second)
        assert np.allclose(f, expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(("form", "inner"), FORMS)
@pytest.mark.parametrize("trained", ["both", "first", "second"])
def test_every_form_keeps_the_contract(form: str, inner: str, trained: str) -> None:
    """The tangent kernels of all outputs, and of their mean, among the rest."""
    if form == "two_layer" and trained == "second":
        with pytest.raises(BadInput, match="trained = 'second': form = 'two_layer' has no second hidden layer"):
            ResNet3(width=m, outputs=k, form=form, trained=trained)
        return
    networks.check(ResNet3(width=m, outputs=k, form=form, inner=inner, trained=trained))


def test_tangent_kernel_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    net = ResNet3(width=m, outputs=k)
    theta = start(net)
    whole = net.tangent_blocks(theta, X)
    monkeypatch.setattr(resnet3, "DELTA_FLOATS", 4 * k * m)
    assert np.allclose(net.tangent_blocks(theta, X), whole, rtol=1e-12, atol=1e-14)


def test_features_are_what_the_output_layer_sees() -> None:
    for form, inner in FORMS:
        net = ResNet3(width=m, outputs=k, form=form, inner=inner)
        theta = start(net)
        A = net.weights(theta, d)[-1]
        f = m**0.5 * net.features(theta, X) @ A.T
        assert np.allclose(f, net.forward(theta, X), rtol=1e-12, atol=1e-14)


def test_weights_are_drawn_as_stated() -> None:
    """Variances 1/d and 1/m, of biases like their matrices': within 5 standard errors √(2/count)."""
    net = ResNet3(width=4000, outputs=k)
    W, b1, V, b2, A = net.weights(start(net), d)
    for values, variance in ((W, 1 / d), (b1, 1 / d), (V, 1 / 4000), (b2, 1 / 4000), (A, 1 / 4000)):
        assert abs(np.mean(values**2) / variance - 1) < 5 * (2 / values.size) ** 0.5
    none = ResNet3(width=5, outputs=k, bias_scale=0.0)
    assert not np.any(none.weights(start(none), d)[1])


def test_stages_are_the_hidden_layers() -> None:
    net = ResNet3(width=m, outputs=k)
    first, second = net.stages(d)
    theta = start(net)
    W, b1, V, b2, A = net.weights(theta, d)
    assert np.array_equal(theta[first.start : first.stop], np.concatenate([W.ravel(), b1]))
    assert np.array_equal(theta[second.start : second.stop], np.concatenate([V.ravel(), b2]))
    assert theta.size - second.stop == A.size


def test_bad_input() -> None:
    with pytest.raises(BadInput, match=r"activation = 'step': it jumps"):
        ResNet3(width=2, outputs=2, activation="step")
    net = ResNet3(width=m, outputs=k)
    with pytest.raises(BadInput, match=r"theta has shape \(3,\): must be \("):
        net.weights(np.zeros(3), d)
