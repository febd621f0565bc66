"""Points → segments → results.h5: the whole way of one run, for the command line, claims and scripts alike."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simlab.core.errors import BadInput, SimlabError, WriteFailed, first_few
from simlab.lab import bundled, needs
from simlab.lab import spec as specs
from simlab.lab.directory import RunDirectory
from simlab.lab.options import RunOptions
from simlab.lab.pace import Snapshot
from simlab.lab.pool import Chore, Pool
from simlab.lab.spec import Spec
from simlab.lab.tables import Given, plain
from simlab.record.index import Index
from simlab.record.provenance import changes, provenance
from simlab.record.reader import open_results
from simlab.record.repair import clear_replaced
from simlab.record.writer import MERGE_SEGMENTS

if TYPE_CHECKING:
    import xarray

WRITTEN_AGAIN = "damaged or changed since it was written; written again from the segments"
Source = str | Path | Mapping[str, Any]
"""A spec as a user gives it: the path of a TOML file, the name of a bundled spec, or tables as TOML gives them."""


@dataclass(frozen=True)
class Outcome:
    """What a run came to.

    directory: the run directory.
    results: results.h5 in it.
    figure: the picture that the spec's [figure] asks for; None without one, or where no point finished.
    seed: root seed.
    points: number of points of the sweep.
    failed: point -> error.
    """

    directory: Path
    results: Path
    figure: Path | None
    seed: int
    points: int
    failed: dict[int, str]

    @property
    def dataset(self) -> xarray.Dataset:
        """The results as an `xarray.Dataset`; each call opens the file anew."""
        return open_results(self.results)


def default_directory(source: Source) -> Path:
    """``out/NAME``: the name of the file or of the bundled spec; of tables, the experiment's kind."""
    if not isinstance(source, Mapping):
        return Path("out") / Path(source).stem
    experiment = source.get("experiment")
    kind = experiment.get("kind") if isinstance(experiment, Mapping) else None
    return Path("out") / (kind if isinstance(kind, str) and kind.isidentifier() else "run")


def load_for(
    directory: str | Path,
    source: Source,
    settings: Iterable[str] = (),
    *,
    progress: Callable[[int], None] = lambda done: None,
) -> Spec:
    """The spec for a directory: one that leaves the seed open goes on with the directory's.

    progress: called now and then with the number of points checked.
    """
    run = RunDirectory(directory)
    try:
        seed = run.read_spec(computes=False).seed
    except BadInput:  # none there, or said properly when the directory is checked
        seed = None
    if not isinstance(source, Mapping):
        return specs.load(bundled.find(source), settings, seed=seed, progress=progress)
    tables, settings = plain(source), specs.as_settings(settings)
    given = Given.of(tables, settings)
    return specs.resolve(specs.override(tables, settings), seed=seed, as_given=given, progress=progress)


def run_spec(
    spec: Source | Spec,
    directory: str | Path,
    options: RunOptions = RunOptions(),  # noqa: B008  frozen
    *,
    progress: Callable[[Snapshot], None] = lambda snapshot: None,
    say: Callable[[str], None] = lambda line: None,
    then: Callable[[Path], Path | None] = lambda results: None,
) -> Outcome:
    """Run a sweep into a directory, or go on with it; ends with results.h5.

    Whatever the options and however often it was killed, the same spec gives the same datasets.

    progress: called a few times per second.
    say: called with remarks for the user, one line each.
    then: called with the path of results.h5 if a point has finished, while the lock of the directory is still held;
        returns the path of the figure that it drew.
    """
    if not isinstance(spec, Spec):
        spec = load_for(directory, spec)
    overwrite, repair = options.overwrite, options.repair
    run = RunDirectory(directory)
    with run.usable():
        run.check(spec, overwrite, repair)
        needs.check(spec, run.index(spec).finished if run.exists and not (overwrite or repair) else (), say)
        run.path.mkdir(parents=True, exist_ok=True)
    with run.lock():
        with run.usable():
            run.check(spec, overwrite, repair)
            run.begin(spec, overwrite)
            run.tidy()
        if repair:
            alone = replace(options, workers=1)
            Pool(run, spec, Index((), ()), (), alone, progress=progress, say=say, chore="repair").work()
        index = _take_over(run, spec, say)
        points = [p for p in range(spec.sweep.points) if p not in index.finished]
        say(f"{run.path}: {len(points)} of {spec.sweep.points} points of {spec.header.kind} to do, seed {spec.seed}")
        if options.order == "shuffled":
            random.Random(spec.seed).shuffle(points)
        points.sort(key=lambda point: point not in index.checkpoints)
        failed: dict[int, str] = {}
        state = run.results_state(spec, index)
        if state == "damaged":
            say(f"{run.results}: {WRITTEN_AGAIN}")
        if points or state != "sound":  # a worker takes a second or two to start
            chore: Chore | None = "merge" if len(index.segments) >= MERGE_SEGMENTS else None
            pool = Pool(run, spec, index, points, options, progress=progress, say=say, chore=chore)
            try:
                failed = pool.work()
            except SimlabError:
                if run.exists:
                    raise
                raise WriteFailed(f"{run.path}: was deleted while the run was going on") from None
            finally:
                run.tidy()
        figure = then(run.results) if len(failed) < spec.sweep.points else None
    return Outcome(run.path, run.results, figure, spec.seed, spec.sweep.points, failed)


def _take_over(run: RunDirectory, spec: Spec, say: Callable[[str], None]) -> Index:
    """The index of what earlier processes committed. It is checked, and what their merges left over is removed."""
    index = run.index(spec)
    index.check_whole()
    index.check_rows(spec.sweep.points)
    clear_replaced(index, run.damaged)
    differ = [change for before in index.provenance() for change in changes(json.loads(before), provenance())]
    if differ:
        say(
            "this run was begun with other versions, sources or machine: its numbers may differ in the last digits"
            f" ({first_few(differ)})"
        )
    return run.index(spec)


def collate_only(
    directory: str | Path,
    progress: Callable[[Snapshot], None] = lambda snapshot: None,
    say: Callable[[str], None] = lambda line: None,
) -> Path:
    """Write results.h5 from what is committed so far, also beside a running sweep."""
    run = RunDirectory(directory)
    spec = run.read_spec()
    index = run.index(spec)
    if run.results_state(spec, index) == "damaged":
        say(f"{run.results}: {WRITTEN_AGAIN}")
    try:
        Pool(run, spec, index, (), RunOptions(workers=1), progress=progress, say=say).work()
    finally:
        run.tidy_results()
    return run.results
