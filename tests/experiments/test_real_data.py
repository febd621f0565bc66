"""Accuracies on images against a direct float64 solution; λ is chosen on the validation images alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simlab.core.errors import BadInput
from simlab.data.images import Images
from simlab.experiments.real_data import RealData
from simlab.kernels import ntk
from simlab.lab.spec import resolve
from tests.support.points import compute
from tests.support.stored import write_images

RIDGES = [1e-1, 1e-3, 1e-6]


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    write_images(tmp_path / "mnist", train=220, test=90)
    monkeypatch.setenv("SIMLAB_DATA", str(tmp_path))
    return {
        "experiment": {"kind": "real_data", "train": 120, "validation": 80, "test": 60, "ridges": RIDGES, "seed": 3},
        "data": {"kind": "images"},
        "kernel": {"kind": "ntk", "depth": 3},
    }


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_against_a_direct_solution(tables: dict[str, Any], precision: str) -> None:
    tables["experiment"] |= {"precision": precision, "tolerance": 1e-6, "rank": 30}
    found = compute(resolve(tables))
    assert found["residual"].max() <= 1e-6
    assert found["iterations"].max() > 3
    X, labels, X_test, test_labels = Images().labelled()
    classes = int(max(labels.max(), test_labels.max())) + 1
    Y = np.eye(classes)[labels[:120]] - 1 / classes
    for i, ridge in enumerate(RIDGES):
        alpha = np.linalg.solve(ntk(3).gram(X[:120]) + 120 * ridge * np.eye(120), Y)
        right = (ntk(3).gram(X[140:], X[:120]) @ alpha).argmax(axis=1) == labels[140:]
        assert found["validation_accuracy_by_ridge"][i] == pytest.approx(right.mean(), abs=0.5 / 80)
        right = (ntk(3).gram(X_test[:60], X[:120]) @ alpha).argmax(axis=1) == test_labels[:60]
        assert found["test_accuracy_by_ridge"][i] == pytest.approx(right.mean(), abs=0.5 / 60)


def test_the_ridge_is_the_best_on_validation_whatever_the_test_says(tables: dict[str, Any]) -> None:
    experiment = resolve(tables).at(0)
    assert isinstance(experiment, RealData)
    work = experiment.prepare(resolve(tables).sweep.streams(3, 0))
    votes = np.tile(work.new_labels, (3, 1))
    votes[0, 0] += 1  # wrong once on validation, always right on the test
    votes[1:, experiment.validation :] += 1  # always right on validation, never on the test
    state = experiment.start(work, resolve(tables).sweep.streams(3, 0))
    state.votes = votes
    found = experiment._judged(work, state)
    assert found["ridge"] == RIDGES[1], "the larger of two that are equally good"
    assert found["validation_accuracy"] == 1.0
    assert found["test_accuracy"] == 0.0


def test_a_checkpoint_with_the_older_name_of_the_recursive_residual_is_read(tables: dict[str, Any]) -> None:
    spec = resolve(tables)
    experiment, streams = spec.at(0), spec.sweep.streams(3, 0)
    state = experiment.start(experiment.prepare(streams), streams)
    arrays = state.arrays()
    older = {"told" if name == "recursive_residual" else name: value for name, value in arrays.items()}
    assert "told" in older
    for checkpoint in (arrays, older):
        restored = experiment.restore(checkpoint).arrays()
        assert restored.keys() == arrays.keys()
        assert all(restored[name] is arrays[name] for name in arrays)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"train": 200}, "experiment.train = 200, experiment.validation = 80: together more than the 220"),
        ({"test": 91}, "experiment.test = 91: more than the 90 test images"),
        ({"ridges": [1e-3, 0.0]}, "experiment.ridges = .*each must be positive, not 0.0"),
        ({"ridges": []}, "experiment.ridges"),
    ],
)
def test_bad_input(tables: dict[str, Any], change: dict[str, Any], says: str) -> None:
    tables["experiment"] |= change
    with pytest.raises(BadInput, match=says):
        compute(resolve(tables))
