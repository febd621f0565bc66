"""`simlab.open`: always an xarray.Dataset with coordinates, by the CF conventions; what cannot be opened is said."""

from __future__ import annotations

import re
import subprocess
import sys
import typing
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import xarray

import simlab
from simlab.core.errors import BadInput
from simlab.record.collate import Dimension, collate
from simlab.record.index import Index, Status
from simlab.record.reader import Results
from simlab.record.schema import RESULTS_SCHEMA, Output
from simlab.record.writer import Writer

ENDINGS = {0: "ran to its end", 3: "the solver's step (flow.step) is too small"}
OUTPUTS = {
    "step": Output("number of steps", ("record",), dtype="int64"),
    "time": Output("time of the flow", ("record",), unit="s"),  # no date, whatever its unit
    "loss": Output("loss of the net", ("record",)),
    "norm": Output("norm of a neuron", ("record", "neuron"), unit="m"),
    "ending": Output("how it ended", dtype="int8", codes=ENDINGS),
    "counted": Output("neurons that are alive", dtype="int32"),
    "rate": Output("rate of decay"),
}
DIMENSIONS = [
    Dimension("flow.step", 2, {"flow.step": [0.1, 0.2], "flow.alpha": [1.0, 10.0]}),
    Dimension("network.bias", 2, {"network.bias": [False, True]}),
]


def write(directory: Path, lengths: list[int], shift: float = 0.0) -> Path:
    """Four points with so many records each; one with none was never begun."""
    (directory / "segments").mkdir(parents=True)
    wrote = Writer(directory / "segments", "abc", {})
    for point, length in enumerate(lengths):
        if length:
            records = np.arange(length)
            rows = {"step": 10 * records, "time": records / 2, "loss": point + shift + records / 100}
            wrote.add(point, 0, rows | {"norm": np.ones((length, 2))})
            once = {"ending": np.int8([3 * (point % 2)]), "counted": np.int32([point]), "rate": np.array([0.5])}
            wrote.add(point, -1, once)
            wrote.finish(point, length)
    wrote.commit({})
    index = Index.read(directory / "segments", "abc")
    collate(directory / "results.h5", index, DIMENSIONS, OUTPUTS, {"spec": "text", "seed": 3})
    return directory


@pytest.fixture(params=["simlab", "xarray alone"])
def opened(request: pytest.FixtureRequest) -> Callable[[Path], xarray.Dataset]:
    """Both ways to open a file; for values that are missing they show the same."""

    def load(directory: Path) -> xarray.Dataset:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            if request.param == "simlab":
                return simlab.open(directory)
            return xarray.open_dataset(directory / "results.h5", decode_timedelta=False)

    return load


def test_axes_step_and_time_are_coordinates(tmp_path: Path, opened: Any) -> None:
    with opened(write(tmp_path, [3, 2, 3, 0])) as data:
        assert isinstance(data, xarray.Dataset)
        assert set(data.coords) == {"flow.step", "flow.alpha", "network.bias", "record", "neuron", "step", "time"}
        assert set(data.data_vars) == {"loss", "norm", "ending", "counted", "rate", "length", "status"}
        one = data["norm"].isel({"flow.step": 0, "network.bias": 1})
        assert set(one.coords) == {"flow.step", "flow.alpha", "network.bias", "record", "neuron", "step", "time"}
        assert one["time"].values.tolist()[:2] == [0.0, 0.5]
        assert "step" not in data["rate"].coords
        swept = data["rate"].swap_dims({"flow.step": "flow.alpha"}).sel({"flow.alpha": 10.0, "network.bias": 0})
        assert float(swept) == 0.5
        assert data.attrs["spec"] == "text"


