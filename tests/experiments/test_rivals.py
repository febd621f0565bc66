"""Rivals on one target: kernel machines against solutions written out, nets against their flow, and refusals."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
import pytest

from simlab.core.errors import BadInput
from simlab.experiments.rivals import Rivals
from simlab.kernels import laplace
from simlab.lab.spec import resolve
from tests.support.points import compute, follow


def point(**experiment: Any) -> tuple[Any, Any, dict[str, Any]]:
    tables = deepcopy(Rivals.examples[0])
    tables["experiment"] |= {"seed": 3, "test_samples": 50} | experiment
    tables["kernel"] = {"kind": "laplace", "c": 1.0}
    spec = resolve(tables)
    columns, work, _ = follow(spec)
    return spec.at(0), work, {name: float(values[0]) for name, values in columns.items()}


def errors(K: Any, across: Any, y: Any, y_test: Any, ridges: Any) -> dict[float, float]:
    """Ridge → E‖f − y‖², by the normal equations."""
    unit = np.trace(K) / len(K)
    return {
        ridge: float(np.sum((across @ np.linalg.solve(K + ridge * unit * np.eye(len(K)), y) - y_test) ** 2))
        for ridge in ridges
    }


@pytest.mark.parametrize("learner", ["kernel", "last", "tangent"])
def test_kernel_machines_are_ridge_regression_at_the_validated_ridge(learner: str) -> None:
    rival, work, found = point(learner=learner)
    net, theta, samples = rival.network, work.theta0, work.samples
    sets = (samples.X, samples.X_validation, samples.X_test)
    labels = (samples.y, samples.y_validation, samples.y_test)
    before = [np.zeros_like(y) for y in labels]
    if learner == "kernel":
        grams = [laplace(1.0).gram(rows, samples.X) for rows in sets]
    elif learner == "last":
        H, *others = (net.features(theta, rows) for rows in sets)
        grams = [rows @ H.T for rows in (H, *others)]
    else:
        grams = [net.tangent_blocks(theta, rows, samples.X) for rows in sets]
        before = [net.forward(theta, rows) for rows in sets]
    y, held, test = (
        (values - start).reshape(len(gram), -1) for values, start, gram in zip(labels, before, grams, strict=True)
    )
    scores = errors(grams[0], grams[1], y, held, rival.ridges)
    chosen = min(scores, key=lambda ridge: scores[ridge])
    assert found["ridge_chosen"] == chosen
    assert found["validation_error"] == pytest.approx(scores[chosen] / len(samples.X_validation), rel=1e-8)
    expected = errors(grams[0], grams[2], y, test, [chosen])[chosen] / len(samples.X_test)
    assert found["test_error"] == pytest.approx(expected, rel=1e-8)


def test_a_net_that_diverges_has_no_error() -> None:
    tables = deepcopy(Rivals.examples[0])
    tables["experiment"]["seed"] = 3
    tables["flow"]["step"] = 1e6
    found = compute(resolve(tables))
    assert found["diverged"] == 1
    assert np.isnan(found["test_error"])
    assert found["composed_power"] == pytest.approx(2 * 0.3**2)


def test_the_right_coordinates_are_enough_for_a_kernel() -> None:
    """Four bits: 40 samples hold all 16 of them, and interpolation is exact."""
    shown, _, found = point(learner="kernel", coordinates="target", samples=400, ridges=[1e-10])
    assert shown.coordinates == "target"
    assert found["test_error"] < 1e-6
    _, _, hidden = point(learner="kernel", ridges=[1e-10])
    assert hidden["test_error"] > 0.01


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"network": {"outputs": 3}}, r"network\.outputs = 3: the target has 2"),
        ({"experiment": {"learner": "kernel"}}, r"learner = 'kernel': give a \[kernel\] table"),
        ({"flow": {"batch": 41}}, r"flow\.batch = 41: more than the 40 training samples"),
        ({"target": {"alpha": 1.0}}, r"target\.alpha = 1\.0: must be 0 or more and less than 1"),
        ({"target": {"alpha": -0.1}}, r"target\.alpha = -0\.1: must be 0 or more and less than 1"),
        ({"target": {"pairs": 4}, "network": {"outputs": 4}}, r"pairs = 4"),
        ({"experiment": {"ridges": [1.0, 1.0]}}, r"ridges = \[1\.0, 1\.0\]: each may be named once"),
    ],
)
def test_bad_specs(change: dict[str, Any], says: str) -> None:
    tables = deepcopy(Rivals.examples[0])
    for table, fields in change.items():
        tables[table] |= fields
    with pytest.raises(BadInput, match=says):
        resolve(tables)


def test_layer_by_layer_needs_layers() -> None:
    tables = deepcopy(Rivals.examples[0])
    tables["network"] = {"kind": "mlp", "width": 4, "depth": 3, "outputs": 2}
    tables["flow"]["layerwise"] = True
    with pytest.raises(
        BadInput, match=r"flow\.layerwise = true: network\.kind = 'mlp' has no named layers \(allowed: resnet3\)"
    ):
        resolve(tables)
