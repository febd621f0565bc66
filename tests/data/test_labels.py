"""Stored labels as classes: every way to write them, what is refused, and rows that stay apart with their labels."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import h5py
import numpy as np
import pytest

from simlab import data
from simlab.core.errors import BadInput
from simlab.core.parsing import dump, parse
from simlab.core.rng import Streams
from simlab.data.arrays import Arrays
from simlab.data.gaussian import Gaussian
from simlab.data.images import Images
from simlab.data.law import Floats, Labelled, Law
from simlab.data.splits import draw, draw_labelled
from tests.support.stored import idx, write_images

REAL = Path(__file__).parents[2].parent / "shared/data"
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


def numbered(home: Path, apart: bool) -> Arrays:
    """30 rows for training, and 12 for the test where these are apart: the first coordinate is the number of a row."""
    rows = np.arange(42.0)[:, np.newaxis]
    np.savez(home / "n.npz", x=rows[:30], y=np.arange(30) % 7, u=rows[30:], v=np.arange(30, 42) % 7)
    test = {"test_path": "n.npz::u", "test_labels": "n.npz::v"} if apart else {}
    return Arrays(path="n.npz::x", labels="n.npz::y", **test)


@pytest.mark.parametrize("apart", [True, False])
def test_rows_of_parts_never_overlap_and_keep_their_labels(home: Path, apart: bool) -> None:
    law = numbered(home, apart)
    for seed in range(5):
        counts = {"data": 15, "test": 8, "validation": 7}
        parts = draw_labelled(law, counts, Streams(seed))
        assert list(parts) == list(counts)
        rows = np.concatenate([part.X[:, 0] for part in parts.values()])
        assert len(set(rows)) == 30
        assert {name: len(part.labels) for name, part in parts.items()} == counts
        # Test rows keep the numbering of the whole, so their labels are number % 7 as well.
        assert np.array_equal(rows % 7, np.concatenate([part.labels for part in parts.values()]))
        assert np.all((parts["test"].X >= 30) == apart)
        assert np.all(parts["data"].X < 30)


@pytest.mark.parametrize("apart", [True, False])
def test_other_numbers_of_rows_change_only_their_own_part(home: Path, apart: bool) -> None:
    law = numbered(home, apart)

    def drawn(**counts: int) -> dict[str, list[float]]:
        return {name: part.X[:, 0].tolist() for name, part in draw_labelled(law, counts, Streams(3)).items()}

    base = drawn(data=10, test=5, validation=4)
    more_test = drawn(data=10, test=9, validation=4)
    assert (more_test["data"], more_test["validation"]) == (base["data"], base["validation"])
    more_data = drawn(data=20, test=5, validation=4)
    assert (more_data["test"], more_data["validation"]) == (base["test"], base["validation"])
    assert more_data["data"][:10] == base["data"]
    assert drawn(data=10, validation=4)["data"] == base["data"]
    assert drawn(data=10, test=0, validation=4)["test"] == []


def test_more_rows_than_there_are(home: Path) -> None:
    assert len(draw_labelled(numbered(home, True), {"data": 30, "test": 12}, Streams(0))["data"].labels) == 30
    with pytest.raises(
        BadInput, match=r"31 rows asked for \(19 of data, 12 of test\): arrays\(.*\) has 30 for training"
    ):
        draw_labelled(numbered(home, False), {"data": 19, "test": 12}, Streams(0))
    with pytest.raises(BadInput, match=r"31 rows asked for \(31 of data\)"):
        draw_labelled(numbered(home, True), {"data": 31, "test": 1}, Streams(0))
    with pytest.raises(BadInput, match="13 samples asked for"):
        draw_labelled(numbered(home, True), {"data": 3, "test": 13}, Streams(0))


def test_training_images_are_those_drawn_without_labels(home: Path) -> None:
    """`draw` and `draw_labelled` of training rows alone are one draw."""
    written = write_images(home / "mnist")
    law = Images()
    labelled = draw_labelled(law, {"data": 20}, Streams(2))["data"]
    np.testing.assert_array_equal(labelled.X, draw(law, {"data": 20}, Streams(2))["data"])
    stored = {
        tuple(image.ravel()): label
        for image, label in zip(written["train-images-idx3-ubyte"], written["train-labels-idx1-ubyte"], strict=True)
    }
    assert [stored[tuple(np.rint(row * 255))] for row in labelled.X] == labelled.labels.tolist()
    test = law.sample_labelled(12, np.random.default_rng(0), "test")
    assert sorted(test.labels) == sorted(written["t10k-labels-idx1-ubyte"])


def test_images_of_one_class_are_refused_where_labels_are_read(home: Path) -> None:
    write_images(home / "mnist", zipped=False)
    (home / "mnist" / "train-labels-idx1-ubyte").write_bytes(idx(np.full(40, 3)))
    with pytest.raises(BadInput, match="mnist, training labels: all rows are of class 3"):
        Images().class_count()
    assert len(Images().labelled()[1]) == 40


@pytest.mark.skipif(not (REAL / "mnist").is_dir(), reason="the images of MNIST are not beside this checkout")
def test_labels_of_mnist(monkeypatch: pytest.MonkeyPatch) -> None:
    """Published: 5923 zeros and 6742 ones to learn from, 980 and 1135 in the test."""
    monkeypatch.setenv("SIMLAB_DATA", str(REAL))
    parts = draw_labelled(Images(), {"data": 1000, "test": 10_000, "validation": 500}, Streams(1))
    assert np.bincount(parts["test"].labels)[:2].tolist() == [980, 1135]
    share = np.mean(parts["data"].labels == 1)
    assert abs(share - 6742 / 60_000) < 5 * np.sqrt(0.1124 * 0.8876 / 1000)


class Two(Law):
    """Forty rows of two classes, with which nothing is wrong but what subclasses break."""

    finite: ClassVar[bool] = True
    has_labels: ClassVar[bool] = True

    def dimension(self) -> int:
        return 1

    def sample(self, n: int, rng: np.random.Generator) -> Floats:
        return np.asarray(rng.permutation(40)[:n, np.newaxis], dtype=np.float64)

    def class_count(self) -> int:
        return 2

    def row_count(self, part: str = "train") -> int:
        if part == "test":
            raise BadInput("no test rows")
        return 40

    def labelled_rows(self, numbers: Any, part: str = "train") -> Labelled:
        return Labelled(numbers[:, np.newaxis].astype(np.float64), numbers % 2)


class Endless(Two):
    """Not finite."""

    finite: ClassVar[bool] = False


class Silent(Two):
    """Does not say that it has labels."""

    has_labels: ClassVar[bool] = False

    def carries_labels(self) -> bool:
        return True


class ThirdClass(Two):
    """A class too many."""

    def labelled_rows(self, numbers: Any, part: str = "train") -> Labelled:
        return Labelled(numbers[:, np.newaxis].astype(np.float64), numbers % 3)


class Small(Two):
    """Labels of another type."""

    def labelled_rows(self, numbers: Any, part: str = "train") -> Labelled:
        return Labelled(numbers[:, np.newaxis].astype(np.float64), (numbers % 2).astype(np.int8))


class Mixed(Two):
    """Labels by the place in the draw, not by the row."""

    def labelled_rows(self, numbers: Any, part: str = "train") -> Labelled:
        return Labelled(numbers[:, np.newaxis].astype(np.float64), np.arange(len(numbers)) % 2)


class Other(Two):
    """Other rows with labels than without."""

    def sample(self, n: int, rng: np.random.Generator) -> Floats:
        return super().sample(n, rng) + 1.0


class WithTest(Two):
    """Has a test part that it does not speak of."""

    def row_count(self, part: str = "train") -> int:
        return 40


class OnlyTest(Two):
    """A test part without labels."""

    def carries_labels(self) -> bool:
        return False

    def has_test_part(self) -> bool:
        return True


def test_a_law_of_another_package_may_carry_labels() -> None:
    data.check(Two())


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (Endless, r"carries_labels\(\): only of a finite law"),
        (Silent, r"carries_labels\(\) = True: but has_labels = False"),
        (ThirdClass, r"part train: labels from 0 to 2: must be 0 … 1"),
        (Small, r"part train: labels are int8: must be int64"),
        (Mixed, r"part train: all rows drawn are not each row once, with its own label"),
        (Other, r"sample_labelled: other inputs than those of sample"),
        (WithTest, r"has_test_part\(\) = False: but row_count\('test'\) is not refused"),
        (OnlyTest, r"has_test_part\(\): only of a law that carries labels"),
    ],
)
def test_what_breaks_the_contract_is_told(wrong: type[Law], says: str) -> None:
    with pytest.raises(AssertionError, match=says) as told:
        data.check(wrong())
    assert "\n" not in str(told.value)
