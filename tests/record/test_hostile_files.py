"""Files that a reader must refuse before it opens them, or in one line: pipes, damaged texts, columns of other rank."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np
import pytest

import simlab
from simlab.core.errors import BadInput
from simlab.lab.directory import RunDirectory
from simlab.record import checksum
from simlab.record.collate import _inner_sizes
from simlab.record.index import Index
from simlab.record.reader import Results
from simlab.record.schema import Output
from simlab.record.segments import Segment
from simlab.record.writer import Writer


@pytest.fixture(autouse=True)
def _no_hanging() -> Iterator[None]:
    """A reader that waits for a pipe fails here, and not after an hour."""

    def stop(*_: object) -> None:
        raise TimeoutError("it hangs")

    old = signal.signal(signal.SIGALRM, stop)
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, old)


@pytest.mark.parametrize("read", [Results, simlab.open])
def test_a_pipe_in_the_place_of_results_is_refused(read: object, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "results.h5")
    with pytest.raises(BadInput, match="is not a regular file"):
        read(tmp_path)  # type: ignore[operator]


def test_a_pipe_in_the_place_of_the_given_spec_is_none(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "given.toml")
    assert RunDirectory(tmp_path)._read_given() is None


def _segment(home: Path) -> Path:
    writer = Writer(home, "ab", {"versions": {}})
    writer.add(0, 0, {"loss": np.ones((3, 2))})
    writer.finish(0, 3)
    path = writer.commit({})
    assert path is not None
    return path


def test_a_small_segment_is_read_whole_before_hdf5_looks_at_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Damage to a text makes HDF5 loop for good: its seal is checked first."""
    path = _segment(tmp_path)
    assert Segment.read(path).finished == {0: 3}
    content = bytearray(path.read_bytes())
    at = content.index(json.dumps([json.dumps({"versions": {}})]).encode())
    content[at] ^= 1
    path.write_bytes(content)

    def opened(*_: object, **__: object) -> None:
        raise AssertionError("HDF5 opened a damaged file")

    monkeypatch.setattr(h5py, "File", opened)
    with pytest.raises(BadInput, match=r"damaged: .*seal"):
        Segment.read(path)
    with pytest.raises(checksum.Damaged):
        checksum.check_small(path)
    monkeypatch.setattr(checksum, "SMALL_BYTES", 10)
    checksum.check_small(path)  # a large one is checked part by part


def test_results_without_dimensions_open_without_a_warning(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "results.h5", "w") as file:
        file.attrs["simlab_results"] = 1
        file["lonely"] = np.arange(3)
    with simlab.open(tmp_path) as data:
        assert data["lonely"].values.tolist() == [0, 1, 2]


def test_a_column_of_another_rank_is_refused(tmp_path: Path) -> None:
    index = Index((replace(Segment.read(_segment(tmp_path))),), ())
    assert _inner_sizes(index, {"loss": Output("a loss", ("record", "class"))}) == {"class": 2}
    with pytest.raises(BadInput, match=r"loss has 1 dimensions, not 0"):
        _inner_sizes(index, {"loss": Output("a loss", ("record",))})


@pytest.mark.parametrize("read", [Results, simlab.open])
@pytest.mark.parametrize("how", ["hard", "soft", "external", "virtual", "storage"])
def test_results_that_lead_elsewhere_are_refused(read: Callable[[Path], object], how: str, tmp_path: Path) -> None:
    """A group that contains itself keeps h5netcdf walking for ever; values of another file are not the run's."""
    path, other = tmp_path / "results.h5", tmp_path / "other.h5"
    with h5py.File(other, "w") as file:
        file["x"] = np.arange(3.0)
    with h5py.File(path, "w") as file:
        file.attrs["simlab_results"] = 1
        file["n"] = np.arange(3)
        file["n"].make_scale("n")
        if how == "hard":
            file["entry"] = file["/"]
        elif how == "soft":
            file["entry"] = h5py.SoftLink("/")
        elif how == "external":
            file["x"] = h5py.ExternalLink(str(other), "/x")
        elif how == "virtual":
            layout = h5py.VirtualLayout((3,), dtype="f8")
            layout[:] = h5py.VirtualSource(str(other), "x", (3,))
            file.create_virtual_dataset("x", layout)
        else:
            file.create_dataset("x", (3,), dtype="f8", external=[(str(other), 0, 24)])
    with pytest.raises(BadInput, match=r"elsewhere in the file|in another file"):
        read(path)
