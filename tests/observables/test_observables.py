"""Every observable declares what it measures; the measurements against direct formulas; bad settings are refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.linalg import expm

from simlab import kernels, networks
from simlab.core import lookup
from simlab.core.params import parse
from simlab.data import ball_fourier
from simlab.networks import linearised, resnet3, three_layer_mean_field, two_layer
from simlab.observables import (
    effective_rank,
    kernel_distance,
    linear_distance,
    residual_power,
    tangent_drift,
    tangent_spectrum,
    teacher_alignment,
    weight_movement,
)
from simlab.observables.view import Setting, View, check, need
from simlab.targets import ball, gegenbauer, separation

Floats = NDArray[np.float64]
d = 4
rng = np.random.default_rng(0)
network = two_layer.Params(width=30, doubled=True)
theta0 = two_layer.initialise(network, d, rng)


class Teacher:
    neurons, coefficients = np.eye(d)[:2], np.ones(2)

    def __call__(self, X: Floats) -> Floats:
        f: Floats = np.maximum(X @ self.neurons.T, 0.0) @ self.coefficients
        return f


def on_sphere(n: int) -> Floats:
    X = rng.standard_normal((n, d))
    return X / np.linalg.norm(X, axis=1, keepdims=True)


X, X_test = on_sphere(9), on_sphere(60)
view = View(
    theta=theta0 + 0.1 * rng.standard_normal(theta0.size), theta0=theta0, X=X, y=Teacher()(X), X_test=X_test,
    y_test=Teacher()(X_test), network=network, alpha=2.0, step=3, time=0.6, step_size=0.2, target=Teacher(),
    linear=theta0 - 0.1,
)  # fmt: skip


three_layer = three_layer_mean_field.Params(width=12, outer_width=5)
OF_THREE_LAYERS = ("discretisation_error", "first_layer", "loss_split", "neuron_symmetry", "outer_particles")


resnet = resnet3.Params(width=6, outputs=2)
hierarchy_theta = resnet3.initialise(resnet, d, np.random.default_rng(3))
HIERARCHY = separation.draw(separation.Params(size=2, alpha=0.4), d, np.random.default_rng(4))
OF_SEVERAL_OUTPUTS = ("hierarchy", "validation_error")


def changed_view(**fields: Any) -> View:
    """Another instant of another flow."""
    return replace(view, **({"cache": {}} | fields))


def view_for(kind: str, start: bool = False, **fields: Any) -> View:
    """An instant of a network that the kind is about, or the start."""
    begun = {"step": 0, "time": 0.0} if start else {}
    if kind == "fourier_picture":
        theta = two_layer.initialise(network, 2, np.random.default_rng(1))
        law, target = ball_fourier.Params(dim=2), ball.draw(ball.Params(), 2, np.random.default_rng(2))
        now = theta if start else 1.1 * theta
        return changed_view(theta=now, theta0=theta, linear=None, data=law, target=target, **begun, **fields)
    if kind in OF_SEVERAL_OUTPUTS:
        now = hierarchy_theta if start else 1.1 * hierarchy_theta
        return changed_view(
            network=resnet, theta=now, theta0=hierarchy_theta, linear=None, target=HIERARCHY, y=HIERARCHY(X),
            y_test=HIERARCHY(X_test), X_validation=X, y_validation=HIERARCHY(X), **begun, **fields,
        )  # fmt: skip
    if kind not in OF_THREE_LAYERS:
        return changed_view(**({"theta": theta0, "linear": theta0} if start else {}), **begun, **fields)
    theta = three_layer_mean_field.initialise(three_layer, d, np.random.default_rng(1))
    now = theta if start else theta + 0.1 * np.random.default_rng(2).standard_normal(theta.size)
    return changed_view(network=three_layer, theta=now, theta0=theta, linear=None, **begun, **fields)


@pytest.mark.parametrize(("kind", "fields"), lookup.all_examples("observables"))
def test_measures_what_it_declares(kind: str, fields: dict[str, Any]) -> None:
    module = lookup.get("observables", kind)
    params = module.Params(**fields)
    declared = module.outputs(params)
    for instant in (view_for(kind), view_for(kind, start=True)):
        measured = module.measure(params, instant)
        assert set(declared) == set(measured)
        for name, output in declared.items():
            assert output.description
            assert np.ndim(measured[name]) == len(output.inner)
            assert np.all(np.isfinite(measured[name]))
            for size, dim in zip(np.shape(measured[name]), output.inner, strict=True):
                assert dim not in output.coords or len(output.coords[dim]) == size


@pytest.mark.parametrize(("kind", "fields"), lookup.all_examples("observables"))
def test_what_is_kept_changes_no_bit(kind: str, fields: dict[str, Any]) -> None:
    """After a stop the records before it are gone, and with them what was kept."""
    module = lookup.get("observables", kind)
    params, cache = module.Params(**fields), {}  # type: ignore[var-annotated]
    module.measure(params, view_for(kind, start=True, cache=cache))
    after, fresh = (module.measure(params, view_for(kind, cache=known)) for known in (cache, {}))
    assert {k: np.asarray(v).tobytes() for k, v in after.items()} == {
        k: np.asarray(v).tobytes() for k, v in fresh.items()
    }


def test_without_test_data_the_test_loss_is_nan() -> None:
    assert np.isnan(view.half_mean_square(np.empty((0, d)), np.empty(0)))


def test_weight_movement() -> None:
    moved = weight_movement.measure(weight_movement.Params(), changed_view(theta=theta0 + 0.1))
    assert moved["weight_movement"] == pytest.approx(0.1 * np.sqrt(theta0.size), rel=1e-12)
    twice, net = np.concatenate([theta0, theta0]), linearised.Params(network=network)
    now = np.concatenate([theta0 + 0.1, theta0])
    assert moved == weight_movement.measure(
        weight_movement.Params(), changed_view(theta=now, theta0=twice, network=net)
    )


def test_tangent_spectrum_predicts_the_first_steps_of_a_wide_net() -> None:
    """Σ λ_i = trace(K)/n, Σ power = |αf − y|²/n, and ½ Σ power (1 − ηλ)² is the loss after one small step."""
    found = tangent_spectrum.measure(tangent_spectrum.Params(), view)
    lam, power = found["tangent_eigenvalue"], found["tangent_power"]
    K = two_layer.tangent_gram(network, view.theta, view.X)
    assert lam.sum() == pytest.approx(np.trace(K) / 9, rel=1e-12)
    assert np.all(np.diff(lam) >= 0)
    assert power.sum() / 2 == pytest.approx(view.half_mean_square(view.X, view.y), rel=1e-12)


def test_tangent_drift() -> None:
    """A net of which only the second layer is trained keeps its kernel; scaled, a kernel is as far as its factor."""
    second = two_layer.Params(width=30, trained="second")
    theta = theta0.copy()
    theta[:30] *= 3.0
    still = tangent_drift.measure(tangent_drift.Params(), changed_view(network=second, theta=theta))
    assert still["tangent_drift"] == 0.0
    # φ is 1-homogeneous: weights twice as large make a kernel four times as large.
    found = tangent_drift.measure(tangent_drift.Params(limit=True), changed_view(theta=2.0 * theta0))
    assert found["tangent_drift"] == pytest.approx(3.0, rel=1e-12)
    K, y = two_layer.tangent_gram(network, theta0, X), view.y
    cosine = np.sum(K * np.outer(y, y)) / np.sqrt(np.sum(K**2) * np.sum(np.outer(y, y) ** 2))
    assert found["tangent_alignment"] == pytest.approx(cosine, rel=1e-12)
    Theta = kernels.ntk(2, weight_std=d**0.5).gram(X) / d
    assert found["limit_distance"] == pytest.approx(np.linalg.norm(4 * K - Theta) / np.linalg.norm(Theta), rel=1e-9)


@pytest.mark.parametrize("discrete", [True, False])
def test_kernel_distance_is_that_of_descent_in_function_space(discrete: bool) -> None:
    """g ← g − (η/n) K(·, X)(g(X) − y) from the net's own start, step by step; the flow by a matrix exponential."""
    both = np.concatenate([X, X_test])
    K = kernels.ntk(2, weight_std=d**0.5).gram(both, X) / d
    n, steps, eta = len(X), 40, 3.0
    target, start = np.concatenate([view.y, view.y_test]), view.predict(both, theta0)
    if discrete:
        g = start.copy()
        for _ in range(steps):
            g = g - eta / n * K @ (g[:n] - target[:n])
    else:
        left = expm(-eta * steps / n * K[:n]) @ (target - start)[:n]
        g = start + K @ np.linalg.solve(K[:n], (target - start)[:n] - left)
    at = changed_view(step=steps, time=steps * eta, step_size=eta if discrete else None)
    found = kernel_distance.measure(kernel_distance.Params(), at)
    apart = view.predict(both) - g
    expected = {
        "kernel_train_distance": np.sqrt(np.mean(apart[:n] ** 2)),
        "kernel_test_distance": np.sqrt(np.mean(apart[n:] ** 2)),
        "kernel_train_loss": np.mean((g - target)[:n] ** 2) / 2,
        "kernel_test_loss": np.mean((g - target)[n:] ** 2) / 2,
    }
    assert found == pytest.approx(expected, rel=1e-8)


