"""From a run's segments to its results.h5: what every point records, and who made it."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from filelock import FileLock

from simlab.core.errors import BadInput
from simlab.experiments.experiment import Experiment
from simlab.lab.covering import CHECKED_POINTS, covering
from simlab.lab.directory import RunDirectory, refuse_link
from simlab.lab.spec import Spec
from simlab.record.collate import collate
from simlab.record.index import READ_ATTEMPTS, Index
from simlab.record.provenance import provenance
from simlab.record.reader import Results
from simlab.record.schema import Output


def merged_outputs(spec: Spec) -> dict[str, Output]:
    """Every name that any point records."""
    outputs: dict[str, Output] = {}
    for found in covering(spec, lambda experiment: experiment.outputs(), CHECKED_POINTS).found.values():
        for name, output in found.items():
            known = outputs.setdefault(name, output)
            if (known.dims, known.dtype) != (output.dims, output.dtype):
                raise BadInput(f"{name}: recorded with dimensions {known.dims} at one point, {output.dims} at another")
    return outputs


def once_names(spec: Spec) -> Callable[[int], set[str]]:
    """Point → the names that it records once; asked for once per combination of what they depend on."""

    def once(experiment: Experiment) -> set[str]:
        return {name for name, output in experiment.outputs().items() if not output.is_trajectory}

    cover = covering(spec, once, CHECKED_POINTS)

    def place(point: int) -> tuple[int, ...]:
        position = spec.sweep.position(point)
        return tuple(position[i] for i in sorted(cover.dimensions))

    known = {place(point): names for point, names in cover.found.items()}

    def names(point: int) -> set[str]:
        at = place(point)
        if at not in known:
            known[at] = once(spec.at(point))
        return known[at]

    return names


def early_endings(spec: Spec, path: Path) -> dict[int, str]:
    """Point → why, for the finished points that did not run to their end: a nonzero ``ending``, in its own words."""
    if not path.exists() or "ending" not in (results := Results(path)):
        return {}
    found = results["ending"].ravel()
    if found.dtype.kind != "i":
        raise BadInput(f"{path}: ending: {found.dtype.name}, must be integers; `simlab collate` writes it again")
    if not (found > 0).any():
        return {}
    codes = merged_outputs(spec).get("ending", Output("")).codes
    return {point: codes.get(code, f"ending {code}") for point, code in enumerate(found.tolist()) if code > 0}


def collate_run(run: RunDirectory, spec: Spec) -> Path:
    """Write results.h5 from what is committed; unfinished points stand as far as they got.

    Writes HDF5, so it runs in a worker. Beside a running sweep a segment may be merged away while it is read: then
    everything is read again.
    """
    outputs = merged_outputs(spec)
    with _only_writer(run):
        for attempt in range(READ_ATTEMPTS):
            index = run.index(spec)
            index.check_rows(spec.sweep.points)
            try:
                collate(run.results, index, spec.sweep.dimensions, outputs, _attributes(spec, index))
                break
            except FileNotFoundError:
                if attempt == READ_ATTEMPTS - 1:
                    raise
    return run.results


@contextlib.contextmanager
def _only_writer(run: RunDirectory) -> Iterator[None]:
    """Hold the lock of results.h5: a second writer waits."""
    lock = FileLock(run.collate_lock)
    with run.usable():
        refuse_link(run.collate_lock)
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


def _attributes(spec: Spec, index: Index) -> dict[str, Any]:
    made_by = [json.loads(text) for text in index.provenance()] or [provenance()]
    given = {} if spec.given is None else {"spec_given": spec.given.text}
    if spec.given is not None and spec.given.settings:
        given["spec_settings"] = json.dumps(spec.given.settings)
    return {
        "spec": spec.text,
        **given,
        "spec_hash": spec.hash,
        "experiment": spec.header.kind,
        "seed": spec.seed if spec.seed < 1 << 63 else str(spec.seed),
        "threads": spec.threads,
        "versions": json.dumps(made_by[0]["versions"], sort_keys=True),
        "git_commit": made_by[0]["git_commit"],
        "machine": json.dumps(made_by[0]["machine"], sort_keys=True),
        "blas": json.dumps(made_by[0].get("blas", {}), sort_keys=True),
        "provenance": json.dumps(made_by, sort_keys=True),
    }
