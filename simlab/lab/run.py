"""Points → segments → results.h5: the whole way of one run, for the command line, claims and scripts alike."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from threadpoolctl import threadpool_limits

from simlab.core.errors import BadInput, first_few
from simlab.core.params import Params
from simlab.core.resources import cores
from simlab.lab import spec as specs
from simlab.lab.directory import RunDirectory
from simlab.lab.pace import Snapshot
from simlab.lab.pool import Pool
from simlab.lab.spec import Spec
from simlab.record.index import Index
from simlab.record.provenance import changes, provenance

COMMIT_SECONDS = 30.0


@dataclass(frozen=True)
class Outcome:
    """What a run came to."""

    results: Path
    points: int
    failed: dict[int, str]


def load_for(directory: str | Path, path: str | Path, settings: Iterable[str] = ()) -> Spec:
    """The spec of a file for a directory: one that leaves the seed open goes on with the directory's."""
    run = RunDirectory(directory)
    try:
        seed = run.read_spec().seed
    except BadInput:  # none there, or said properly when the directory is checked
        seed = None
    return specs.load(path, settings, seed=seed)


def default_workers(spec: Spec) -> int:
    return max(1, cores() // spec.threads)


def run_spec(
    spec: str | Path | Spec,
    directory: str | Path,
    *,
    settings: Iterable[str] = (),
    workers: int | None = None,
    overwrite: bool = False,
    order: Literal["listed", "shuffled"] = "listed",
    commit_seconds: float = COMMIT_SECONDS,
    progress: Callable[[Snapshot], None] = lambda snapshot: None,
    say: Callable[[str], None] = lambda line: None,
    then: Callable[[Path], None] = lambda results: None,
) -> Outcome:
    """Run a sweep into a directory, or go on with it; ends with results.h5.

    `workers` defaults to the cores divided by the spec's threads. Whatever the workers, the order or the kills, the
    same spec gives the same datasets. `say` gets remarks, `progress` a snapshot a few times a second, `then`
    the path of results.h5 while the directory is still held.
    """
    if not isinstance(spec, Spec):
        spec = load_for(directory, spec, settings)
    run = RunDirectory(directory)
    with run.usable():
        run.check(spec, overwrite)
        run.path.mkdir(parents=True, exist_ok=True)
    with run.lock():
        with run.usable():
            run.check(spec, overwrite)
            run.begin(spec, overwrite)
            run.tidy()
        index = _take_over(run, spec, say)
        points = [p for p in range(spec.sweep.points) if p not in index.finished]
        say(f"{run.path}: {len(points)} of {spec.sweep.points} points of {spec.header.kind} to do, seed {spec.seed}")
        if order == "shuffled":
            random.Random(spec.seed).shuffle(points)
        points.sort(key=lambda point: point not in index.checkpoints)
        failed: dict[int, str] = {}
        if points or not run.is_collated(spec):  # a worker takes a second or two to start
            pool = Pool(run, spec, index, workers or default_workers(spec), commit_seconds, points, progress)
            try:
                failed = pool.work()
            finally:
                run.tidy()
        then(run.results)
    return Outcome(run.results, spec.sweep.points, failed)


def _take_over(run: RunDirectory, spec: Spec, say: Callable[[str], None]) -> Index:
    """The index of what earlier processes committed, complete, the remains of their merges removed."""
    index = run.index(spec)
    index.check_rows(spec.sweep.points)
    for path in index.replaced:
        path.unlink(missing_ok=True)
    differ = [change for before in index.provenance() for change in changes(json.loads(before), provenance())]
    if differ:
        say(
            "this run was begun with other versions, sources or machine: its numbers may differ in the last digits"
            f" ({first_few(differ)})"
        )
    return run.index(spec)


def collate_only(directory: str | Path, progress: Callable[[Snapshot], None] = lambda snapshot: None) -> Path:
    """Write results.h5 from what is committed so far, also beside a running sweep."""
    run = RunDirectory(directory)
    spec = run.read_spec()
    try:
        Pool(run, spec, run.index(spec), 1, COMMIT_SECONDS, (), progress, merge=False).work()
    finally:
        run.tidy_results()
    return run.results


@dataclass(frozen=True)
class Estimate:
    """What a run would take, roughly."""

    seconds: float | None
    nbytes: float | None


def estimate(spec: Spec, workers: int) -> Estimate:
    """From the experiment's count of flops and a product measured here and now; good to a factor of a few.

    None where the experiment does not count.
    """

    if not hasattr(spec.experiment, "cost"):
        return Estimate(None, None)

    def cost(params: Params) -> tuple[float, float]:
        flops, nbytes = spec.experiment.cost(params)
        return float(flops), float(nbytes)

    a = np.ones((256, 256))
    times = []
    with threadpool_limits(spec.threads):
        for _ in range(20):
            began = time.perf_counter()
            a @ a
            times.append(time.perf_counter() - began)
    rate = 2 * 256**3 / min(times) / 4  # loops beside the products: a quarter of their speed
    sample = [cost(spec.params(point)) for point in spec.sweep.representatives(1000)]
    flops, nbytes = np.mean(sample, axis=0) * spec.sweep.points
    return Estimate(float(flops) / rate / workers, float(nbytes))
