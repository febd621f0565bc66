"""A sweep from its spec to its figure, with progress: what `simlab run`, `simlab resume` and `simlab.run` share.

And `simlab.train` with the same display.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simlab.cli import _hint
from simlab.cli._progress import Display, checking
from simlab.core import environment, foreign_code
from simlab.core.errors import BadInput, SimlabError, one_of, printable, shown
from simlab.core.formats import FIGURE_FORMATS, FigureFormat
from simlab.lab.directory import ResultsState, RunDirectory
from simlab.lab.options import RunOptions
from simlab.lab.results import early_endings, merged_outputs
from simlab.lab.run import Outcome, Source, default_directory, load_for, run_spec
from simlab.lab.spec import Spec
from simlab.record.index import Index
from simlab.record.reader import Results

if TYPE_CHECKING:
    from simlab.figures.figure import Figure
    from simlab.training import Trained

DATA = "SIMLAB_DATA"


def complete(
    spec: Spec,
    directory: Path,
    options: RunOptions = RunOptions(),  # noqa: B008  frozen
    *,
    quiet: bool = False,
    figure_format: FigureFormat = "png",
) -> Outcome:
    """Run a validated spec, or go on with it, and draw its figure; remarks and progress go to standard error."""
    chosen = figure_of(spec)
    _hint.goes_on_with(*_resume(spec, directory))

    def draw(results: Path) -> Path | None:
        if chosen is None:
            return None
        from simlab import figures

        return figures.save(chosen, Results(results), directory / f"figure.{figure_format}")

    with Display(quiet) as display:
        outcome = run_spec(spec, directory, options, progress=display, say=display.say, then=draw)
    early = [] if quiet else in_words(ended_early(spec, outcome.results), spec)
    for line in [*early, *_failures(spec, outcome)]:
        print(f"simlab: {printable(line)}", file=sys.stderr, flush=True)
    return outcome


def run(
    source: Source,
    directory: str | Path | None,
    options: RunOptions,
    *,
    settings: Iterable[str],
    data: str | Path | None,
    allow_code: bool,
    quiet: bool,
    figure_format: FigureFormat,
) -> Outcome:
    """`simlab.run`: as the command, but bad input raises `BadInput` and ctrl-C `KeyboardInterrupt`."""
    if figure_format not in FIGURE_FORMATS:
        raise BadInput(f"figure_format = {shown(figure_format)}: unknown (allowed: {one_of(FIGURE_FORMATS)})")
    place = default_directory(source) if directory is None else Path(directory)
    with _data_directory(data), foreign_code.allowing(allow_code):
        spec = load_for(place, source, settings, progress=checking(quiet))
        try:
            return complete(spec, place, options, quiet=quiet, figure_format=figure_format)
        except KeyboardInterrupt:
            print(f"simlab: stopped; what was committed is kept{_hint.how_to_go_on()}", file=sys.stderr, flush=True)
            raise


def train(network: Any, X: Any, y: Any, flow: Any, progress: bool, **options: Any) -> Trained:
    """`simlab.train`: with a bar, as `run` has it."""
    from simlab import training
    from simlab.core import checks
    from simlab.core.compiling import watching

    quiet = not checks.flag(progress, "progress")
    began = time.monotonic()
    with Display(quiet) as display:

        def step(done: float, total: float) -> None:
            display.amount("steps", done, total, done / max(time.monotonic() - began, 1e-9))

        with watching(display.compiles):
            return training.train(network, X, y, flow, None if quiet else step, **options)


def _data_directory(data: str | Path | None) -> AbstractContextManager[None]:
    """The directory of stored data, in the environment, which workers inherit."""
    if data is None:
        return contextlib.nullcontext()
    if not Path(data).is_dir():
        why = "is not a directory" if Path(data).exists() else "no such directory"
        raise BadInput(f"data = {shown(str(data))}: {why}")
    return environment.variable(DATA, str(Path(data).absolute()))


def figure_of(spec: Spec) -> Figure | None:
    """The figure that the spec asks for, validated; None if it asks for none."""
    if spec.figure is None:
        return None
    from simlab import figures  # matplotlib: a third of a second, which `simlab status` does without

    return figures.choose(spec.figure, merged_outputs(spec))


def ended_early(spec: Spec, results: Path) -> list[dict[str, Any]]:
    """The finished points that did not run to their end, with the reason."""
    return [{"point": p, "at": spec.sweep.label(p), "why": why} for p, why in early_endings(spec, results).items()]


def results_of(run: RunDirectory, spec: Spec, index: Index) -> tuple[ResultsState, list[dict[str, Any]] | None]:
    """What results.h5 is worth, as far as is told without reading all of it, and the points that ended early in it.

    None where it cannot be read.
    """
    state = run.results_state(spec, index, whole=False)
    try:
        return state, None if state == "damaged" else ended_early(spec, run.results)
    except (SimlabError, KeyError):
        return "damaged", None


def in_words(early: list[dict[str, Any]], spec: Spec) -> list[str]:
    """One line for each reason: how many points, and the first of them."""
    return [
        f"{len(here)} of {spec.sweep.points} points ended early, {why}; the first: {here[0]}"
        for why, here in _grouped((point["why"], point["at"]) for point in early).items()
    ]


def _failures(spec: Spec, outcome: Outcome) -> list[str]:
    """One line for each error, however many points have it, and one that says what to do."""
    if not outcome.failed:
        return []
    errors = _grouped((error, spec.sweep.label(point)) for point, error in sorted(outcome.failed.items()))
    lines = [
        f"failed: {here[0]}{f' and {len(here) - 1} more points' if len(here) > 1 else ''}: {error}"
        for error, here in errors.items()
    ]
    status = _hint.spelt("status", "--traceback", outcome.directory)
    return [
        *lines,
        f"{len(outcome.failed)} of {outcome.points} points failed; `{status}` shows where,"
        f" `{_hint.spelt(*_resume(spec, outcome.directory))}` tries them again",
    ]


def _resume(spec: Spec, directory: Path) -> list[object]:
    """The words that go on with a run: with what it was given beside its spec."""
    data = os.environ.get(DATA)
    given = ["--data", data] if data and _reads_files(spec) else []
    return ["resume", directory, *given, *(["--allow-code"] if foreign_code.is_named_in(spec.text) else [])]


def _grouped(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for key, item in pairs:
        found.setdefault(key, []).append(item)
    return found


def _reads_files(spec: Spec) -> bool:
    from simlab.lab.needs import stored

    return bool(stored(spec))