def test_a_kernel_descent_that_diverges_is_infinitely_far() -> None:
    far = changed_view(step=10**6, time=1e8, step_size=100.0)
    assert kernel_distance.measure(kernel_distance.Params(), far)["kernel_train_distance"] == np.inf


def test_residual_power_finds_the_degrees_of_the_target() -> None:
    """A doubled net starts at 0: the residual is the target, of power 2 in degree 1 and 1 in degree 3."""
    target = gegenbauer.draw(gegenbauer.Params(degrees=(1, 3), powers=(2.0, 1.0)), d, np.random.default_rng(1))
    many = on_sphere(2000)
    at = changed_view(theta=theta0, X_test=many, y_test=target(many))
    found = residual_power.measure(residual_power.Params(max_degree=4), at)
    z = np.abs(found["residual_power"] - [0, 2, 0, 1, 0]) / found["residual_power_error"]
    assert np.all(z < 5)
    assert np.all(found["residual_power_error"] < 0.15)


def test_effective_ranks() -> None:
    for k in (1, 3):
        both = effective_rank.ranks(np.array([0.0, *[2.0] * k, -1e-17])).values()
        assert list(both) == pytest.approx([k, k], rel=1e-12)
    p = np.array([0.5, 0.25, 0.25])
    found = effective_rank.ranks(7 * p)
    assert found == pytest.approx({"participation_ratio": 8 / 3, "entropy_rank": 2.0**1.5}, rel=1e-12)
    H = two_layer.hidden(network, view.theta, X)
    values = np.linalg.svd(H, compute_uv=False) ** 2
    ratio = effective_rank.measure(effective_rank.Params(), view)["participation_ratio"]
    assert ratio == pytest.approx(values.sum() ** 2 / np.sum(values**2), rel=1e-10)


