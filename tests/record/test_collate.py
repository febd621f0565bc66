"""results.h5: shapes, padding, fill values, links, and what other readers make of it."""

from __future__ import annotations

import warnings
from pathlib import Path

import h5py
import numpy as np
import pytest
import xarray

from simlab.core.errors import BadInput
from simlab.record import collate as collating
from simlab.record.collate import Dimension, collate
from simlab.record.index import Index
from simlab.record.reader import Results
from simlab.record.schema import Output
from simlab.record.segments import Checkpoint
from simlab.record.writer import Writer

OUTPUTS = {
    "step": Output("steps", ("record",), dtype="int64"),
    "loss": Output("loss of the net", ("record",), unit="1"),
    "neuron": Output("norms of the neurons", ("record", "unit"), dtype="float32"),
    "rate": Output("given once"),
    "spectrum": Output("given once", ("degree",), coords={"degree": np.array([1.0, 2.0, 4.0])}),
    "count": Output("given once", dtype="int8"),
}
DIMENSIONS = [
    Dimension("flow.step", 2, {"flow.step": [0.1, 0.2], "flow.alpha": [1.0, 10.0]}),
    Dimension("network.kind", 2, {"network.kind": ["a", "b"]}),
    Dimension("seed", 3, {"seed": [0, 1, 2]}),
]
LENGTHS = [4, 4, 4, 2, 2, 2, 7, 7, 7, 0, 3, 5]  # by point: unequal, one of them never begun, one unfinished


def value(point: int, record: int) -> float:
    return point + record / 100


def write_segments(directory: Path) -> None:
    """Rows of 12 points in several segments, some of them there twice."""
    directory.mkdir()
    writers = [Writer(directory, "abc", {}) for _ in range(3)]
    for point, length in enumerate(LENGTHS):
        if not length:
            continue
        width = 2 + point % 2
        for pieces in (((0, length),), ((0, 1), (1, length)))[: 1 + (point % 4 == 0)]:
            wrote = writers[(point + len(pieces)) % 3]
            for start, stop in pieces:
                records = np.arange(start, stop)
                loss = np.array([value(point, r) for r in records])
                neuron = np.repeat(loss[:, np.newaxis], width, axis=1).astype(np.float32)
                wrote.add(point, start, {"step": records * 10, "loss": loss, "neuron": neuron})
        once = {"rate": np.array([point / 2]), "spectrum": np.full((1, 3), float(point)), "count": np.int8([point])}
        wrote.add(point, -1, once)
        if point != 11:
            wrote.finish(point, length)
    writers[0].commit({11: Checkpoint({}, 4, 0, 1)})  # one row past the checkpoint: it does not count
    for wrote in writers[1:]:
        wrote.commit({})


