"""Stored labels as classes: every way to write them, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from simlab.core.errors import BadInput
from simlab.core.parsing import dump, parse
from simlab.data.arrays import Arrays
from simlab.data.gaussian import Gaussian
from simlab.data.law import Labelled
from tests.support.stored import idx

X = np.arange(24.0).reshape(8, 3)
CLASSES = np.array([2, 0, 1, 1, 2, 0, 1, 2])
SIGNS = np.array([1, -1, -1, 1, 1, 1, -1, -1])


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SIMLAB_DATA", str(tmp_path))
    np.save(tmp_path / "x.npy", X)
    return tmp_path


def by_row(found: Labelled) -> list[int]:
    """Labels in the order of the rows of X: its first column is 3 times the number of the row."""
    return [int(label) for _, label in sorted(zip(found.X[:, 0] / 3, found.labels, strict=True))]


@pytest.mark.parametrize(
    ("marks", "classes"),
    [
        (CLASSES, CLASSES),
        (CLASSES.astype(np.uint8), CLASSES),
        (CLASSES.astype(np.float32), CLASSES),
        (SIGNS, SIGNS > 0),
        (SIGNS.astype(np.float64), SIGNS > 0),
        (SIGNS > 0, SIGNS > 0),
        (np.eye(3)[CLASSES], CLASSES),
        (np.eye(3, dtype=bool)[CLASSES], CLASSES),
        (np.eye(4, dtype=np.int8)[CLASSES], CLASSES),
    ],
)
def test_every_way_to_write_labels(home: Path, marks: np.ndarray, classes: np.ndarray) -> None:
    np.save(home / "y.npy", marks)
    law = Arrays(path="x.npy", labels="y.npy")
    found = law.sample_labelled(8, np.random.default_rng(1))
    assert by_row(found) == classes.astype(int).tolist()
    assert found.labels.dtype == np.int64
    assert law.class_count() == (marks.shape[1] if marks.ndim == 2 else classes.astype(int).max() + 1)
    np.testing.assert_array_equal(found.X, law.sample(8, np.random.default_rng(1)))


def _npz(home: Path) -> Arrays:
    np.savez(home / "z.npz", x=X, y=CLASSES)
    return Arrays(path="z.npz::x", labels="z.npz::y")


def _hdf5(home: Path) -> Arrays:
    with h5py.File(home / "z.h5", "w") as file:
        file["inner/x"], file["inner/y"] = X, CLASSES
    return Arrays(path="z.h5::inner/x", labels="z.h5::/inner/y")


def _idx(home: Path) -> Arrays:
    (home / "y-idx1").write_bytes(idx(CLASSES))
    return Arrays(path=str(home / "x.npy"), labels=str(home / "y-idx1"))


@pytest.mark.parametrize("write", [_npz, _hdf5, _idx])
def test_labels_in_every_format(home: Path, write: Callable[[Path], Arrays]) -> None:
    law = write(home)
    law.require()
    assert by_row(law.sample_labelled(8, np.random.default_rng(0))) == CLASSES.tolist()


@pytest.mark.parametrize(
    ("marks", "says"),
    [
        (None, r"y.npy: no such file"),
        (CLASSES[:7], r"y.npy: 7 labels, but x.npy has 8 rows: must be one label per row"),
        (np.where(CLASSES == 1, np.nan, CLASSES), r"y.npy: label 2 is nan: must be classes 0, 1, …"),
        (CLASSES + 0.5, r"y.npy: label 0 is 2.5: must be classes 0, 1, …"),
        (CLASSES - 2, r"y.npy: label 1 is -2: must be classes 0, 1, …"),
        (CLASSES - 1, r"y.npy: label 1 is -1: must be classes 0, 1, …"),
        (CLASSES * 10**9, r"y.npy: label 0 is 2000000000: must be classes 0, 1, …, 999999"),
        (np.full(8, 2**64 - 1, dtype=np.uint64), r"y.npy: label 0 is 18446744073709551615: must be"),
        (np.ones(8), r"y.npy: all rows are of class 1: must be two classes or more"),
        (-np.ones(8), r"y.npy: all rows are of class 0: must be two classes or more"),
        (np.ones((8, 2)), r"y.npy: shape \(8, 2\), but no one-hot rows \(row 0 is not\): must be \(n,\), or one-hot"),
        (CLASSES[:, np.newaxis], r"y.npy: shape \(8, 1\), but no one-hot rows: must be \(n,\)"),
        (np.full((8, 2), np.nan), r"y.npy: shape \(8, 2\), but no one-hot rows"),
        (np.zeros((8, 2, 2)), r"y.npy: shape \(8, 2, 2\): must be \(n,\)"),
        (np.empty(0), r"y.npy: there is no label: must be two classes or more"),
        (CLASSES.astype(complex), r"y.npy: holds complex numbers"),
        (CLASSES.astype(str), r"y.npy: holds text"),
    ],
)
def test_labels_that_cannot_be_used(home: Path, marks: Any, says: str) -> None:
    if marks is not None:
        np.save(home / "y.npy", marks)
    law = Arrays(path="x.npy", labels="y.npy")
    for refused in (law.require, lambda: law.sample_labelled(2, np.random.default_rng(0))):
        with pytest.raises(BadInput, match=says) as told:
            refused()
        assert "\n" not in str(told.value)
    law.sample(2, np.random.default_rng(0))  # inputs alone need no labels


def _with_test(home: Path, marks: np.ndarray, test_marks: np.ndarray, rows: np.ndarray = X[:4]) -> Arrays:
    for name, array in (("y", marks), ("x_test", rows), ("y_test", test_marks)):
        np.save(home / f"{name}.npy", array)
    return Arrays(path="x.npy", labels="y.npy", test_path="x_test.npy", test_labels="y_test.npy")


def test_labels_of_the_test_part_are_read_as_those_of_the_training_part(home: Path) -> None:
    """Ones alone are +1 beside ±1, and class 1 beside 0, 1, 2."""
    rng = np.random.default_rng(0)
    for marks in (SIGNS, CLASSES):
        law = _with_test(home, marks, np.ones(4))
        assert law.sample_labelled(4, rng, "test").labels.tolist() == [1] * 4
    law = _with_test(home, CLASSES, np.array([0, 5, 0, 0]))
    assert law.class_count() == 6


@pytest.mark.parametrize(
    ("marks", "test_marks", "rows", "says"),
    [
        (SIGNS, np.array([1, 0, 1, 1]), X[:4], r"y_test.npy: label 1 is 0: must be ±1, as in the training part"),
        (CLASSES, np.array([1, -1, 1, 1]), X[:4], r"y_test.npy: label 1 is -1: must be classes"),
        (CLASSES, np.eye(4), X[:4], r"one-hot rows of 4 columns, but the training labels are written as numbers"),
        (np.eye(3)[CLASSES], np.eye(4), X[:4], r"of 4 columns, but the training labels are one-hot rows of 3 columns"),
        (CLASSES, np.ones(3), X[:4], r"y_test.npy: 3 labels, but x_test.npy has 4 rows"),
        (CLASSES, np.ones(4), X[:4, :2], r"x_test.npy: training rows of 3 columns, test of 2"),
    ],
)
def test_test_parts_that_cannot_be_used(
    home: Path, marks: np.ndarray, test_marks: np.ndarray, rows: np.ndarray, says: str
) -> None:
    law = _with_test(home, marks, test_marks, rows)
    for refused in (law.require, lambda: law.sample_labelled(2, np.random.default_rng(0), "test")):
        with pytest.raises(BadInput, match=says):
            refused()


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"test_path": "a.npy"}, r"test_path = 'a.npy': only with test_labels; give both or none"),
        ({"test_labels": "a.npy"}, r"test_labels = 'a.npy': only with test_path; give both or none"),
        ({"test_path": "a.npy", "test_labels": "b.npy"}, r"test_path = 'a.npy': only with labels"),
        ({"labels": ""}, r"labels = "),
    ],
)
def test_fields_that_do_not_go_together(fields: dict[str, str], says: str) -> None:
    with pytest.raises(BadInput, match=says):
        parse(Arrays, {"path": "x.npy"} | fields)


def test_an_array_without_labels_is_written_as_before() -> None:
    """So that the hash of a spec that names it is what it was."""
    assert dump(Arrays(path="x.npy")) == {"path": "x.npy", "normalise": False}


def test_what_is_not_there_is_refused(home: Path) -> None:
    rng, plain = np.random.default_rng(0), Arrays(path="x.npy")
    assert not plain.carries_labels()
    assert not plain.has_test_part()
    assert not Gaussian(dim=3).carries_labels()
    with pytest.raises(BadInput, match=r"carries no labels; name their file as labels"):
        plain.sample_labelled(2, rng)
    np.save(home / "y.npy", CLASSES)
    law = Arrays(path="x.npy", labels="y.npy")
    with pytest.raises(BadInput, match="has no test rows of its own; name their file as test_path"):
        law.sample_labelled(2, rng, "test")
    with pytest.raises(BadInput, match=r"part = 'tset': unknown; did you mean"):
        law.sample_labelled(2, rng, "tset")  # type: ignore[arg-type]
    with pytest.raises(BadInput, match=r"9 samples asked for: arrays\(.*\), part 'train', has 8 rows"):
        law.sample_labelled(9, rng)
    with pytest.raises(BadInput, match="n = -1"):
        law.sample_labelled(-1, rng)
