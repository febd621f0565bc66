"""gradient_flow on stored data with labels, in every format: against descent written out in NumPy, and refusals."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from simlab.core.errors import BadInput
from simlab.lab.spec import resolve
from tests.support.points import compute, follow
from tests.support.runs import small_tables
from tests.support.stored import write_cifar, write_images

RNG = np.random.default_rng(8)
ROWS, CLASSES = RNG.standard_normal((40, 4)), np.arange(40) % 3
TEST_ROWS, TEST_CLASSES = RNG.standard_normal((9, 4)), np.arange(9) % 3


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SIMLAB_DATA", str(tmp_path))
    return tmp_path


def npz(home: Path) -> dict[str, Any]:
    np.savez(home / "z.npz", x=ROWS, y=CLASSES, u=TEST_ROWS, v=TEST_CLASSES)
    return {
        "kind": "arrays", "path": "z.npz::x", "labels": "z.npz::y", "test_path": "z.npz::u", "test_labels": "z.npz::v",
    }  # fmt: skip


def hdf5(home: Path) -> dict[str, Any]:
    with h5py.File(home / "z.h5", "w") as file:
        file["x"], file["y"] = ROWS, np.eye(3)[CLASSES]
    return {"kind": "arrays", "path": "z.h5::x", "labels": "z.h5::y"}


def images(home: Path) -> dict[str, Any]:
    write_images(home / "mnist")
    return {"kind": "images"}


def cifar(home: Path) -> dict[str, Any]:
    write_cifar(home / "own", hundred=True, rows=40)
    return {"kind": "cifar", "classes": "coarse", "subdirectory": "own", "normalise": True}


def tables(data: dict[str, Any], target: dict[str, Any], outputs: int = 1, **own: Any) -> dict[str, Any]:
    found = small_tables()
    found["experiment"] |= {"samples": 15, "test_samples": 6, "validation_samples": 4, "records": 3} | own
    found["data"], found["target"] = data, target
    found["network"] = {"kind": "mlp", "width": 6, "depth": 2, "outputs": outputs, "activation": "tanh"}
    found["flow"] = {"kind": "gradient_descent", "steps": 20, "step": 0.05}
    found["observables"] = ["train_loss", "test_loss"]
    found.pop("sweep", None)
    return found


@pytest.mark.parametrize(("write", "classes"), [(npz, 3), (hdf5, 3), (images, 10), (cifar, 20)])
@pytest.mark.parametrize("centred", [False, True])
def test_labels_are_learned_from_every_format(
    home: Path, write: Callable[[Path], dict[str, Any]], classes: int, centred: bool
) -> None:
    """The values of the rows drawn are those of their classes, and the recorded losses those of the predictions."""
    data = write(home)
    spec = resolve(tables(data, {"kind": "labels", "classes": classes, "centred": centred}, classes))
    columns, work, state = follow(spec)
    samples, law = work.samples, spec.at(0).data
    stored = {part: law.labelled_rows(np.arange(law.row_count(part)), part) for part in parts_of(law)}
    rest = stored.get("test", stored["train"])
    for X, y, part in (
        (samples.X, samples.y, stored["train"]),
        (samples.X_validation, samples.y_validation, stored["train"]),
        (samples.X_test, samples.y_test, rest),
    ):
        distances = np.abs(X[:, np.newaxis] - part.X).max(axis=2)
        assert np.all(distances.min(axis=1) == 0.0)
        expected = np.eye(classes)[part.labels[distances.argmin(axis=1)]] - (1 / classes if centred else 0.0)
        np.testing.assert_allclose(y, expected, atol=1e-15)
    for X, y, name in ((samples.X, samples.y, "train_loss"), (samples.X_test, samples.y_test, "test_loss")):
        residual = work.network.forward(np.asarray(state.net.theta), X) - y
        assert columns[name][-1] == pytest.approx(np.sum(residual**2) / (2 * len(y)), rel=1e-12)
    assert columns["train_loss"][-1] < columns["train_loss"][0]


def parts_of(law: Any) -> tuple[str, ...]:
    return ("train", "test") if law.has_test_part() else ("train",)


@pytest.mark.parametrize("write", [npz, hdf5])
def test_one_class_against_the_rest(home: Path, write: Callable[[Path], dict[str, Any]]) -> None:
    work = follow(resolve(tables(write(home), {"kind": "one_vs_rest", "positive": [1]}))).work
    label_of = {tuple(row): label for row, label in zip([*ROWS, *TEST_ROWS], [*CLASSES, *TEST_CLASSES], strict=True)}
    samples = work.samples
    for X, y in ((samples.X, samples.y), (samples.X_test, samples.y_test)):
        assert y.tolist() == [1.0 if label_of[tuple(row)] == 1 else -1.0 for row in X]


def test_more_test_rows_change_no_training(home: Path) -> None:
    few, many = (
        compute(resolve(tables(hdf5(home), {"kind": "one_vs_rest", "positive": [1]}, test_samples=test)))
        for test in (2, 20)
    )
    assert few["train_loss"].tolist() == many["train_loss"].tolist()
    assert few["test_loss"].tolist() != many["test_loss"].tolist()


def test_a_few_rows_may_lack_classes(home: Path) -> None:
    """One training row and one test row have one class each; the stored set has all."""
    target = {"kind": "one_vs_rest", "positive": [1]}
    found = follow(resolve(tables(npz(home), target, samples=1, test_samples=1, validation_samples=0)))
    assert set(found.work.samples.y) <= {-1.0, 1.0}


ONE = {"kind": "one_vs_rest", "positive": [1]}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            {"data": {"kind": "gaussian", "dim": 4}},
            r"data\.kind = 'gaussian': target\.kind = 'one_vs_rest' reads labels, which it does not carry "
            r"\(allowed: arrays, cifar, images\)",
        ),
        (
            {"data": {"kind": "arrays", "path": "z.npz::x"}},
            r"data\.labels: missing: target\.kind = 'one_vs_rest' reads labels; name their file",
        ),
        ({"target": {"kind": "labels", "classes": 3}}, r"network\.outputs = 1: the target has 3"),
        ({"flow": {"kind": "sgd", "steps": 5, "step": 0.1, "batch": 3, "fresh": True}}, r"flow\.fresh"),
    ],
)
def test_specs_that_are_refused(home: Path, change: dict[str, Any], says: str) -> None:
    with pytest.raises(BadInput, match=says) as told:
        resolve(tables(npz(home), ONE) | change)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    ("target", "outputs", "own", "says"),
    [
        ({"kind": "labels", "classes": 2}, 2, {}, r"^target\.classes = 2: must be 3 or more"),
        ({"kind": "one_vs_rest", "positive": [4]}, 1, {}, r"^target\.positive = \[4\]: the data have no class 4"),
        (ONE, 1, {"samples": 37}, r"41 rows asked for \(37 of data, 4 of validation\)"),
        (ONE, 1, {"test_samples": 10}, r"10 samples asked for: arrays\(.*\), part 'test', has 9 rows"),
    ],
)
def test_points_that_are_refused(home: Path, target: dict[str, Any], outputs: int, own: Any, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        compute(resolve(tables(npz(home), target, outputs, **own)))


def test_experiments_that_need_a_function_refuse_labels(home: Path) -> None:
    spec = {
        "experiment": {"kind": "learning_curve", "samples": 10},
        "data": npz(home), "target": ONE, "kernel": {"kind": "ntk", "depth": 2},
    }  # fmt: skip
    with pytest.raises(BadInput, match=r"target\.kind = 'one_vs_rest': known at labelled rows alone"):
        resolve(spec)
