"""A stop while results.h5 is being written leaves the old file or none, never a damaged one."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import h5py
import numpy as np
import pytest

from simlab.lab.directory import RunDirectory
from simlab.lab.spec import Spec, override, resolve
from simlab.record.writer import Writer
from tests.support.runs import small_tables

RECORDS = 1_000_000


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run whose results take a second or two to write."""
    spec: Spec = resolve(
        override(small_tables(seeds=2), [f"flow.steps={RECORDS - 1}", f"experiment.records={RECORDS}"])
    )
    run = RunDirectory(tmp_path_factory.mktemp("run"))
    run.begin(spec, overwrite=False)
    wrote = Writer(run.segments, spec.hash, {"versions": {}, "git_commit": "", "machine": {}})
    rng = np.random.default_rng(0)
    for point in range(2):
        wrote.add(point, 0, {"train_loss": rng.random(RECORDS), "step": np.arange(RECORDS)})
        wrote.finish(point, RECORDS)
        wrote.commit({})
    return run.path


def values(path: Path) -> bytes:
    with h5py.File(path) as file:
        return np.asarray(file["train_loss"][()]).tobytes() + np.asarray(file["step"][()]).tobytes()


def test_stops_at_many_instants(directory: Path) -> None:
    command = [sys.executable, "-m", "simlab", "collate", str(directory), "-q"]
    began = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    whole = time.monotonic() - began
    results = directory / "results.h5"
    reference = values(results)
    stopped = 0
    for i, number in enumerate([signal.SIGTERM, signal.SIGINT, signal.SIGHUP] * 2):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        time.sleep(whole * (0.3 + 0.1 * i))
        process.send_signal(number)
        _, said = process.communicate(timeout=30)
        assert process.returncode in (0, 128 + number), said
        assert len(said.splitlines()) <= 1
        stopped += process.returncode != 0
        assert values(results) == reference
        assert not list(directory.glob("*.tmp"))
    assert stopped >= 2, "the stops came too late to mean anything"
