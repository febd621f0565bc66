"""CIFAR's binary files: records come back as they were written, and broken files are refused in one line."""

from __future__ import annotations

import gzip
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simlab.core import checks
from simlab.core.errors import BadInput
from simlab.data.cifar import CIFAR
from simlab.data.files import read_records
from simlab.data.law import Part
from tests.support.stored import write_cifar

BATCHES = [f"data_batch_{i}.bin" for i in range(1, 6)]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SIMLAB_DATA", str(tmp_path))
    return tmp_path


def all_rows(law: CIFAR, part: Part) -> tuple[np.ndarray, np.ndarray]:
    return law.labelled_rows(np.arange(law.row_count(part)), part)


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize("where", ["cifar-10-batches-bin", "."])
def test_ten_classes_in_six_files(home: Path, zipped: bool, where: str) -> None:
    """In the subdirectory, or in the data directory itself; batches one after another."""
    written = write_cifar(home / where, zipped=zipped)
    law = CIFAR()
    train = np.concatenate([written[name] for name in BATCHES])
    for part, records in (("train", train), ("test", written["test_batch.bin"])):
        X, labels = all_rows(law, part)
        np.testing.assert_array_equal(X, records[:, 1:] / 255)
        np.testing.assert_array_equal(labels, records[:, 0])
    assert law.dimension() == 3072
    assert law.class_count() == 10


@pytest.mark.parametrize(("classes", "column", "count"), [("coarse", 0, 20), ("fine", 1, 100)])
def test_hundred_classes_have_two_labels(home: Path, classes: str, column: int, count: int) -> None:
    written = write_cifar(home / "own", hundred=True, rows=30)
    law = CIFAR(classes=classes, subdirectory="own")
    for part in ("train", "test"):
        X, labels = all_rows(law, part)
        np.testing.assert_array_equal(X, written[f"{part}.bin"][:, 2:] / 255)
        np.testing.assert_array_equal(labels, written[f"{part}.bin"][:, column])
    assert law.class_count() == count
    unit = CIFAR(classes=classes, subdirectory=str(home / "own"), normalise=True)
    np.testing.assert_allclose(np.linalg.norm(all_rows(unit, "test")[0], axis=1), 1.0, rtol=1e-13)


@settings(max_examples=60, deadline=None)
@given(size=st.integers(1, 9), rows=st.integers(1, 20), zipped=st.booleans(), seed=st.integers(0, 2**32))
def test_records_round_trip_and_none_is_lost(size: int, rows: int, zipped: bool, seed: int) -> None:
    """Any records come back; without some of their last bytes they are refused, unless whole records are left."""
    rng = np.random.default_rng(seed)
    records = rng.integers(0, 256, (rows, size), dtype=np.uint8)
    records[0, 0] %= 20  # a file that begins with 1f 8b is a gzipped one: no class is so large
    cut = int(rng.integers(0, rows * size + 1))
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "r.bin"
        for content in (records.tobytes(), records.tobytes()[:cut]):
            path.write_bytes(gzip.compress(content, 1) if zipped else content)
            if content and len(content) % size == 0:
                found = read_records(path, size)
                assert found.tobytes() == content
                assert found.shape == (len(content) // size, size)
            else:
                with pytest.raises(BadInput, match=rf"{len(content)} bytes: must be records of {size} bytes") as told:
                    read_records(path, size)
                assert "\n" not in str(told.value)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_a_damaged_gzip_is_refused_or_whole(seed: int) -> None:
    rng = np.random.default_rng(seed)
    content = rng.integers(0, 4, 300, dtype=np.uint8).tobytes()
    packed = bytearray(gzip.compress(content, 1))
    packed[int(rng.integers(2, len(packed)))] ^= 1 << int(rng.integers(0, 8))
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "r.bin.gz"
        for damaged in (bytes(packed), bytes(packed[: int(rng.integers(2, len(packed)))])):
            path.write_bytes(damaged)
            try:
                found, line = read_records(path, 3).tobytes(), ""
            except BadInput as told:
                found, line = content, str(told)
            assert found == content
            assert "\n" not in line


def _cut(home: Path) -> None:
    path = home / "data_batch_3.bin"
    path.write_bytes(path.read_bytes()[:-1])


def _empty(home: Path) -> None:
    (home / "data_batch_3.bin").write_bytes(b"")


def _missing(home: Path) -> None:
    (home / "data_batch_3.bin").unlink()


def _wrong_label(home: Path) -> None:
    path = home / "data_batch_3.bin"
    content = bytearray(path.read_bytes())
    content[3073] = 11
    path.write_bytes(content)


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (_cut, r"data_batch_3.bin: 24583 bytes: must be records of 3073 bytes each, one or more"),
        (_empty, r"data_batch_3.bin: 0 bytes: must be records of 3073 bytes"),
        (_missing, r"data_batch_3.bin \(or data_batch_3.bin.gz\): not found in "),
        (_wrong_label, r"data_batch_3.bin: label 1 is 11: must be below 10 \(classes = 'ten'\)"),
    ],
)
def test_files_that_cannot_be_used(home: Path, spoil: object, says: str) -> None:
    write_cifar(home)
    assert callable(spoil)
    spoil(home)
    with pytest.raises(BadInput, match=says) as told:
        CIFAR().row_count()
    assert "\n" not in str(told.value)


def test_missing_test_files_are_found_before_a_run(home: Path) -> None:
    write_cifar(home)
    CIFAR().require()
    (home / "test_batch.bin").unlink()
    with pytest.raises(BadInput, match=r"test_batch.bin \(or test_batch.bin.gz\): not found"):
        CIFAR().require()


@pytest.mark.parametrize("zipped", [False, True])
def test_nothing_is_read_beyond_memory(home: Path, zipped: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A small gzipped file may unpack to anything."""
    content = bytes(3073 * 30_000)
    (home / "r.bin").write_bytes(gzip.compress(content, 9) if zipped else content)
    monkeypatch.setattr(checks, "free_memory", lambda: 0)
    with pytest.raises(BadInput, match=r"r.bin: needs .* of memory"):
        read_records(home / "r.bin", 3073)


def test_a_file_that_has_changed_is_read_again(home: Path) -> None:
    for rows in (4, 7):
        write_cifar(home, rows=rows)
        assert CIFAR().row_count() == 5 * rows
