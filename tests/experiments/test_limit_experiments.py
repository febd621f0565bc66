"""Experiments about limits and flows, against primal ridge regression, closed forms and the matrix exponential."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.spatial.distance import cdist

from simlab.core.errors import BadInput
from simlab.experiments import random_features_error
from simlab.experiments.gp_width import excess_kurtosis
from simlab.lab.spec import resolve
from tests.support.points import compute

FEATURES: dict[str, Any] = {
    "experiment": {"kind": "random_features_error", "seed": 4, "points": 7, "samples": 12, "ridge": 0.05},
    "data": {"kind": "uniform_sphere", "dim": 3},
    "network": {"kind": "fourier_features", "width": 40},
    "target": {"kind": "relu_teacher"},
}
NETS: dict[str, Any] = {
    "experiment": {"kind": "gp_width", "seed": 4, "draws": 1000, "points": 3},
    "data": {"kind": "uniform_sphere", "dim": 4},
    "network": {"kind": "mlp", "depth": 3, "width": 40, "outputs": 10},
    "kernel": {"kind": "nngp", "depth": 3},
}
FLOW: dict[str, Any] = {
    "experiment": {"kind": "kernel_flow", "seed": 4, "samples": 9, "test_samples": 5, "records": 7, "last_time": 1e5},
    "data": {"kind": "uniform_sphere", "dim": 4},
    "target": {"kind": "relu_teacher"},
    "kernel": {"kind": "ntk", "depth": 3},
    "network": {"kind": "mlp", "depth": 2, "width": 6},
}


def test_random_features_against_primal_regression_and_the_gaussian_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = resolve(FEATURES)
    monkeypatch.setattr(random_features_error, "BLOCK_FLOATS", 100)  # several blocks of features, the last one shorter
    found = {name: float(value[0]) for name, value in compute(spec).items()}
    experiment, streams, n, ridge = spec.at(0), spec.sweep.streams(spec.seed, 0), 12, 0.05
    X = np.concatenate([experiment.data.sample(12, streams["data"]), experiment.data.sample(7, streams["test"])])
    y, weights = experiment.target.draw(3, streams["target"])(X), experiment.network.draw(3, streams["features"])
    Phi = np.sqrt(2 / 40) * np.cos(X @ weights[:, :-1].T + weights[:, -1])
    K = np.exp(-(cdist(X, X) ** 2) / 2)
    apart = np.abs(Phi[n:] @ Phi[n:].T - K[n:, n:])
    w = np.linalg.solve(Phi[:n].T @ Phi[:n] + ridge * np.eye(40), Phi[:n].T @ y[:n])
    f, f_kernel = Phi[n:] @ w, K[n:, :n] @ np.linalg.solve(K[:n, :n] + ridge * np.eye(n), y[:n])
    expected = {
        "features": 40,
        "sup_error": apart.max(),
        "rms_error": np.sqrt(np.mean(apart**2)),
        "risk": np.mean((f - y[n:]) ** 2),
        "kernel_risk": np.mean((f_kernel - y[n:]) ** 2),
        "prediction_error": np.sqrt(np.mean((f - f_kernel) ** 2)),
    }
    assert found == pytest.approx(expected, rel=1e-9)


def test_random_nets_have_the_exact_kurtosis_of_relu() -> None:
    """3((1 + 5/m)² − 1) at depth 3, and Var (H Hᵀ)(x,x) = (1 + 5/m)² − 1: entries off the diagonal vary less."""
    found = {name: float(value[0]) for name, value in compute(resolve(NETS)).items()}
    assert abs(found["kurtosis"] - 3 * ((1 + 5 / 40) ** 2 - 1)) < 4 * found["kurtosis_se"]
    assert found["kurtosis_se"] < 0.1
    assert 0.5 < found["conjugate_error"] / np.sqrt((1 + 5 / 40) ** 2 - 1) < 1.05
    assert found["covariance_z"] < 5
    assert found["ks_distance"] < found["ks_critical"]


def test_a_bottleneck_is_no_gaussian_process() -> None:
    """One neuron at first: f(x) is 0 for half of the draws."""
    tables = {**NETS, "network": {**NETS["network"], "bottleneck": 1}}
    found = {name: float(value[0]) for name, value in compute(resolve(tables)).items()}
    assert found["ks_distance"] > 0.25  # the jump of ½ at 0
    assert found["ks_distance"] > 4 * found["ks_critical"]
    assert found["kurtosis"] > 3


def test_the_jackknife_of_the_kurtosis() -> None:
    """Of n independent Gaussians the excess kurtosis is 0 with standard error √(24/n)."""
    value, error = excess_kurtosis(np.random.default_rng(3).standard_normal((4000, 2, 1)))
    assert abs(value) < 4 * np.sqrt(24 / 8000)
    assert error == pytest.approx(np.sqrt(24 / 8000), rel=0.35)


def test_kernel_flow_from_a_net_against_the_matrix_exponential() -> None:
    spec = resolve(FLOW)
    columns, n = compute(spec), 9
    work = spec.at(0).prepare(spec.sweep.streams(spec.seed, 0))
    assert np.any(work.initial != 0)
    for t, train, test in zip(columns["time"], columns["train_loss"], columns["test_loss"], strict=True):
        K, r = work.K[:n], (work.y - work.initial)[:n]
        left = expm(-K * t / n) @ r
        f_test = work.initial[n:] + work.K[n:] @ np.linalg.solve(K, r - left)
        assert train == pytest.approx(np.mean(left**2) / 2, rel=1e-8, abs=1e-25)
        assert test == pytest.approx(np.mean((f_test - work.y[n:]) ** 2) / 2, rel=1e-8)
    assert columns["train_distance"][-1] < 1e-10
    assert columns["test_distance"][-1] < 1e-10
    assert columns["limit_train_loss"][0] < 1e-25
    assert columns["test_loss"][-1] == pytest.approx(columns["limit_test_loss"][0], rel=1e-8)
    assert columns["methods_apart"].max() < 1e-8
    assert columns["smallest_rate"][0] == pytest.approx(np.linalg.eigvalsh(work.K[:n])[0] / n)


@pytest.mark.parametrize(
    ("tables", "change", "says"),
    [
        (
            FEATURES,
            {"network": {"kind": "two_layer", "width": 3}},
            r"^network\.kind = 'two_layer': it has no features",
        ),
        (FEATURES, {"network": {"kind": "random_features", "width": 3}}, r"kernel: missing.*\[kernel\] table"),
        (FEATURES, {"target": None}, "samples = 12: regression needs both"),
        (NETS, {"network": {"kind": "two_layer", "width": 3}}, r"^network\.kind = 'two_layer': .*allowed: mlp"),
        (FLOW, {"network": {"kind": "random_features", "width": 3}}, r"^network\.kind = 'random_features': .*mlp"),
        (FLOW, {"experiment": {**FLOW["experiment"], "first_time": 1e5}}, "first_time = 100000.0: must be below"),
    ],
)
def test_what_makes_no_sense_is_refused(tables: dict[str, Any], change: dict[str, Any], says: str) -> None:
    changed = {key: value for key, value in {**tables, **change}.items() if value is not None}
    with pytest.raises(BadInput, match=says) as caught:
        resolve(changed)
    assert "\n" not in str(caught.value)
