"""The experiment tangent_width against its own nets, and every observable along a flow that is stopped and resumed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simlab import experiments
from simlab.core.errors import BadInput
from simlab.kernels import ntk
from simlab.lab.spec import resolve
from tests.support.points import compute

TABLES: dict[str, Any] = {
    "experiment": {"kind": "tangent_width", "seed": 4, "draws": 50, "points": 3},
    "data": {"kind": "uniform_sphere", "dim": 4},
    "network": {"kind": "two_layer", "width": 60},
}
FLOW: dict[str, Any] = {
    "experiment": {"kind": "gradient_flow", "seed": 4, "samples": 6, "test_samples": 40, "records": 4},
    "data": {"kind": "uniform_sphere", "dim": 3},
    "target": {"kind": "relu_teacher"},
    "network": {"kind": "two_layer", "width": 10},
    "flow": {"kind": "gradient_descent", "steps": 9, "step": 0.3},
    "observables": [
        {"kind": "tangent_drift", "limit": True},
        {"kind": "residual_power", "max_degree": 2, "limit": True},
        {"kind": "neuron_snapshots", "neurons": 2},
        "kernel_distance",
        "teacher_alignment",
        "effective_rank",
    ],
}


def test_the_errors_are_those_of_the_nets_drawn() -> None:
    spec = resolve(TABLES)
    found = compute(spec)
    streams = spec.sweep.streams(spec.seed, 0)
    X, _ = spec.at(0).prepare(streams)
    Theta = ntk(2, weight_std=2.0).gram(X) / 4
    network = spec.at(0).network
    grams = [network.tangent_gram(network.initialise(4, streams["init"]), X) for _ in range(50)]
    norms = np.array([np.linalg.norm(K - Theta) for K in grams])
    assert np.allclose(found["relative_error"], norms / np.linalg.norm(Theta), rtol=1e-10)
    assert np.allclose(found["rms_error"], norms / 3, rtol=1e-10)
    assert np.allclose(found["sup_error"], [np.abs(K - Theta).max() for K in grams], rtol=1e-10)
    assert found["mean_z"] < 5
    assert found["entry_error"] == pytest.approx(np.sqrt(np.mean(norms**2)) / 3)


def test_all_observables_along_a_flow_stopped_and_resumed() -> None:
    whole = compute(resolve(FLOW))
    assert all(np.all(np.isfinite(values)) for values in whole.values())
    assert whole["tangent_drift"][0] == 0.0
    assert whole["kernel_train_distance"][0] == 0.0
    experiments.check(resolve(FLOW).at(0))


@pytest.mark.parametrize(
    ("tables", "says"),
    [
        (TABLES | {"network": {"kind": "fourier_features", "width": 3}}, r"network\.kind = 'fourier_features'"),
        (TABLES | {"network": {"kind": "two_layer", "width": 0}}, r"network\.width = 0"),
        (FLOW | {"target": {"kind": "gegenbauer"}}, r"target\.kind = 'gegenbauer': teacher_alignment"),
        (FLOW | {"observables": [{"kind": "neuron_snapshots", "neurons": 11}]}, r"neurons = 11: the network has 10"),
        (FLOW | {"observables": [{"kind": "residual_power", "max_degree": -1}]}, r"max_degree = -1"),
    ],
)
def test_bad_tables_are_named(tables: dict[str, Any], says: str) -> None:
    with pytest.raises(BadInput, match=says):
        resolve(tables)