@pytest.fixture(params=[1 << 28, 64, 8], ids=["at once", "in slabs", "in tiny slabs"])
def results(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same results whatever the size of a slab."""
    monkeypatch.setattr(collating, "SLAB_BYTES", request.param)
    write_segments(tmp_path / "segments")
    path = tmp_path / "results.h5"
    collate(path, Index.read(tmp_path / "segments", "abc"), DIMENSIONS, OUTPUTS, {"spec": "x" * 100_000})
    return path


def test_every_value_is_where_it_belongs(results: Path) -> None:
    found = Results(results)
    assert found["loss"].shape == (2, 2, 3, 7)
    assert found["neuron"].shape == (2, 2, 3, 7, 3)
    assert found["length"].ravel().tolist() == [*LENGTHS[:11], 4]
    loss, step, neuron = found["loss"].reshape(12, 7), found["step"].reshape(12, 7), found["neuron"].reshape(12, 7, 3)
    for point, length in enumerate(found["length"].ravel()):
        wanted = [value(point, r) for r in range(length)]
        assert np.array_equal(loss[point, :length], wanted)
        assert np.isnan(loss[point, length:]).all()
        assert np.array_equal(step[point], [10 * r if r < length else -1 for r in range(7)])
        width = 2 + point % 2
        assert np.array_equal(neuron[point, :length, :width], np.repeat(np.float32(wanted), width).reshape(-1, width))
        assert np.isnan(neuron[point, :length, width:]).all()
    assert np.array_equal(found["rate"].ravel(), [p / 2 if LENGTHS[p] else np.nan for p in range(12)], equal_nan=True)
    assert found["count"].ravel().tolist() == [p if LENGTHS[p] else -1 for p in range(12)]
    assert found["status"].ravel().tolist() == [2] * 9 + [0, 2, 1]


def test_xarray_shows_names_and_coordinates_without_a_warning(results: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with xarray.open_dataset(results) as data:
            assert dict(data.sizes) == {
                "flow.step": 2, "network.kind": 2, "seed": 3, "record": 7, "unit": 3, "degree": 3,
            }  # fmt: skip
            assert data["flow.alpha"].dims == ("flow.step",)
            assert "flow.alpha" in data.coords
            assert data["network.kind"].values.tolist() == ["a", "b"]
            assert data["degree"].values.tolist() == [1.0, 2.0, 4.0]
            one = data["loss"].sel({"flow.step": 0.2, "network.kind": "a", "seed": 1})
            assert np.array_equal(one, [value(7, r) for r in range(7)])
            assert data["loss"].attrs == {
                "units": "1", "description": "loss of the net", "long_name": "loss of the net",
            }  # fmt: skip
            assert data.attrs["spec"] == "x" * 100_000


def test_nexus_links_lead_to_the_same_datasets(results: Path) -> None:
    with h5py.File(results) as file:
        data = file[file.attrs["default"]][file["entry"].attrs["default"]]
        assert data.attrs["NX_class"] == "NXdata"
        assert data[data.attrs["signal"]] == file["loss"]
        assert list(data.attrs["axes"]) == ["flow.step", "network.kind", "seed", "record"]
        assert all(axis in data for axis in data.attrs["axes"])
        assert file["loss"].compression == "gzip"
        assert file["loss"].shuffle


def test_the_light_reader(results: Path) -> None:
    found = Results(results.parent)
    at = {"flow.alpha": 10.0, "network.kind": "b", "seed": 2}
    assert np.array_equal(found.select("loss", at), [value(11, r) for r in range(4)])
    assert found.select("spectrum", at).tolist() == [11.0] * 3
    assert found.dims["neuron"] == ("flow.step", "network.kind", "seed", "record", "unit")
    assert "neuron" in repr(found)
    with pytest.raises(KeyError, match="did you mean"):
        found["los"]
    with pytest.raises(KeyError, match="is not in the sweep"):
        found.select("loss", {"seed": 9})


def test_no_axes_and_no_records(tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    wrote = Writer(tmp_path / "s", "abc", {})
    wrote.add(0, -1, {"rate": np.array([0.5])})
    wrote.finish(0, 0)
    wrote.commit({})
    names = ("rate", "loss")
    collate(tmp_path / "r.h5", Index.read(tmp_path / "s", "abc"), [], {n: OUTPUTS[n] for n in names}, {})
    with xarray.open_dataset(tmp_path / "r.h5") as data:
        assert float(data["rate"]) == 0.5
        assert data["loss"].shape == (0,)


def test_an_output_named_like_an_axis_is_refused(tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    index = Index.read(tmp_path / "s", "abc")
    with pytest.raises(BadInput, match="seed"):
        collate(tmp_path / "r.h5", index, DIMENSIONS, {"seed": Output("clash")}, {})
    assert not (tmp_path / "r.h5").exists()


@pytest.mark.parametrize("dtype", ["bool", "uint8", "complex128", "U5"])
def test_a_type_without_a_mark_for_no_value_is_refused(dtype: str) -> None:
    with pytest.raises(ValueError, match="must be a float or a signed integer"):
        Output("x", dtype=dtype)
