"""Inputs from files: what is drawn are rows of the file, and what cannot be used is said in one line."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simlab.core.errors import BadInput
from simlab.core.rng import Streams
from simlab.data.arrays import Arrays
from simlab.data.directory import data_directory
from simlab.data.images import Images
from simlab.data.splits import draw
from simlab.data.uniform_sphere import UniformSphere
from tests.support.stored import idx, write_images

REAL = Path(__file__).parents[2].parent / "shared/data"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SIMLAB_DATA", str(tmp_path))
    return tmp_path


def test_rows_of_a_file_are_drawn_once_each(home: Path) -> None:
    stored = np.arange(60, dtype=np.int32).reshape(20, 3) - 30
    np.save(home / "x.npy", stored)
    law = Arrays(path="x.npy")
    X = law.sample(20, np.random.default_rng(1))
    assert np.array_equal(X[np.argsort(X[:, 0])], stored)
    assert not np.array_equal(X, stored)
    absolute = Arrays(path=str(home / "x.npy"), normalise=True)
    unit = absolute.sample(20, np.random.default_rng(1))
    np.testing.assert_allclose(np.linalg.norm(unit, axis=1), 1.0, rtol=1e-14)
    np.testing.assert_allclose(unit * np.linalg.norm(X, axis=1, keepdims=True), X, rtol=1e-14)
    assert law.dimension() == 3


def test_a_file_that_has_changed_is_read_again(home: Path) -> None:
    for dim in (2, 5):
        np.save(home / "x.npy", np.ones((4, dim)))
        assert Arrays(path="x.npy").dimension() == dim


def test_extreme_rows_have_unit_norm_and_zero_stays(home: Path) -> None:
    np.save(home / "x.npy", np.array([[1e300, 1e300], [1e-300, 0.0], [0.0, 0.0], [5e-324, -5e-324]]))
    X = Arrays(path="x.npy", normalise=True).sample(4, np.random.default_rng(0))
    np.testing.assert_allclose(np.sort(np.linalg.norm(X, axis=1)), [0.0, 1.0, 1.0, 1.0], rtol=1e-14)


@pytest.mark.parametrize(
    ("stored", "n", "says"),
    [
        (np.ones((3, 2)), 4, "4 samples asked for: x.npy has 3 rows"),
        (np.array([[1.0], [np.nan], [np.inf]]), 3, r"x.npy: row 1 \(and 1 more\) holds NaN or infinity"),
        (np.ones(3), 1, r"shape \(3,\) of float64: must be \(rows, d\)"),
        (np.ones((3, 2), complex), 1, "complex128"),
        (np.ones((3, 0)), 1, r"shape \(3, 0\)"),
        (None, 1, "x.npy: no such file"),
    ],
)
def test_arrays_that_cannot_be_used(home: Path, stored: Any, n: int, says: str) -> None:
    if stored is not None:
        np.save(home / "x.npy", stored)
    with pytest.raises(BadInput, match=says) as refused:
        Arrays(path="x.npy").sample(n, np.random.default_rng(0))
    assert "\n" not in str(refused.value)


def test_without_a_data_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SIMLAB_DATA", raising=False)
    assert data_directory() is None
    for call in (lambda: Arrays(path="x.npy").dimension(), lambda: Images().labelled()):
        with pytest.raises(BadInput, match="use --data DIR or set SIMLAB_DATA"):
            call()


@pytest.mark.parametrize(("where", "zipped"), [("mnist", True), ("mnist", False), (".", True)])
def test_images_with_their_labels(home: Path, where: str, zipped: bool) -> None:
    """In the subdirectory, or in the data directory itself."""
    written = write_images(home / where, zipped=zipped)
    X, labels, X_test, labels_test = Images().labelled()
    np.testing.assert_array_equal(X, written["train-images-idx3-ubyte"].reshape(40, 9) / 255)
    np.testing.assert_array_equal(X_test, written["t10k-images-idx3-ubyte"].reshape(12, 9) / 255)
    np.testing.assert_array_equal(labels, written["train-labels-idx1-ubyte"])
    np.testing.assert_array_equal(labels_test, written["t10k-labels-idx1-ubyte"])
    drawn = Images().sample(40, np.random.default_rng(1))
    assert np.array_equal(drawn[np.lexsort(drawn.T)], X[np.lexsort(X.T)])
    unit = Images(normalise=True).labelled()[0]
    np.testing.assert_allclose(unit * np.linalg.norm(X, axis=1, keepdims=True), X, rtol=1e-13)


def _cut(home: Path) -> None:
    path = home / "mnist" / "train-images-idx3-ubyte.gz"
    path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes())[:-5]))


def _short_labels(home: Path) -> None:
    (home / "mnist" / "t10k-labels-idx1-ubyte.gz").write_bytes(gzip.compress(idx(np.zeros(11))))


def _other_pixels(home: Path) -> None:
    (home / "mnist" / "t10k-images-idx3-ubyte.gz").write_bytes(gzip.compress(idx(np.zeros((12, 2, 2)))))


def _swapped(home: Path) -> None:
    (home / "mnist" / "train-images-idx3-ubyte.gz").write_bytes(gzip.compress(idx(np.zeros(40))))


def _missing(home: Path) -> None:
    (home / "mnist" / "t10k-labels-idx1-ubyte.gz").unlink()


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (_cut, r"train-images-idx3-ubyte.gz: an IDX file of shape \(40, 3, 3\) that is cut short"),
        (_short_labels, "12 images, but 11 labels in t10k-labels-idx1-ubyte.gz"),
        (_other_pixels, "training images of 9 pixels, test of 4"),
        (_swapped, "one image per row"),
        (_missing, r"t10k-labels-idx1-ubyte \(or t10k-labels-idx1-ubyte.gz\): not found in .*mnist and "),
    ],
)
def test_images_that_cannot_be_used(home: Path, spoil: Callable[[Path], None], says: str) -> None:
    write_images(home / "mnist")
    spoil(home)
    with pytest.raises(BadInput, match=says) as refused:
        Images().labelled()
    assert "\n" not in str(refused.value)


def test_more_images_than_there_are(home: Path) -> None:
    write_images(home / "mnist")
    with pytest.raises(BadInput, match="41 samples asked for: mnist has 40 rows"):
        Images().sample(41, np.random.default_rng(0))


@pytest.mark.skipif(not (REAL / "mnist").is_dir(), reason="the images of MNIST are not beside this checkout")
def test_the_images_of_mnist(monkeypatch: pytest.MonkeyPatch) -> None:
    """60,000 + 10,000 of 784 pixels; published: mean 0.1307 and deviation 0.3081; 5923 zeros, 6742 ones."""
    monkeypatch.setenv("SIMLAB_DATA", str(REAL))
    found = Images().stored()
    assert found.train.shape == (60_000, 784)
    assert found.test.shape == (10_000, 784)
    assert found.train.mean() / 255 == pytest.approx(0.1307, abs=5e-5)
    assert found.train.std() / 255 == pytest.approx(0.3081, abs=5e-5)
    assert np.bincount(found.train_labels)[:2].tolist() == [5923, 6742]
    X = Images().sample(100, np.random.default_rng(0))
    assert X.shape == (100, 784)
    assert X.max() == 1.0


def test_training_and_test_rows_of_a_file_are_apart(home: Path) -> None:
    """Held-out rows are the same whatever the number of training rows, and fewer of these are a part of more."""
    rows = np.arange(60.0).reshape(30, 2)
    np.save(home / "rows.npy", rows)
    law = Arrays(path="rows.npy")
    few, many = (draw(law, {"data": n, "validation": 5, "test": 7}, Streams(1)) for n in (6, 18))
    assert list(few) == ["data", "validation", "test"]
    for name in ("validation", "test"):
        assert np.array_equal(few[name], many[name])
    assert np.array_equal(many["data"][:6], few["data"])
    assert np.array_equal(np.sort(np.concatenate(list(many.values()))[:, 0]), rows[:, 0])
    with pytest.raises(BadInput, match=r"31 samples asked for: rows.npy has 30 rows"):
        draw(law, {"data": 20, "test": 11}, Streams(1))


def test_of_a_law_every_stream_is_a_draw_of_its_own() -> None:
    law = UniformSphere(dim=3)
    parts = draw(law, {"data": 4, "test": 5}, Streams(1))
    assert np.array_equal(parts["data"], law.sample(4, Streams(1)["data"]))
    assert np.array_equal(parts["test"], law.sample(5, Streams(1)["test"]))
