"""`simlab show` of results whose parts do not fit together."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from simlab.cli._show_ledger import show_ledger
from simlab.cli._show_run import summary
from simlab.core.errors import BadInput
from simlab.record.reader import Results
from simlab.record.schema import RESULTS_SCHEMA


def test_more_errors_than_points(tmp_path: Path) -> None:
    """`status` shorter than `error`: what fits is shown."""
    path = tmp_path / "results.h5"
    with h5py.File(path, "w") as file:
        file.attrs["simlab_results"] = RESULTS_SCHEMA
        file["point"] = np.arange(3)
        file["one"] = np.arange(1)
        for name, values, scale in (
            ("status", np.array([3], dtype=np.int8), "one"),
            ("error", ["a", "b", "c"], "point"),
        ):
            if not file[scale].is_scale:
                file[scale].make_scale(scale)
            file[name] = values
            file[name].dims[0].attach_scale(file[scale])
    assert len(Results(path)["error"]) == 3
    assert summary(path)["failures"] == [{"point": 0, "error": "a"}]


def test_other_names_for_dimensions_than_dimensions(tmp_path: Path) -> None:
    """HDF5 itself crashes there."""
    path = tmp_path / "results.h5"
    with h5py.File(path, "w") as file:
        file.attrs["simlab_results"] = RESULTS_SCHEMA
        file["point"] = np.arange(3)
        file["point"].make_scale("point")
        file["one"] = np.zeros(3)
        file["one"].dims[0].attach_scale(file["point"])
        file["two"] = np.zeros((3, 3))
        names = file["one"].attrs.get_id("DIMENSION_LIST")
        copy = h5py.h5a.create(file["two"].id, b"DIMENSION_LIST", names.get_type(), names.get_space())
        held = np.empty(names.shape, dtype=names.dtype)
        names.read(held)
        copy.write(held)
    with pytest.raises(BadInput, match="two has not as many dimensions as names for them"):
        Results(path)


def test_attributes_of_other_types_are_shown_as_text(tmp_path: Path) -> None:
    path = tmp_path / "results.h5"
    with h5py.File(path, "w") as file:
        file.attrs["simlab_results"] = RESULTS_SCHEMA
        file["x"] = np.arange(3)
        file["x"].make_scale("x")
        file["x"].attrs.update({"units": np.bytes_(b"m\xff"), "odd": np.array([b"a", b"b"]), "z": 1j})
    found = json.loads(json.dumps(summary(path)))["datasets"]["x"]
    assert (found["units"], found["odd"], found["z"]) == ("m\\xff", ["a", "b"], "1j")


@pytest.mark.parametrize(
    "row",
    [
        '{"claim": "a", "holds": true, "control": "refused"}',
        '{"claim": "a", "holds": 2, "control": null, "measured": "x"}',
        '{"claim": ["a"], "holds": true, "control": null, "measured": "x"}',
        '{"claim": "a", "holds": true, "control": "perhaps", "measured": "x"}',
        "[" * 100_000,
        "[1]",
        "7",
    ],
)
def test_what_is_no_ledger_is_one_line(row: str, tmp_path: Path) -> None:
    (tmp_path / "ledger.json").write_text(f"[{row}]")
    with pytest.raises(BadInput, match=r"ledger\.json: not a ledger of simlab"):
        show_ledger(tmp_path, as_json=False)
    (tmp_path / "verdict.json").write_text(row)
    with pytest.raises(BadInput, match=r"verdict\.json: not a verdict of simlab"):
        show_ledger(tmp_path, as_json=False)


@pytest.mark.parametrize("lengths", [np.array([2.0]), np.array(["x"], dtype=object), np.array([9]), np.array([], int)])
def test_lengths_that_do_not_fit_leave_the_range_of_all(lengths: Any, tmp_path: Path) -> None:
    path = tmp_path / "results.h5"
    with h5py.File(path, "w") as file:
        file.attrs["simlab_results"] = RESULTS_SCHEMA
        for name, size in (("seed", 1), ("record", 3), ("other", len(lengths))):
            file[name] = np.arange(size)
            file[name].make_scale(name)
        file["x"] = np.array([[1.0, 5.0, 2.0]])
        file["x"].dims[0].attach_scale(file["seed"])
        file["x"].dims[1].attach_scale(file["record"])
        file.create_dataset("length", data=lengths, dtype=h5py.string_dtype() if lengths.dtype == object else None)
        file["length"].dims[0].attach_scale(file["other"])
    assert summary(path)["datasets"]["x"]["range"] == [1.0, 5.0]
