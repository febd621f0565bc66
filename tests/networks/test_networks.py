"""Every network, by what it defines: nets, trainable nets (loops and tangent kernel against the
Jacobian by central differences) and feature maps."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numba
import numpy as np
import pytest
from numpy.typing import NDArray

from simlab import networks
from simlab.core import lookup
from simlab.core.errors import BadInput
from simlab.core.params import parse
from simlab.networks import two_layer
from simlab.networks.bound import Bound, diverged_weights

NET = {"initialise", "forward"}
TRAINABLE = NET | {"loops", "tangent_gram"}
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


def jacobian(module: ModuleType, params: Any, theta: NDArray[Any], X: NDArray[Any], trained: range) -> NDArray[Any]:
    """∂f(x_i)_c/∂θ : (n, c, P), by central differences over what is trained, zero elsewhere."""
    h = 1e-6
    J = np.zeros((n, getattr(params, "outputs", 1), theta.size))
    for k in trained:
        e = np.zeros(theta.size)
        e[k] = h
        change = module.forward(params, theta + e, X) - module.forward(params, theta - e, X)
        J[:, :, k] = change.reshape(n, -1) / (2 * h)
    return J


@pytest.mark.parametrize("kind", lookup.kinds("networks"))
def test_every_kind_belongs_to_a_group_and_to_the_whole_of_it(kind: str) -> None:
    defined = set(vars(lookup.get("networks", kind)))
    assert defined >= NET or defined >= FEATURES
    for names, mark in ((NET, "forward"), (TRAINABLE, "loops"), (FEATURES, "features")):
        assert mark not in defined or names <= defined


@pytest.mark.parametrize(("kind", "fields"), group(NET))
def test_a_net_is_a_function_of_each_row(kind: str, fields: dict[str, Any]) -> None:
    module, params, theta, X, _ = problem(kind, fields)
    f = module.forward(params, theta, X)
    outputs = getattr(params, "outputs", 1)
    assert f.shape == ((n,) if outputs == 1 else (n, outputs))
    assert np.allclose(f[::-1], module.forward(params, theta, X[::-1]), rtol=1e-12, atol=1e-14)
    assert np.array_equal(theta, module.initialise(params, d, np.random.default_rng(1)))
    if getattr(params, "doubled", False) or getattr(params, "coefficient_std", 1.0) == 0.0:
        assert np.allclose(f, 0.0, atol=1e-14)
    else:
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
    with pytest.raises(BadInput, match=r"X has shape \(4,\): must be \(n, d\)"):
        module.features(params, weights, np.zeros(d))


@pytest.mark.parametrize(
    ("name", "fields", "says"),
    [
        ("random_features", {"width": 4, "bias_std": 0.1}, "bias_std = 0.1: the normalised family has no bias"),
        ("random_features", {"width": 4, "activation": two_layer.Params(width=1)}, "must be an activation"),
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


@pytest.mark.parametrize(("kind", "fields"), group(TRAINABLE))
def test_loops_against_central_differences(kind: str, fields: dict[str, Any]) -> None:
    """∇R, J v and Jᵀ R by the Jacobian of `forward`; what is not trained is neither read from v nor written."""
    module, params, theta, X, _ = problem(kind, fields)
    rng = np.random.default_rng(2)
    bound = Bound(params, d)
    c = bound.loops.outputs
    y, R, v = rng.standard_normal((n, c)), rng.standard_normal((n, c)), rng.standard_normal(theta.size)
    J = jacobian(module, params, theta, X, bound.trained)
    f = module.forward(params, theta, X).reshape(n, c)
    for alpha in (1.0, 3.0):
        loss, gradient = bound.loss_and_gradient(theta, X, y, alpha)
        residual = alpha * f - y
        assert loss == pytest.approx(np.sum(residual**2) / (2 * n), rel=1e-13)
        assert np.allclose(gradient, np.einsum("ic,ick->k", residual, J) * alpha / n, rtol=1e-7, atol=1e-8)
    assert np.allclose(bound.push(theta, v, X), J @ v, rtol=1e-7, atol=1e-8)
    assert np.allclose(bound.pull(theta, R, X), np.einsum("ic,ick->k", R, J), rtol=1e-7, atol=1e-8)
    frozen = np.ones(theta.size, dtype=bool)
    frozen[bound.trained.start : bound.trained.stop] = False
    other = np.where(frozen, np.nan, v)
    with diverged_weights():
        assert np.array_equal(bound.push(theta, other, X), bound.push(theta, v, X))
    assert not np.any(gradient[frozen])


@pytest.mark.parametrize(("kind", "fields"), group(TRAINABLE))
def test_tangent_kernel_is_the_gram_of_the_jacobian(kind: str, fields: dict[str, Any]) -> None:
    """Summed over the outputs and divided by their number."""
    module, params, theta, X, _ = problem(kind, fields)
    J = jacobian(module, params, theta, X, Bound(params, d).trained)
    K = np.einsum("ick,jck->ij", J, J) / J.shape[1]
    assert np.allclose(module.tangent_gram(params, theta, X), K, rtol=1e-7, atol=1e-8)
    assert np.allclose(module.tangent_gram(params, theta, X, X[:2]), K[:, :2], rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize(("kind", "fields"), group(TRAINABLE))
def test_many_rows_and_single_precision(kind: str, fields: dict[str, Any]) -> None:
    """Blocks and tiles of rows add up to the rows one by one; float32 agrees to its own precision."""
    _, params, theta, _, _ = problem(kind, fields)
    rng = np.random.default_rng(3)
    rows = 613
    X = rng.standard_normal((rows, d))
    exact = Bound(params, d)
    y, v = rng.standard_normal((rows, exact.loops.outputs)), rng.standard_normal(theta.size)
    f, Jv = exact.value(theta, X), exact.push(theta, v, X)
    loss, gradient = exact.loss_and_gradient(theta, X, y, 2.0)
    parts = [exact.loss_and_gradient(theta, X[i : i + 20], y[i : i + 20], 2.0) for i in range(0, rows, 20)]
    weights = [len(X[i : i + 20]) / rows for i in range(0, rows, 20)]
    scale = np.max(np.abs(gradient))
    assert loss == pytest.approx(sum(w * part for w, (part, _) in zip(weights, parts, strict=True)), rel=1e-12)
    mean = sum(w * part for w, (_, part) in zip(weights, parts, strict=True))
    assert np.allclose(gradient, mean, rtol=1e-12, atol=1e-13 * scale)
    assert np.allclose(gradient, exact.pull(theta, 2.0 * (2.0 * f - y) / rows, X), rtol=1e-12, atol=1e-13 * scale)
    assert np.allclose(Jv[-20:], exact.push(theta, v, X[-20:]), rtol=1e-12, atol=1e-12)
    single = Bound(params, d, np.float32)
    X32, theta32 = X.astype(np.float32), theta.astype(np.float32)
    loss32, gradient32 = single.loss_and_gradient(theta32, X32, y, 2.0)
    again, again_gradient = exact.loss_and_gradient(theta32, X32, y.astype(np.float32), 2.0)
    assert gradient32.dtype == single.value(theta32, X32).dtype == np.float32
    assert loss32 == pytest.approx(again, rel=1e-5)
    assert np.allclose(gradient32, again_gradient, rtol=0, atol=1e-5 * scale)
    assert np.allclose(single.push(theta32, v, X32), exact.push(theta32, v, X32), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("kind", "fields"), group(TRAINABLE))
def test_the_bits_do_not_depend_on_threads(kind: str, fields: dict[str, Any]) -> None:
    _, params, theta, _, _ = problem(kind, fields)
    rng = np.random.default_rng(4)
    bound = Bound(params, d)
    X, y = rng.standard_normal((700, d)), rng.standard_normal((700, bound.loops.outputs))
    before = numba.get_num_threads()
    found = []
    try:
        for threads in (1, min(2, before)):
            numba.set_num_threads(threads)
            found.append(bound.loss_and_gradient(theta, X, y)[1].tobytes())
    finally:
        numba.set_num_threads(before)
    assert found[0] == found[1]


def test_arrays_of_the_wrong_shape_are_refused() -> None:
    bound = Bound(two_layer.Params(width=3), d)
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
        Bound(two_layer.Params(width=3), d, np.int64)


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


@pytest.mark.parametrize("doubled", [False, True])
def test_inner_weights_of_their_own_size(doubled: bool) -> None:
    """The same draw: left out, or equal to init_std, bit for bit; else W alone is scaled."""
    plain, same, other, unit = (
        two_layer.initialise(
            two_layer.Params(width=6, bias=True, doubled=doubled, init_std=0.3, inner_std=inner),
            d,
            np.random.default_rng(1),
        )
        for inner in (None, 0.3, 0.9, "unit")
    )
    assert np.array_equal(plain, same)
    for theta, factor in ((other, 3.0), (unit, d**-0.5 / 0.3)):
        assert np.array_equal(theta[:12], plain[:12])
        assert np.allclose(theta[12:], factor * plain[12:], rtol=1e-14)


def test_relu_is_homogeneous() -> None:
    params = two_layer.Params(width=9)
    rng = np.random.default_rng(3)
    theta, X = two_layer.initialise(params, d, rng), rng.standard_normal((n, d))
    assert np.allclose(two_layer.forward(params, 2 * theta, X), 4 * two_layer.forward(params, theta, X), rtol=1e-14)


def test_doubled_neurons_start_at_zero_and_nest() -> None:
    narrow, wide = (two_layer.Params(width=m, doubled=True, init_std=0.3) for m in (4, 10))
    X = np.random.default_rng(0).standard_normal((n, d))
    theta, wider = (two_layer.initialise(p, d, np.random.default_rng(1)) for p in (narrow, wide))
    assert np.max(np.abs(two_layer.forward(narrow, theta, X))) < 1e-16
    for small, large in zip(two_layer.neurons(narrow, theta), two_layer.neurons(wide, wider), strict=True):
        assert np.array_equal(small, large[:4])
    unit = two_layer.initialise(two_layer.Params(width=4, doubled=True), d, np.random.default_rng(1))
    assert np.allclose(theta, 0.3 * unit, rtol=1e-15)
