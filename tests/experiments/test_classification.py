"""classification: the accuracies beside a network against kernel ridge regression written out; refusals."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simlab.core import catalogue
from simlab.core.errors import BadInput
from simlab.experiments.classification import Classification
from simlab.lab.spec import resolve
from tests.support.points import compute, follow
from tests.support.stored import write_images

EXAMPLES = catalogue.examples("experiments", "classification")
RIDGES = [1e-2, 1.0]


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_images(tmp_path / "mnist", train=60, test=20)
    monkeypatch.setenv("SIMLAB_DATA", str(tmp_path))


def tables(example: int, **own: Any) -> dict[str, Any]:
    found = deepcopy(EXAMPLES[example])
    found["experiment"] |= {"seed": 4, "ridges": RIDGES, "records": 2} | own
    return found


def rightly(f: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.sign(f[:, 0]) == y if y.ndim == 1 else f.argmax(axis=1) == y.argmax(axis=1)


@pytest.mark.parametrize("example", range(len(EXAMPLES)))
def test_kernels_against_regression_written_out(example: int) -> None:
    columns, work, state = follow(resolve(tables(example)))
    samples, net, n = work.samples, work.network, 20
    theta = np.asarray(state.net.theta)
    grams = {"start": lambda *X: net.tangent_gram(work.theta0, *X), "end": lambda *X: net.tangent_gram(theta, *X)}
    if net.kind != "resnet3":
        grams["limit"] = net.limit_kernel(9).gram
    assert {name for name in columns if name.endswith("_ridge")} == {f"{name}_kernel_ridge" for name in grams}
    values = {
        part: (y[:, np.newaxis] if y.ndim == 1 else y - 0.1)
        for part, y in (("train", samples.y[:n]), ("validation", samples.y_validation))
    }
    for name, gram in grams.items():
        K, errors, rights = gram(samples.X[:n]), [], []
        for ridge in RIDGES:
            alpha = np.linalg.solve(K + ridge * np.mean(np.diag(K)) * np.eye(n), values["train"])
            validation, test = (gram(X, samples.X[:n]) @ alpha for X in (samples.X_validation, samples.X_test))
            errors.append(np.sum((validation - values["validation"]) ** 2))
            rights.append((rightly(validation, samples.y_validation), rightly(test, samples.y_test)))
        best = int(np.argmin(errors))
        assert columns[f"{name}_kernel_ridge"] == RIDGES[best]
        assert columns[f"{name}_kernel_validation_accuracy"] == pytest.approx(rights[best][0].mean())
        right = rights[best][1]
        assert columns[f"{name}_kernel_accuracy"] == pytest.approx(right.mean())
        p = right.mean()
        assert columns[f"{name}_kernel_accuracy_se"] == pytest.approx(np.sqrt(p * (1 - p) / (right.size - 1)))


@pytest.mark.parametrize("example", range(len(EXAMPLES)))
def test_the_networks_accuracy_is_that_of_its_last_record(example: int) -> None:
    columns, work, state = follow(resolve(tables(example)))
    assert columns["network_accuracy"] == columns["test_accuracy"][-1]
    assert columns["network_accuracy_se"] == columns["test_accuracy_se"][-1]
    f = work.network.forward(np.asarray(state.net.theta), work.samples.X_validation).reshape(12, -1)
    assert columns["network_validation_accuracy"] == rightly(f, work.samples.y_validation).mean()


def test_a_net_that_diverged_has_no_accuracy_at_its_end() -> None:
    spec = resolve(tables(1))
    experiment = spec.at(0)
    assert isinstance(experiment, Classification)
    _, work, state = follow(spec)
    state.net.theta[0] = np.inf
    found = experiment.measure_at_end(work, state)
    for name, value in found.items():
        assert np.isnan(value) == name.startswith(("network_", "end_kernel_")), name


def test_a_net_that_learns_nothing_is_its_start() -> None:
    columns = compute(resolve(tables(0) | {"flow": {"kind": "sgd", "steps": 1, "step": 1e-300, "batch": 5}}))
    for what in ("accuracy", "validation_accuracy", "ridge"):
        assert columns[f"end_kernel_{what}"] == columns[f"start_kernel_{what}"]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"target": {"kind": "labels", "classes": 10, "centred": True}, "loss": {"kind": "squared"}}, "are real"),
        ({"kernel_samples": 31}, r"kernel_samples = 31: more than the 30 training samples"),
        ({"ridges": [0.0]}, r"ridges"),
        ({"validation_samples": 0}, r"validation_samples"),
    ],
)
def test_specs_that_are_refused(change: dict[str, Any], says: str) -> None:
    found = tables(0)
    found["observables"] = ["train_loss"]
    for key, value in change.items():
        if key in ("target", "loss"):
            found[key] = value
        else:
            found["experiment"][key] = value
    with pytest.raises(BadInput, match=says) as told:
        resolve(found)
    assert "\n" not in str(told.value)
