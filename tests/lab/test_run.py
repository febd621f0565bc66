"""The run engine: same bits whatever the workers and the order; failures, refusals and limits."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray

from simlab.lab.directory import RunDirectory
from simlab.lab.options import RunOptions
from simlab.lab.run import run_spec
from simlab.lab.spec import resolve
from simlab.lab.worker import Worker
from simlab.record.reader import Results
from simlab.record.segments import Checkpoint, Segment
from simlab.record.writer import MERGE_SEGMENTS, Writer
from tests.support.runs import datasets, small_tables

Call = Callable[..., subprocess.CompletedProcess[str]]
Write = Callable[..., Path]


def test_workers_and_order_do_not_change_a_bit(tmp_path: Path, tables: dict[str, Any]) -> None:
    spec = resolve(tables)
    one = run_spec(spec, tmp_path / "one", RunOptions(workers=1))
    two = run_spec(spec, tmp_path / "two", RunOptions(workers=2, order="shuffled"))
    assert datasets(one.results) == datasets(two.results)
    assert len(datasets(one.results)) >= 10


def test_points_that_differ_in_alpha_share_data_and_initialisation(tmp_path: Path) -> None:
    """At step 0 the prediction is α f: with f and y shared, the loss at three α fixes f·f, f·y and y·y."""
    tables = small_tables(**{"flow.alpha": [1.0, 2.0, 3.0, 5.0], "seeds": 2})
    results = Results(run_spec(resolve(tables), tmp_path / "run").results)
    start = results["train_loss"][:, :, 0]
    alpha = results["flow.alpha"]
    for seed in range(2):
        parabola = np.polyfit(alpha[:3], start[:3, seed], 2)
        assert np.isclose(np.polyval(parabola, alpha[3]), start[3, seed], rtol=1e-10)
    assert not np.isclose(start[0, 0], start[0, 1])
    spec = resolve(tables)
    works = [spec.at(p).prepare(spec.sweep.streams(spec.seed, p)) for p in (0, 2)]
    assert np.array_equal(works[0].samples.X, works[1].samples.X)
    assert np.array_equal(works[0].samples.y, works[1].samples.y)
    assert np.array_equal(works[0].theta0, works[1].theta0)


def test_results_carry_their_provenance(tmp_path: Path, tables: dict[str, Any]) -> None:
    spec = resolve(tables)
    with xarray.open_dataset(run_spec(spec, tmp_path / "run").results) as data:
        assert data["train_loss"].dims == ("network.width", "seed", "record")
        assert data["network.width"].values.tolist() == [10, 20]
        assert data.attrs["spec"] == spec.text
        assert data.attrs["spec_hash"] == spec.hash
        assert data.attrs["seed"] == 3
        assert data.attrs["threads"] == 1
        assert set(json.loads(data.attrs["versions"])) >= {"simlab", "numba", "numpy", "scipy", "h5py", "python"}
        assert json.loads(data.attrs["machine"])["cores"] == os.cpu_count()
        assert data["train_loss"].attrs["description"]


def test_a_failed_point_is_recorded_and_the_others_go_on(tmp_path: Path, write_spec: Write, simlab: Call) -> None:
    """A width of 10^12 does not fit into any memory."""
    path = write_spec(small_tables(**{"network.width": [10, 10**12, 20], "seeds": 2}))
    out = tmp_path / "out"
    done = simlab("run", path, "-o", out)
    assert done.returncode == 3
    assert "network.width=1000000000000 seed=0" in done.stderr
    results = Results(out)
    assert results["status"].tolist() == [[2, 2], [3, 3], [2, 2]]
    assert np.isfinite(results["train_loss"][[0, 2]]).all()
    assert np.isnan(results["train_loss"][1]).all()
    assert "of memory, and" in results["error"][1, 0]
    status = json.loads(simlab("status", out, "--json").stdout)
    assert (status["finished"], status["failed"]) == (4, 2)
    assert "prepare" in status["failures"][0]["traceback"]
    again = simlab("resume", out)
    assert again.returncode == 3, "still no memory for it: tried again, failed again"
    failed = RunDirectory(out).index(RunDirectory(out).read_spec()).failed
    assert [failure[0] for failure in failed.values()] == [1, 1], "second attempt"


def test_resume_retries_a_failed_point_and_it_can_succeed(tmp_path: Path, write_spec: Write, simlab: Call) -> None:
    """Memory is short in the first run only: 1.6 GB of scratch under a limit of address space, then without."""
    tables = small_tables(**{"network.width": [10, 360_000], "seeds": 1})
    tables["flow"]["steps"] = 1
    tables["experiment"] |= {"samples": 1000, "records": 2}
    path, out = write_spec(tables), tmp_path / "out"
    limit = 2_000 << 20
    done = simlab(
        "run", path, "-o", out, "--workers", 1,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )  # fmt: skip
    assert done.returncode == 3, done.stderr
    assert Results(out)["status"].tolist() == [[2], [3]]
    assert simlab("resume", out).returncode == 0
    assert Results(out)["status"].tolist() == [[2], [2]]
    assert "error" not in Results(out)


def test_a_file_size_limit_stops_cleanly_and_resumes_when_there_is_room(
    tmp_path: Path, write_spec: Write, simlab: Call
) -> None:
    tables = small_tables(**{"network.width": [10, 400], "seeds": 2})
    tables["experiment"]["records"] = 2000
    tables["flow"]["steps"] = 4000
    path, out, free = write_spec(tables), tmp_path / "out", tmp_path / "free"
    limit = 60_000  # bytes per file: less than one point's rows
    done = simlab(
        "run", path, "-o", out, "-q", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    )
    assert done.returncode == 1
    assert "File too large" in done.stderr
    assert "simlab resume" in done.stderr
    assert "Traceback" not in done.stderr
    assert not list((out / "segments").glob("*.tmp"))
    assert simlab("resume", out).returncode == 0
    assert simlab("run", path, "-o", free).returncode == 0
    assert datasets(out / "results.h5") == datasets(free / "results.h5")


def test_files_of_the_current_directory_do_not_stand_in_for_modules(
    tmp_path: Path, tables: dict[str, Any], write_spec: Write
) -> None:
    path = write_spec(tables)
    (tmp_path / "platform.py").write_text("raise RuntimeError('shadowed')")
    command = [str(Path(sys.executable).with_name("simlab")), "run", str(path), "-o", str(tmp_path / "out"), "-q"]
    assert subprocess.run(command, cwd=tmp_path, check=False).returncode == 0


def test_a_checkpoint_whose_file_was_merged_away_is_found_again(tmp_path: Path) -> None:
    """A worker adopts old segments of mixed levels, merges them while it works, then goes on with a point of theirs."""
    spec = resolve(small_tables(seeds=12))
    run = RunDirectory(tmp_path / "out")
    run.path.mkdir()
    run.begin(spec, overwrite=False)

    def begun(point: int) -> Checkpoint:
        experiment, streams = spec.at(point), spec.sweep.streams(spec.seed, point)
        return Checkpoint(experiment.start(experiment.prepare(streams), streams).arrays(), 0, 0, 1)

    for point in range(10):
        wrote = Writer(run.segments, spec.hash, {})
        path = wrote.commit({point: begun(point)})
        assert path is not None
        if point % 2:
            wrote.merge([Segment.read(path)], 1)
    with open(os.devnull, "w") as nowhere:
        worker = Worker(run.path, 30.0, nowhere)
        worker._merge()
        held = run.index(spec).checkpoints[0].segment.path
        for _ in range(MERGE_SEGMENTS):
            worker.writer.commit({11: begun(11)})
        assert not held.exists(), "the file was not merged: nothing is tested"
        worker._compute(0, True, 0)
        assert not worker.writer.failed
        worker._commit({})
    index = run.index(spec)
    assert not index.failed
    assert list(index.finished) == [0]


def test_many_old_segments_are_merged_by_the_next_run(tmp_path: Path) -> None:
    spec = resolve(small_tables(seeds=12))
    run = RunDirectory(tmp_path / "out")
    run.path.mkdir()
    run.begin(spec, overwrite=False)
    reference = run_spec(spec, tmp_path / "reference")
    rows = Results(reference.results)
    for point in range(11):
        wrote = Writer(run.segments, spec.hash, {"versions": {}, "git_commit": "", "machine": {}})
        names = [name for name in rows if rows.dims[name] == ("seed", "record")]
        wrote.add(point, 0, {name: rows[name][point] for name in names})
        wrote.add(point, -1, {name: rows[name][point : point + 1] for name in ("step_size", "ending", "diverged")})
        wrote.finish(point, 6)
        wrote.commit({})
    assert len(list(run.segments.iterdir())) == 11
    outcome = run_spec(spec, run.path)
    assert len(list(run.segments.iterdir())) <= 3
    assert datasets(outcome.results) == datasets(reference.results)


def test_a_worker_that_dies_is_replaced(tmp_path: Path, write_spec: Write) -> None:
    """The worker is killed as the first point starts, twice; the third one is left alone."""
    tables = small_tables(**{"network.width": [10, 20], "seeds": 2})
    spec, out = resolve(tables), tmp_path / "out"
    killer = (
        "import os, sys, pathlib; import simlab.lab.worker as w; mark = pathlib.Path(sys.argv[1])\n"
        "n = len(mark.read_text()) if mark.exists() else 0\n"
        "mark.write_text('x' * (n + 1))\n"
        "w.Worker._compute = (lambda *a: os.kill(os.getpid(), 9)) if n < 2 else w.Worker._compute\n"
        "w.main()\n"
    )
    mark = tmp_path / "mark"
    real = subprocess.Popen

    def popen(arguments: list[str], **options: Any) -> Any:
        return real([sys.executable, "-c", killer, str(mark)], **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("simlab.lab.pool.subprocess.Popen", popen)
        outcome = run_spec(spec, out, RunOptions(workers=1))
    assert not outcome.failed
    assert len(mark.read_text()) == 3
    reference = run_spec(spec, tmp_path / "reference", RunOptions(workers=1))
    assert datasets(outcome.results) == datasets(reference.results)


def test_a_point_that_kills_every_worker_is_failed_and_the_others_go_on(tmp_path: Path) -> None:
    spec = resolve(small_tables(**{"network.width": [10, 20], "seeds": 2}))
    killer = (
        "import os; import simlab.lab.worker as w; real = w.Worker._compute\n"
        "w.Worker._compute = lambda self, p, *a: os.kill(os.getpid(), 9) if p == 1 else real(self, p, *a)\n"
        "w.main()\n"
    )
    real = subprocess.Popen
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("simlab.lab.pool.subprocess.Popen", lambda a, **o: real([sys.executable, "-c", killer], **o))
        outcome = run_spec(spec, tmp_path / "out", RunOptions(workers=1))
    assert list(outcome.failed) == [1]
    assert "3 workers died at this point (signal 9" in outcome.failed[1]
    assert Results(outcome.results)["status"].ravel().tolist() == [2, 3, 2, 2]


def test_unequal_lengths_are_stored(tmp_path: Path) -> None:
    """A step far past the edge diverges; its trajectory is shorter and says so."""
    tables = small_tables(**{"flow.step": [0.1, 1e6]})
    results = Results(run_spec(resolve(tables), tmp_path / "run").results)
    assert results["diverged"].tolist() == [0, 1]
    assert results["ending"].tolist() == [0, 2]
    short, full = results["length"][1], results["length"][0]
    assert 1 < short < full == 6
    last = results.select("train_loss", {"flow.step": 1e6})
    assert last[-1] > 1e8 * last[0]
    assert np.isfinite(last[:-1]).all()
    assert np.all(np.diff(results.select("step", {"flow.step": 1e6})) > 0), "no step is recorded twice"
    assert np.isnan(results["train_loss"][1, short:]).all()
    assert (results["step"][1, short:] == -1).all()
