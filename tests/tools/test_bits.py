"""tools/bits.py finds a changed number, type, shape or spec, and says nothing where all is the same."""

from __future__ import annotations

import sys
from pathlib import Path

import h5py
import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))

import bits


def write(out: Path, values: np.ndarray, spec: str = "abc") -> dict[str, str]:
    (out / "runs" / "one").mkdir(parents=True, exist_ok=True)
    with h5py.File(out / "runs" / "one" / "results.h5", "w") as file:
        file.attrs["spec_hash"] = spec
        file["loss"] = values
        file["label"] = np.array(["a", "b"], dtype=h5py.string_dtype())
        file.create_group("entry")
    return dict(bits.hashes(out))


def test_the_same_numbers_have_the_same_hashes(tmp_path: Path) -> None:
    first = write(tmp_path / "a", np.array([1.0, np.nan, -0.0]))
    assert set(first) == {"runs/one: spec", "runs/one: loss", "runs/one: label"}
    assert bits.compare(first, write(tmp_path / "b", np.array([1.0, np.nan, -0.0]))) == []


@pytest.mark.parametrize(
    "changed",
    [
        np.array([np.nextafter(1.0, 2.0), 2.0]),
        np.array([1.0, 2.0], dtype=np.float32),
        np.array([[1.0, 2.0]]),
        np.array([1.0, 2.0, 3.0]),
    ],
)
def test_any_change_is_found(changed: np.ndarray, tmp_path: Path) -> None:
    before = write(tmp_path / "a", np.array([1.0, 2.0]))
    assert bits.compare(before, write(tmp_path / "b", changed)) == ["runs/one: loss: differs"]


def test_another_spec_and_a_missing_run_are_found(tmp_path: Path) -> None:
    before = write(tmp_path / "a", np.ones(2))
    assert bits.compare(before, write(tmp_path / "b", np.ones(2), spec="other")) == ["runs/one: spec: differs"]
    assert len(bits.compare(before, {})) == len(bits.compare({}, before)) == 3


def test_the_short_runs_are_those_whose_head_says_so() -> None:
    short = bits.short_runs()
    assert "quickstart" in short
    assert "lazy_generalisation" not in short