def test_linear_distance() -> None:
    """At one and the same θ: f less its tangent, whose slope is a central difference."""
    v, h = view.theta - theta0, 1e-6
    slope = (view.predict(X_test, theta0 + h * v) - view.predict(X_test, theta0 - h * v)) / (2 * h)
    apart = view.predict(X_test) - (view.predict(X_test, theta0) + slope)
    found = linear_distance.measure(linear_distance.Params(), changed_view(linear=view.theta))
    assert found["linear_weight_distance"] == 0.0
    assert found["linear_test_distance"] == pytest.approx(np.sqrt(np.mean(apart**2)), rel=1e-6)
    assert need([linear_distance.Params()], "linearised")
    assert not need([weight_movement.Params()], "linearised")


def test_teacher_alignment_finds_planted_neurons() -> None:
    """Three neurons along v_1, between v_1 and v_2, and a dead one against v_1."""
    small = two_layer.Params(width=3)
    W = np.array([[5.0, 0, 0, 0], [1.0, 1.0, 0, 0], [-1.0, 0, 0, 0]])
    theta = np.concatenate([[1.0, -2.0, 0.0], W.ravel()])
    found = teacher_alignment.measure(teacher_alignment.Params(), changed_view(network=small, theta=theta))
    assert found["alignment_max"] == pytest.approx([1.0, 0.5**0.5], rel=1e-12)
    between = 2 * 2**0.5  # |a|‖w‖ of the second
    assert found["alignment_mean"] == pytest.approx(
        [(5 + between * 0.5**0.5) / (5 + between), between * 0.5**0.5 / (5 + between)], rel=1e-12
    )


SETTING: dict[str, Any] = {
    "network": {"kind": "two_layer", "width": 6},
    "target": {"kind": "relu_teacher"},
    "data": {"kind": "uniform_sphere", "dim": 3},
    "samples": 5,
    "test_samples": 50,
}


