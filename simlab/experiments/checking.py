"""Whether an experiment keeps the contract: its own tests run on every kind, also on one from another package."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from simlab.core.checking import check_value, ensure
from simlab.core.rng import Streams
from simlab.core.state import State
from simlab.experiments.experiment import Columns, Experiment
from simlab.record.schema import COORDINATES, RESERVED, Output
from simlab.record.segments import Checkpoint, Segment
from simlab.record.writer import Writer

SEED = 3
FEW_RECORDS = 6
"""With a clock that runs fast, as many records (or all, if fewer) must take as many calls of `advance`."""


@dataclass
class Run:
    """What a run of one point gave.

    columns: recorded name → its rows, or its value.
    calls: number of calls of `advance`.
    """

    columns: dict[str, NDArray[Any]] = field(default_factory=dict)
    calls: int = 0


def check_experiment(experiment: Experiment) -> None:
    """Raise AssertionError, one line, where the experiment breaks the contract. It is run three times, so be it small.

    Files that its data need must be there.
    """
    check_value(experiment, Experiment)
    outputs = experiment.outputs()
    _check_outputs(experiment, outputs)
    _check_estimates(experiment)
    whole = _run(experiment, outputs)
    _check_whole(experiment, outputs, whole)
    # Every look at the clock finds a second gone, so that each call of `advance` does as little as it can.
    with patch.object(time, "monotonic", map(float, count()).__next__), TemporaryDirectory() as folder:
        pieces = _run(experiment, outputs, Path(folder))
    for name, values in whole.columns.items():
        ensure(
            values.tobytes() == pieces.columns[name].tobytes(),
            f"{experiment!r}: {name} has other bits where the state is saved, restored and the work prepared again "
            "after each call of advance",
        )
    records = max((len(whole.columns[name]) for name, output in outputs.items() if output.is_trajectory), default=0)
    ensure(
        pieces.calls >= min(records, FEW_RECORDS),
        f"{experiment!r}.advance: {records} records in {pieces.calls} calls with a clock that runs fast; "
        "look at time.monotonic and return",
    )


def _check_outputs(experiment: Experiment, outputs: Mapping[str, Output]) -> None:
    ensure(outputs, f"{experiment!r}.outputs() is empty: it must name what is recorded")
    for name, output in outputs.items():
        about = f"{experiment!r}.outputs(): {name}"
        ensure(isinstance(output, Output), f"{about} is no simlab.record.schema.Output")
        ensure(output.description, f"{about} has no description")
        ensure(name.isidentifier(), f"{about} is no name; use letters, digits and _")
        ensure(name not in RESERVED, f"{about} is a name that results.h5 uses itself")
    trajectories = {name for name, output in outputs.items() if output.is_trajectory}
    missing = [name for name in COORDINATES if trajectories and name not in trajectories]
    ensure(not missing, f"{experiment!r}.outputs(): no {missing}, the coordinates of every trajectory")


def _check_estimates(experiment: Experiment) -> None:
    flops, nbytes = experiment.cost() or (1, 1)
    ensure(flops > 0 and nbytes > 0, f"{experiment!r}.cost() = {(flops, nbytes)}: both must be more than 0, or None")
    memory = experiment.memory()
    ensure(memory is None or memory > 0, f"{experiment!r}.memory() = {memory}: must be more than 0, or None")


def _run(experiment: Experiment, outputs: Mapping[str, Output], checkpoints: Path | None = None) -> Run:
    """One point from start to end.

    checkpoints: folder; where it is given, the state goes through a file and the work is prepared again at every call.
    """
    streams = Streams(SEED)
    work = experiment.prepare(streams)
    parts: dict[str, list[NDArray[Any]]] = {}
    state, run = experiment.start(work, streams), Run()
    done = _check_progress(experiment, state, 0.0)
    while not experiment.finished(state):
        columns = experiment.advance(work, state)
        run.calls += 1
        _check_columns(experiment, outputs, columns)
        for name, values in columns.items():
            once = not outputs[name].is_trajectory
            ensure(not (once and name in parts), f"{experiment!r}.advance: {name} is given twice; declared once")
            parts.setdefault(name, []).append(values)
        done = _check_progress(experiment, state, done)
        if checkpoints is not None:
            state = experiment.restore(_through_a_file(state, checkpoints))
            work = experiment.prepare(Streams(SEED))
    run.columns = {n: np.concatenate(p) if outputs[n].is_trajectory else p[0] for n, p in parts.items()}
    return run


def _through_a_file(state: State, folder: Path) -> dict[str, Any]:
    path = Writer(folder, "x", {}).commit({0: Checkpoint(state.arrays(), 0, 0, 1)})
    assert path is not None
    return Segment.read(path).checkpoint(0).state


def _check_progress(experiment: Experiment, state: Any, before: float) -> float:
    done, total = experiment.progress(state)
    ensure(
        before <= done <= total,
        f"{experiment!r}.progress: {done} of {total} after {before}: must rise from 0 to the total",
    )
    return done


def _check_columns(experiment: Experiment, outputs: Mapping[str, Output], columns: Columns) -> None:
    """What one call of `advance` gave: declared names, number of dimensions, dtypes; as many rows of each."""
    rows = {}
    for name, values in columns.items():
        ensure(name in outputs, f"{experiment!r}.advance gives {name}, which outputs() does not declare")
        output = outputs[name]
        ensure(
            np.ndim(values) == len(output.dims),
            f"{experiment!r}: {name} has shape {np.shape(values)}; declared with the dimensions {output.dims}",
        )
        dtype = np.asarray(values).dtype
        ensure(dtype == output.dtype, f"{experiment!r}: {name} is {dtype}; declared as {output.dtype}")
        if output.is_trajectory:
            rows[name] = len(values)
    ensure(len(set(rows.values())) <= 1, f"{experiment!r}.advance: different numbers of new records: {rows}")
    missing = sorted(name for name, output in outputs.items() if rows and output.is_trajectory and name not in rows)
    ensure(not missing, f"{experiment!r}.advance: new records of {sorted(rows)} but none of {missing}")


def _check_whole(experiment: Experiment, outputs: Mapping[str, Output], whole: Run) -> None:
    """All names are there at the end, and a dimension is as long as its coordinates and as in every other output."""
    missing = sorted(set(outputs) - set(whole.columns))
    ensure(not missing, f"{experiment!r}: finished, but {missing} was never given")
    sizes: dict[str, int] = {}
    for name, output in outputs.items():
        for dim, size in zip(output.dims, whole.columns[name].shape, strict=True):
            wanted = len(output.coords[dim]) if dim in output.coords else sizes.setdefault(dim, size)
            ensure(size == wanted, f"{experiment!r}: {name} has {size} entries along {dim}; must be {wanted}")