def test_missing_values_are_nan(tmp_path: Path, opened: Any) -> None:
    with opened(write(tmp_path, [3, 2, 3, 0])) as data:
        assert data["step"].values[0].tolist()[0] == [0, 10, 20]
        assert np.isnan(data["step"].values[0, 1, 2:]).all()
        assert np.isnan(data["step"].values[1, 1]).all()
        assert np.array_equal(data["counted"], [[0, 1], [2, np.nan]], equal_nan=True)
        assert np.array_equal(data["ending"], [[0, 3], [0, np.nan]], equal_nan=True)
        assert data["status"].dtype == np.int8
        assert data["length"].dtype == np.int64
    raw = Results(tmp_path)
    assert raw["counted"].tolist() == [[0, 1], [2, -1]]
    assert raw["step"][0, 1].tolist() == [0, 10, -1]


def test_integers_of_which_none_is_missing_stay_integers(tmp_path: Path) -> None:
    with simlab.open(write(tmp_path, [2, 2, 2, 2])) as data:
        for name in ("step", "counted", "ending"):
            assert data[name].dtype == OUTPUTS[name].dtype
            assert data[name].encoding["_FillValue"] == -1
            assert "missing_count" not in data[name].attrs
        assert data["counted"].values.tolist() == [[0, 1], [2, 3]]
        data.to_netcdf(tmp_path / "copy.nc", engine="h5netcdf")
        copy = xarray.open_dataset(tmp_path / "copy.nc", engine="h5netcdf", decode_timedelta=False)
        assert copy.equals(data)
        copy.close()


@pytest.mark.parametrize("lengths", [[3, 2, 3, 0], [2, 2, 2, 2]], ids=["missing", "whole"])
def test_attributes_follow_the_cf_conventions(tmp_path: Path, lengths: list[int]) -> None:
    with h5py.File(write(tmp_path, lengths) / "results.h5") as file:
        found = {name: item for name, item in file.items() if isinstance(item, h5py.Dataset)}
        assert len(found) == 14
        for name, item in found.items():
            assert item.attrs["long_name"], name
            assert "units" not in item.attrs or item.attrs["units"], name
            is_integer_output = name in OUTPUTS and OUTPUTS[name].dtype.startswith("int")
            assert ("_FillValue" in item.attrs) == is_integer_output, name
            if is_integer_output:
                assert item.attrs["_FillValue"] == -1
                assert item.attrs["_FillValue"].dtype == item.dtype
                assert item.attrs["missing_count"] == np.count_nonzero(item[()] == -1)
            if flags := item.attrs.get("flag_meanings"):
                assert item.attrs["flag_values"].dtype == item.dtype
                assert all(re.fullmatch(r"[A-Za-z0-9_.+@-]+", word) for word in flags.split(" "))
                assert len(flags.split(" ")) == len(item.attrs["flag_values"])
        assert file["time"].attrs["units"] == "s"
        assert found["ending"].attrs["flag_values"].tolist() == [0, 3]
        assert found["ending"].attrs["flag_meanings"] == "ran_to_its_end the_solver_s_step_flow.step_is_too_small"
        assert found["ending"].attrs["long_name"] == "how it ended"
        assert found["ending"].attrs["description"].endswith("3: the solver's step (flow.step) is too small")
        codes = dict(
            zip(found["status"].attrs["flag_values"], found["status"].attrs["flag_meanings"].split(), strict=True)
        )
        assert codes == {mark.value: mark.name.lower() for mark in Status}
        assert found["network.bias"].attrs["flag_meanings"] == "false true"
        assert found["loss"].attrs["coordinates"] == "flow.alpha step time"
        assert found["step"].attrs["coordinates"] == "flow.alpha"
        assert found["rate"].attrs["coordinates"] == "flow.alpha"


@pytest.mark.parametrize("codes", [{0: "a b", 1: "a_b"}, {0: "…"}])
def test_codes_without_words_of_their_own_are_refused(codes: dict[int, str]) -> None:
    with pytest.raises(ValueError, match="each must have a meaning of its own"):
        Output("x", dtype="int8", codes=codes)


