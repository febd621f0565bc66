"""--data and SIMLAB_DATA: the directory reaches the workers, whatever directory they run in."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from tests.support.runs import datasets, small_tables

Call = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def spec(tmp_path: Path, write_spec: Callable[..., Path]) -> Path:
    (tmp_path / "store").mkdir()
    np.save(tmp_path / "store" / "x.npy", np.random.default_rng(0).standard_normal((30, 4)))
    tables: dict[str, Any] = {**small_tables(), "data": {"kind": "arrays", "path": "x.npy"}}
    return write_spec(tables)


def test_data_reach_the_workers(tmp_path: Path, spec: Path, simlab: Call) -> None:
    assert simlab("run", spec, "-o", "a", "--data", "store", "-q").returncode == 0
    assert simlab("run", spec, "-o", "b", "-q", env={"SIMLAB_DATA": str(tmp_path / "store")}).returncode == 0
    assert datasets(tmp_path / "a" / "results.h5") == datasets(tmp_path / "b" / "results.h5")
    with h5py.File(tmp_path / "a" / "results.h5") as file:
        assert np.isfinite(file["train_loss"][()]).all()


def test_without_data_it_says_so_at_once(tmp_path: Path, spec: Path, simlab: Call) -> None:
    refused = simlab("run", spec, "-o", "a", "-q", env={"SIMLAB_DATA": ""})
    assert refused.returncode == 2
    assert refused.stderr.endswith("use --data DIR or set SIMLAB_DATA\n")
    assert len(refused.stderr.splitlines()) == 1
    assert simlab("run", spec, "-o", "a", "--data", "store", "-q").returncode == 0
    assert simlab("resume", "a", "--data", "store", "-q").returncode == 0


@pytest.mark.parametrize("command", [["run", "spec.toml"], ["resume", "a"], ["reproduce", "relu_decay"]])
def test_a_directory_that_is_not_there(tmp_path: Path, spec: Path, simlab_again: Call, command: list[str]) -> None:
    for place, says in (("nowhere", "no such directory"), ("spec.toml", "is not a directory")):
        done = simlab_again(*command, "--data", place)
        assert done.returncode == 2
        assert done.stderr == f"simlab: --data {place}: {says}\n"
