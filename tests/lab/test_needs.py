"""What is missing is said before anything is written: data, memory."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from simlab.core import catalogue
from simlab.core.errors import BadInput
from simlab.lab import needs
from simlab.lab.estimate import estimate
from simlab.lab.options import RunOptions
from simlab.lab.spec import resolve
from tests.support.runs import small_tables

Call = Callable[..., subprocess.CompletedProcess[str]]
Write = Callable[..., Path]
IMAGES: dict[str, Any] = {
    **catalogue.examples("experiments", "real_data")[0],
    "sweep": {"kernel.depth": [2, 3, 4], "seeds": 2},
    "figure": {"kind": "accuracies"},
}


def test_missing_images_are_one_line_and_no_files(tmp_path: Path, simlab_again: Call, write_spec: Write) -> None:
    path, store = write_spec(IMAGES), tmp_path / "store"
    store.mkdir()
    for data, says in (((), "use --data DIR or set SIMLAB_DATA"), (("--data", store), "not found in")):
        done = simlab_again("run", path, "-o", "out", *data)
        assert (done.returncode, done.stdout) == (2, "")
        assert len(done.stderr.splitlines()) == 1
        assert says in done.stderr
    assert not (tmp_path / "out").exists()


def test_also_from_python_and_when_a_run_goes_on(
    tmp_path: Path, simlab_again: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    import simlab
    from simlab.lab.directory import RunDirectory

    monkeypatch.delenv("SIMLAB_DATA", raising=False)
    with pytest.raises(BadInput, match="use --data DIR or set SIMLAB_DATA"):
        simlab.run(IMAGES, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    run = RunDirectory(tmp_path / "begun")
    run.path.mkdir()
    run.begin(resolve(IMAGES, seed=1), overwrite=False)
    before = sorted(path.name for path in run.path.iterdir())
    done = simlab_again("resume", run.path)
    assert done.returncode == 2
    assert "use --data DIR or set SIMLAB_DATA" in done.stderr
    assert sorted(path.name for path in run.path.iterdir()) == before


def test_finished_points_need_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A finished run is opened and drawn anew without its data."""
    monkeypatch.delenv("SIMLAB_DATA", raising=False)
    spec = resolve(IMAGES, seed=1)
    needs.check(spec, range(spec.sweep.points))
    for left in (0, spec.sweep.points - 1):
        with pytest.raises(BadInput, match="SIMLAB_DATA"):
            needs.check(spec, {*range(spec.sweep.points)} - {left})


def test_a_run_without_a_finished_point_draws_nothing(tmp_path: Path, simlab: Call, write_spec: Write) -> None:
    """Rows that run out are noticed at the points only: one line for all of them, results, no figure."""
    import numpy as np

    np.save(tmp_path / "x.npy", np.eye(4))
    tables = small_tables(seeds=3) | {"data": {"kind": "arrays", "path": "x.npy"}}
    tables["figure"] = {"kind": "trajectories", "y": ["train_loss"]}
    done = simlab("run", write_spec(tables), "-o", "out", "--data", tmp_path, "--json", "-q")
    assert done.returncode == 3
    assert json.loads(done.stdout)["figure"] is None
    assert not (tmp_path / "out" / "figure.png").exists()
    said = done.stderr.splitlines()
    assert len(said) == 2
    assert said[0].startswith("simlab: failed: seed=0 and 2 more points: BadInput: ")
    assert said[1].startswith("simlab: 3 of 3 points failed; `simlab status --traceback out` shows where")


@pytest.mark.parametrize("width", [10**11, 10**18, (1 << 63) - 1])
def test_a_width_of_any_size_has_an_estimate(tmp_path: Path, simlab_again: Call, write_spec: Write, width: int) -> None:
    tables = small_tables()
    tables["network"]["width"] = width
    dim = tables["data"]["dim"]
    done = simlab_again("run", write_spec(tables), "-o", "out", "--dry-run", "--json")
    plan = json.loads(done.stdout, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
    assert plan["memory"] >= 8 * width * (dim + 1), "the weights alone, in float64"
    assert plan["memory"] < 100 * width * (dim + 1)
    assert 0 < plan["memory_free"] < 1e16
    assert plan["seconds"] > 0
    printed = simlab_again("run", write_spec(tables), "-o", "out", "--dry-run").stdout
    assert re.search(r"memory: at least \S+ [TE]B for the largest point; \S+ [GM]B are free: it cannot be run", printed)
    refused = simlab_again("run", write_spec(tables), "-o", "out")
    assert refused.returncode == 2
    assert re.fullmatch(r"simlab: needs at least \S+ [TE]B of memory, and \S+ [GM]B are free\n", refused.stderr)
    assert not (tmp_path / "out").exists()


def test_where_some_points_fit_they_are_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = resolve(small_tables(**{"network.width": [10, 20, 10**12]}))
    said: list[str] = []
    needs.check(spec, (), said.append)
    assert len(said) == 1
    assert said[0].startswith("network.width=1000000000000: needs at least ")
    needs.check(spec, {0, 1}, said.append)
    assert len(said) == 2, "tried again where the others have finished"
    needs.check(spec, {0, 1, 2}, said.append)
    assert len(said) == 2, "nothing is left to do"
    with pytest.raises(BadInput, match=r"network\.width=100000000000: needs at least"):
        needs.check(resolve(small_tables(**{"network.width": [10**11, 10**12]})), (), said.append)


@pytest.mark.parametrize("kind", catalogue.names("experiments"))
def test_memory_is_a_number_of_bytes(kind: str) -> None:
    """Small examples need little, and no less than what they hold: at least one number."""
    for tables in catalogue.examples("experiments", kind):
        nbytes = resolve(tables, seed=0).at(0).memory()
        assert nbytes is None or 8.0 <= nbytes < 1e8


def test_sizes_in_words() -> None:
    assert [needs.size(n) for n in (0, 999, 1000, 2.5e9, 8.8e12, 3e18, 4e21)] == [
        "0 bytes", "999 bytes", "1 kB", "2.5 GB", "8.8 TB", "3 EB", "4e+03 EB",
    ]  # fmt: skip


def test_an_experiment_that_does_not_tell_is_not_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = resolve(small_tables())
    monkeypatch.setattr(spec.experiment_class, "memory", lambda self: None)
    needs.check(spec)
    assert estimate(spec, 1).memory == 0


def test_options_of_the_wrong_type() -> None:
    for options, says in (
        ({"workers": 0}, "workers = 0: must be a whole number of at least 1"),
        ({"workers": 1.5}, "workers = 1.5: must be"),
        ({"order": "random"}, "order = 'random': unknown (allowed: listed, shuffled)"),
        ({"commit_seconds": -1.0}, "commit_seconds = -1.0: must be"),
    ):
        with pytest.raises(BadInput, match=re.escape(says)):
            RunOptions(**options)  # type: ignore[arg-type]