def test_results_written_anew_do_not_disturb_a_dataset_that_is_open(tmp_path: Path) -> None:
    """Values are read late; the file that was opened is the one that they come from."""
    before = simlab.open(write(tmp_path / "run", [3, 3, 0, 0]))
    write(tmp_path / "again", [3, 3, 5, 4], shift=100.0)
    index = Index.read(tmp_path / "again" / "segments", "abc")
    collate(tmp_path / "run" / "results.h5", index, DIMENSIONS, OUTPUTS, {})
    with simlab.open(tmp_path / "run") as after:
        assert after["loss"].values[0, 0].tolist() == [100.0, 100.01, 100.02, *[pytest.approx(np.nan, nan_ok=True)] * 2]
        assert before["loss"].values[0, 0].tolist() == [0.0, 0.01, 0.02]
        assert before["loss"].shape == (2, 2, 3)
    before.close()
    (tmp_path / "run" / "results.h5").unlink()


def test_nothing_is_read_before_it_is_asked_for(tmp_path: Path) -> None:
    with simlab.open(write(tmp_path, [3, 3, 3, 3])) as data:
        assert not data["loss"].variable._in_memory
        assert not data["step"].variable._in_memory


def as_before(path: Path) -> None:
    """Make of the file what simlab wrote before it followed the CF conventions."""
    with h5py.File(path, "r+") as file:
        for item in file.values():
            if isinstance(item, h5py.Dataset):
                for name in {"long_name", "_FillValue", "missing_count", "flag_values", "flag_meanings"} & {
                    *item.attrs
                }:
                    del item.attrs[name]
                if "coordinates" in item.attrs:
                    item.attrs["coordinates"] = "flow.alpha"
                    item.attrs["units"] = ""


def test_files_of_earlier_versions_open_with_the_same_coordinates(tmp_path: Path) -> None:
    as_before(write(tmp_path, [3, 2, 3, 0]) / "results.h5")
    with simlab.open(tmp_path) as data:
        assert {"step", "time", "flow.alpha"} <= set(data.coords)
        assert data["counted"].values.tolist() == [[0, 1], [2, -1]]


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def of_format_7(path: Path) -> None:
    with h5py.File(path, "r+") as file:
        file.attrs["simlab_results"] = RESULTS_SCHEMA + 6


def of_somebody_else(path: Path) -> None:
    with h5py.File(path, "w") as file:
        file["x"] = [1.0]


@pytest.mark.parametrize("reader", [simlab.open, Results])
@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (cut, r"results\.h5: cannot be read as HDF5"),
        (lambda path: path.write_bytes(b""), r"results\.h5: cannot be read as HDF5"),
        (lambda path: path.write_text("text"), r"results\.h5: cannot be read as HDF5"),
        (of_format_7, r"results of format 7, and this simlab reads format 1; install the newer simlab"),
        (of_somebody_else, "HDF5, but not a results file of simlab"),
        (lambda path: path.unlink(), r"no results\.h5 here$"),
    ],
    ids=["cut", "empty", "text", "other format", "other file", "gone"],
)
def test_what_cannot_be_opened_is_said_in_one_line(tmp_path: Path, spoil: Any, says: str, reader: Any) -> None:
    spoil(write(tmp_path, [1, 1, 1, 1]) / "results.h5")
    with pytest.raises(BadInput, match=says) as caught:
        reader(tmp_path)
    assert "\n" not in str(caught.value)


def test_nothing_there(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"nothing\.h5: no such file"):
        simlab.open(tmp_path / "nothing.h5")
    (tmp_path / "spec.toml").write_text("")
    with pytest.raises(BadInput, match=r"no results\.h5 here; `simlab collate .*` writes it"):
        simlab.open(tmp_path)


def test_open_is_typed_and_importing_simlab_imports_no_xarray() -> None:
    assert typing.get_type_hints(simlab.open, localns={"xarray": xarray, "Path": Path})["return"] is xarray.Dataset
    code = "import simlab, sys; simlab.open; print(*({'xarray', 'numpy', 'h5py', 'numba'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