def setting(**changed: Any) -> Setting:
    tables = SETTING | changed
    rooms = {"network": "networks", "target": "targets", "data": "data"}
    chosen = {}
    for name, room in rooms.items():
        table = dict(tables[name])
        chosen[name] = parse(lookup.get(room, table.pop("kind")).Params, table)
    return Setting(**chosen, samples=tables["samples"], test_samples=tables["test_samples"])


MLP = {"kind": "mlp", "width": 5, "depth": 3}
THREE = {"kind": "three_layer_mean_field", "width": 6}


@pytest.mark.parametrize(
    ("kind", "fields", "changed", "says"),
    [
        ("tangent_drift", {"points": 6}, {}, r"tangent_drift\.points = 6: there are 5 train samples"),
        ("tangent_drift", {"inputs": "test"}, {"test_samples": 0}, r'tangent_drift\.inputs = "test": there are no'),
        ("tangent_drift", {"limit": True}, {"network": MLP | {"bottleneck": 2}}, r"true with network\.bottleneck"),
        ("kernel_distance", {}, {"test_samples": 0}, "test_samples = 0: the observable kernel_distance"),
        ("kernel_distance", {}, {"network": MLP | {"bottleneck": 2}}, r"kernel_distance with network\.bottleneck = 2"),
        ("residual_power", {}, {"test_samples": 39}, "test_samples = 39: residual_power needs 40"),
        ("residual_power", {}, {"data": {"kind": "boolean_cube", "dim": 3}}, r"data\.kind = 'boolean_cube'"),
        ("residual_power", {"limit": True}, {"data": {"kind": "gaussian", "dim": 3}}, r"data\.kind = 'gaussian'"),
        (
            "residual_power",
            {"limit": True},
            {"network": MLP, "data": {"kind": "uniform_sphere", "dim": 3, "radius": 2.0}},
            r"data\.radius = 2\.0",
        ),
        ("linear_distance", {}, {"test_samples": 0}, "test_samples = 0: the observable linear_distance"),
        (
            "first_layer",
            {},
            {"network": THREE, "test_samples": 9},
            "test_samples = 9: first_layer needs 10, one for each",
        ),
        ("loss_split", {}, {"network": THREE, "test_samples": 1}, "test_samples = 1: loss_split splits the loss there"),
        (
            "discretisation_error",
            {},
            {"network": THREE | {"width": 12001}},
            r"network\.width = 12001: discretisation_error compares all pairs of at most 12000",
        ),
        ("neuron_snapshots", {"neurons": 7}, {}, r"neuron_snapshots\.neurons = 7: the network has 6"),
        ("neuron_snapshots", {"neurons": 2}, {"network": MLP}, r"network\.kind = 'mlp': neuron_snapshots needs"),
        ("teacher_alignment", {}, {"target": {"kind": "gegenbauer"}}, r"target\.kind = 'gegenbauer': teacher"),
        (
            "effective_rank",
            {},
            {"network": {"kind": "fourier_features", "width": 3}},
            r"network\.kind = 'fourier_features': effective_rank needs",
        ),
    ],
)
def test_settings_that_make_no_sense_are_refused(
    kind: str, fields: dict[str, Any], changed: dict[str, Any], says: str
) -> None:
    params = lookup.get("observables", kind).Params(**fields)
    with pytest.raises(ValueError, match=says):
        check([params], setting(**changed))


def test_two_observables_of_one_name_are_refused_and_good_ones_pass() -> None:
    same = lookup.get("observables", "train_loss").Params()
    with pytest.raises(ValueError, match="observables: train_loss is recorded by two of them"):
        check([same, same], setting())
    every = [
        lookup.get("observables", kind).Params(**lookup.examples("observables", kind)[0])
        for kind in lookup.kinds("observables")
        if kind not in ("teacher_alignment", "risk", "fourier_picture", *OF_THREE_LAYERS, *OF_SEVERAL_OUTPUTS)
    ]
    check(every, setting())
    with pytest.raises(ValueError, match="risk is known in a population_flow alone"):
        check([lookup.get("observables", "risk").Params()], setting())
    assert networks.get("two_layer", width=6) == setting().network


@pytest.mark.parametrize("kind", OF_THREE_LAYERS)
def test_observables_of_three_layers_refuse_other_networks(kind: str) -> None:
    params = lookup.get("observables", kind).Params()
    check([params], setting(network={"kind": "three_layer_mean_field", "width": 6}))
    with pytest.raises(
        ValueError, match=rf"network\.kind = 'two_layer': {kind} needs its .* \(three_layer_mean_field\)"
    ):
        check([params], setting())
