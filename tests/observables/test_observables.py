"""Every observable declares what it measures; the measurements against direct formulas; bad settings are refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from pydantic import Field
from scipy.linalg import expm

from simlab import activations, kernels, networks, observables, targets
from simlab.core import catalogue
from simlab.core.parsing import choose
from simlab.observables.effective_rank import ranks
from simlab.observables.view import Setting, View, check_setting
from simlab.record.schema import RECORD, Output
from simlab.targets import NeuronSum

Floats = NDArray[np.float64]
d = 4
network = networks.TwoLayer(width=30, doubled=True)
theta0 = network.initialise(d, np.random.default_rng(0))
TEACHER = NeuronSum(np.eye(d)[:2], np.ones(2), activations.ReLU())
OF_THREE_LAYERS = ("discretisation_error", "first_layer", "loss_split", "neuron_symmetry", "outer_particles")
OF_TWO_LAYERS = (
    "effective_rank", "kernel_distance", "linear_distance", "neuron_snapshots", "predictions", "residual_power",
    "tangent_drift", "tangent_spectrum", "test_error", "test_loss", "train_loss", "weight_movement",
)  # fmt: skip


def on_sphere(n: int, seed: int) -> Floats:
    X = np.random.default_rng(seed).standard_normal((n, d))
    return X / np.linalg.norm(X, axis=1, keepdims=True)


X, X_test = on_sphere(9, 1), on_sphere(60, 2)
view = View(
    theta=theta0 + 0.1 * np.random.default_rng(3).standard_normal(theta0.size), theta0=theta0, X=X, y=TEACHER(X),
    X_test=X_test, y_test=TEACHER(X_test), network=network, alpha=2.0, step=3, time=0.6, step_size=0.2, target=TEACHER,
    linear=theta0 - 0.1,
)  # fmt: skip


def changed_view(**fields: Any) -> View:
    """Another instant of another flow."""
    return replace(view, **({"cache": {}} | fields))


@pytest.mark.parametrize(("kind", "fields"), catalogue.all_examples("observables"))
def test_every_observable_keeps_the_contract(kind: str, fields: dict[str, Any]) -> None:
    """It measures what it declares, finite and to the bit the same, whatever was kept from earlier records."""
    observables.check(observables.get(kind, **fields))


class Faulty(observables.Observable):
    """An observable of one number, with a fault to be found."""

    fault: str = Field(description="what is wrong")

    def outputs(self) -> dict[str, Output]:
        dims = (RECORD, "neuron") if self.fault == "dimensions" else (RECORD,)
        coords = {"neuron": np.arange(5)} if self.fault == "dimensions" else {}
        return {"number": Output("" if self.fault == "description" else "a number", dims, coords=coords)}

    def measure(self, view: View) -> dict[str, Any]:
        match self.fault:
            case "names":
                return {"number": 1.0, "other": 2.0}
            case "dimensions":
                return {"number": np.zeros(4)}
            case "finite":
                return {"number": np.nan}
            case "random":
                return {"number": np.random.default_rng().random()}
            case "cache":
                return {"number": view.cached("faulty", lambda: float(view.theta[0]))}
            case "changes":
                view.theta[0] += 1.0
            case "linear":
                return {"number": 0.0 if view.linear is None else 1.0}
        return {"number": 1.0}


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        ("description", "number has no description"),
        ("names", r"other is named by measure\(\) alone"),
        ("dimensions", "number has 4 entries along neuron"),
        ("finite", "number is not finite"),
        ("random", "measured twice at one instant, it gives other numbers"),
        ("cache", r"what it keeps in view\.cache from an earlier record changes"),
        ("changes", r"changed view\.theta"),
        ("linear", r"it reads view\.linear; set needs_linearised"),
    ],
)
def test_the_check_finds_a_planted_fault(fault: str, says: str) -> None:
    with pytest.raises(AssertionError, match=says):
        observables.check(Faulty(fault=fault))


def test_without_test_data_the_test_loss_is_nan() -> None:
    assert np.isnan(view.mean_loss(np.empty((0, d)), np.empty(0)))


def test_weight_movement() -> None:
    moved = observables.WeightMovement().measure(changed_view(theta=theta0 + 0.1))
    assert moved["weight_movement"] == pytest.approx(0.1 * np.sqrt(theta0.size), rel=1e-12)
    twice, net = np.concatenate([theta0, theta0]), networks.Linearised(network=network)
    now = np.concatenate([theta0 + 0.1, theta0])
    assert moved == observables.WeightMovement().measure(changed_view(theta=now, theta0=twice, network=net))


def test_tangent_spectrum_predicts_the_first_steps_of_a_wide_net() -> None:
    """Σ λ_i = trace(K)/n, Σ power = |αf − y|²/n, and ½ Σ power (1 − ηλ)² is the loss after one small step."""
    found = observables.TangentSpectrum().measure(view)
    lam, power = found["tangent_eigenvalue"], found["tangent_power"]
    K = network.tangent_gram(view.theta, view.X)
    assert lam.sum() == pytest.approx(np.trace(K) / 9, rel=1e-12)
    assert np.all(np.diff(lam) >= 0)
    assert power.sum() / 2 == pytest.approx(view.mean_loss(view.X, view.y), rel=1e-12)


def test_tangent_alignment_of_several_outputs() -> None:
    """The cosine of the kernel, its mean over outputs by `tangent_blocks`, and YYᵀ."""
    net, rng = networks.ResNet3(width=6, outputs=2, activation="tanh"), np.random.default_rng(2)
    theta, Y = net.initialise(d, rng), rng.standard_normal((9, 2))
    found = observables.TangentDrift().measure(changed_view(network=net, theta=theta, theta0=theta, y=Y))
    blocks = net.tangent_blocks(theta, X).reshape(9, 2, 9, 2)
    K, YY = np.einsum("iaja->ij", blocks) / 2, Y @ Y.T
    cosine = np.sum(K * YY) / np.sqrt(np.sum(K**2) * np.sum(YY**2))
    assert found["tangent_alignment"] == pytest.approx(cosine, rel=1e-12)
    assert found["tangent_drift"] == 0.0


def test_tangent_drift() -> None:
    """A net of which only the second layer is trained keeps its kernel; scaled, a kernel is as far as its factor."""
    second = networks.TwoLayer(width=30, trained="second")
    theta = theta0.copy()
    theta[:30] *= 3.0
    still = observables.TangentDrift().measure(changed_view(network=second, theta=theta))
    assert still["tangent_drift"] == 0.0
    # φ is 1-homogeneous: weights twice as large make a kernel four times as large.
    found = observables.TangentDrift(limit=True).measure(changed_view(theta=2.0 * theta0))
    assert found["tangent_drift"] == pytest.approx(3.0, rel=1e-12)
    K, y = network.tangent_gram(theta0, X), view.y
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
    found = observables.KernelDistance().measure(at)
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
    assert observables.KernelDistance().measure(far)["kernel_train_distance"] == np.inf


def test_residual_power_finds_the_degrees_of_the_target() -> None:
    """A doubled net starts at 0: the residual is the target, of power 2 in degree 1 and 1 in degree 3."""
    target = targets.Gegenbauer(degrees=(1, 3), powers=(2.0, 1.0)).draw(d, np.random.default_rng(1))
    many = on_sphere(2000, 5)
    at = changed_view(theta=theta0, X_test=many, y_test=target(many))
    found = observables.ResidualPower(max_degree=4).measure(at)
    z = np.abs(found["residual_power"] - [0, 2, 0, 1, 0]) / found["residual_power_error"]
    assert np.all(z < 5)
    assert np.all(found["residual_power_error"] < 0.15)


def test_effective_ranks() -> None:
    for k in (1, 3):
        both = ranks(np.array([0.0, *[2.0] * k, -1e-17])).values()
        assert list(both) == pytest.approx([k, k], rel=1e-12)
    p = np.array([0.5, 0.25, 0.25])
    found = ranks(7 * p)
    assert found == pytest.approx({"participation_ratio": 8 / 3, "entropy_rank": 2.0**1.5}, rel=1e-12)
    H = network.features(view.theta, X)
    values = np.linalg.svd(H, compute_uv=False) ** 2
    ratio = observables.EffectiveRank().measure(view)["participation_ratio"]
    assert ratio == pytest.approx(values.sum() ** 2 / np.sum(values**2), rel=1e-10)


def test_linear_distance() -> None:
    """At one and the same θ: f less its tangent, whose slope is a central difference."""
    v, h = view.theta - theta0, 1e-6
    slope = (view.predict(X_test, theta0 + h * v) - view.predict(X_test, theta0 - h * v)) / (2 * h)
    apart = view.predict(X_test) - (view.predict(X_test, theta0) + slope)
    found = observables.LinearDistance().measure(changed_view(linear=view.theta))
    assert found["linear_weight_distance"] == 0.0
    assert found["linear_test_distance"] == pytest.approx(np.sqrt(np.mean(apart**2)), rel=1e-6)
    assert observables.LinearDistance.needs_linearised
    assert not observables.TrainLoss.needs_linearised


def test_teacher_alignment_finds_planted_neurons() -> None:
    """Three neurons along v_1, between v_1 and v_2, and a dead one against v_1."""
    small = networks.TwoLayer(width=3)
    W = np.array([[5.0, 0, 0, 0], [1.0, 1.0, 0, 0], [-1.0, 0, 0, 0]])
    theta = np.concatenate([[1.0, -2.0, 0.0], W.ravel()])
    found = observables.TeacherAlignment().measure(changed_view(network=small, theta=theta))
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
    chosen = {name: choose(room, tables[name], name) for name, room in rooms.items()}
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
    with pytest.raises(ValueError, match=says):
        check_setting([observables.get(kind, **fields)], setting(**changed))


def test_two_observables_of_one_name_are_refused_and_good_ones_pass() -> None:
    same = observables.get("train_loss")
    with pytest.raises(ValueError, match="observables: train_loss is recorded by two of them"):
        check_setting([same, same], setting())
    good = {kind: catalogue.get("observables", kind).examples[0] for kind in OF_TWO_LAYERS}
    check_setting([observables.get(kind, **fields) for kind, fields in good.items()], setting())
    with pytest.raises(ValueError, match="risk is known in a population_flow alone"):
        check_setting([observables.get("risk")], setting())
    assert networks.get("two_layer", width=6) == setting().network


@pytest.mark.parametrize("kind", OF_THREE_LAYERS)
def test_observables_of_three_layers_refuse_other_networks(kind: str) -> None:
    observable = observables.get(kind)
    check_setting([observable], setting(network={"kind": "three_layer_mean_field", "width": 6}))
    with pytest.raises(
        ValueError, match=rf"network\.kind = 'two_layer': {kind} needs its .* \(.*three_layer_mean_field"
    ):
        check_setting([observable], setting())


@pytest.mark.parametrize(
    ("kind", "fields", "needs"),
    [
        ("teacher_alignment", {}, "the target that gave y"),
        ("hierarchy", {}, "the target that gave y"),
        ("residual_power", {}, "the law of the inputs"),
        ("fourier_picture", {}, "the law of the inputs"),
    ],
)
def test_on_arrays_without_a_law_or_a_target(kind: str, fields: dict[str, Any], needs: str) -> None:
    """Where inputs and values are given there is neither; what does without them is measured."""
    arrays = Setting(network, None, None, 9, 60)
    with pytest.raises(ValueError, match=f"^observables: {kind} needs {needs}; training on arrays has none$"):
        check_setting([observables.get(kind, **fields)], arrays)
    free = ("train_loss", "test_loss", "tangent_drift", "kernel_distance", "weight_movement", "effective_rank")
    every = [observables.get(name) for name in free]
    check_setting(every, arrays)
    given = changed_view(target=None, data=None)
    for observable in every:
        assert set(observable.measure(given)) == set(observable.outputs())


def test_several_outputs_of_arrays_are_those_of_the_network() -> None:
    two = Setting(networks.ResNet3(width=4, outputs=2), None, None, 9, 60)
    check_setting([observables.get("train_loss")], two)
    with pytest.raises(ValueError, match="tangent_spectrum is of one output; the network has 2"):
        check_setting([observables.get("tangent_spectrum")], two)


def test_facts_that_experiments_ask_for() -> None:
    """What an exact population flow can measure, and what compares with gradient flow."""
    without = catalogue.able("observables", lambda cls: not cls.needs_samples)
    alone = {"neuron_snapshots", "predictions", "risk", "teacher_alignment", "test_loss", "weight_movement"}
    assert alone <= set(without)
    assert not {"train_loss", "tangent_drift", "kernel_distance"} & set(without)
    assert "kernel_distance" in catalogue.able("observables", lambda cls: cls.needs_descent)
    several = set(catalogue.able("observables", lambda cls: cls.several_outputs))
    assert {
        "hierarchy",
        "tangent_drift",
        "test_error",
        "test_loss",
        "train_loss",
        "validation_error",
        "weight_movement",
    } <= several
    assert not {"predictions", "effective_rank"} & several
