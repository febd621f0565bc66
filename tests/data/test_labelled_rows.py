"""Rows drawn with their labels: parts never share one, and the number of rows of a part changes no other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from simlab.core.errors import BadInput
from simlab.core.rng import Streams
from simlab.data.arrays import Arrays
from simlab.data.images import Images
from simlab.data.splits import draw, draw_labelled
from tests.support.stored import idx, write_images

REAL = Path(__file__).parents[2].parent / "shared/data"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SIMLAB_DATA", str(tmp_path))
    return tmp_path


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
