"""run, resume, status, collate: a sweep from spec to results.h5."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simlab.cli import _options

if TYPE_CHECKING:
    from simlab.lab.spec import Spec

FAILED_POINTS = 3
directory_argument = click.argument("directory", type=click.Path(path_type=Path))


@click.command()
@click.argument("spec", type=click.Path(path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Run directory.  [default: out/<name of spec>]")
@click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help="Change a key of the spec, as in TOML.")
@_options.workers
@_options.data
@click.option("--order", type=click.Choice(["listed", "shuffled"]), default="listed", help="In which to take points.")
@_options.overwrite
@click.option("--dry-run", is_flag=True, help="List the points and an estimate; write nothing.")
@_options.commit_seconds
@_options.quiet
@_options.as_json
def run(
    spec: Path,
    output: Path | None,
    settings: tuple[str, ...],
    workers: int | None,
    order: Any,
    overwrite: bool,
    dry_run: bool,
    commit_seconds: float,
    quiet: bool,
    as_json: bool,
) -> None:
    """Run the sweep of a TOML file SPEC, or go on with it. Stop it at any time, with ctrl-C or kill -9.

    \b
    Example:
      simlab run runs/quickstart.toml -o out/q --set network.scaling=mean_field
    """
    from simlab.lab.run import load_for

    output = output or Path("out") / spec.stem
    loaded = load_for(output, spec, settings)
    _figure_of(loaded)  # a bad [figure] is said before the run, not after it
    if dry_run:
        _print_plan(loaded, workers, as_json)
        return
    _go(loaded, output, workers, overwrite, order, commit_seconds, quiet, as_json)


@click.command()
@directory_argument
@_options.workers
@_options.data
@_options.commit_seconds
@_options.quiet
@_options.as_json
def resume(directory: Path, workers: int | None, commit_seconds: float, quiet: bool, as_json: bool) -> None:
    """Go on with the run in DIRECTORY; failed points are tried again.

    \b
    Example:
      simlab resume out/quickstart
    """
    from simlab.lab.directory import RunDirectory

    spec = RunDirectory(directory).read_spec()
    _go(spec, directory, workers, False, "listed", commit_seconds, quiet, as_json)


@click.command()
@directory_argument
@_options.as_json
@click.option("--traceback", is_flag=True, help="Show the whole traceback of failed points.")
def status(directory: Path, as_json: bool, traceback: bool) -> None:
    """How far the run in DIRECTORY is, also while it runs.

    \b
    Example:
      simlab status out/quickstart
    """
    from simlab.cli import _text
    from simlab.lab.directory import RunDirectory
    from simlab.record.index import Status

    run = RunDirectory(directory)
    spec = run.read_spec()
    index = run.index(spec)
    index.check_rows(spec.sweep.points)
    counts = {s.name.lower(): int((index.status(spec.sweep.points) == s).sum()) for s in Status}
    failures = [
        {"point": point, "at": spec.sweep.label(point), "error": error, "traceback": trace}
        for point, (_, error, trace) in sorted(index.failed.items())
    ]
    found: dict[str, Any] = {
        "directory": str(directory),
        "experiment": spec.header.kind,
        "seed": spec.seed,
        "points": spec.sweep.points,
        **counts,
        "records": int(index.lengths(spec.sweep.points).sum()),
        "segments": len(index.segments),
        "bytes": index.nbytes,
        "running": run.in_use(),
        "failures": failures,
        "ended_early": _ended_early(spec, run.results),
    }
    if as_json:
        _options.print_json(found)
        return
    click.echo(
        f"{directory}: {'running' if found['running'] else 'not running'}\n"
        f"  {counts['finished']} of {found['points']} points finished, {counts['unfinished']} under way, "
        f"{counts['failed']} failed\n"
        f"  {found['records']} records in {found['segments']} segments ({found['bytes'] / 1e6:.1f} MB)"
    )
    for line in _in_words(found["ended_early"], spec):
        click.echo(_text.wrap(line, 4, "  "))
    for failure in failures:
        click.echo(_text.wrap(f"failed: {failure['at']}: {failure['error']}", 4, "  "))
        if traceback:
            click.echo(failure["traceback"])


@click.command()
@directory_argument
@_options.quiet
def collate(directory: Path, quiet: bool) -> None:
    """Write results.h5 from what is committed so far, also while the run goes on.

    \b
    Example:
      simlab collate out/quickstart
    """
    from simlab.cli._progress import Display
    from simlab.lab.run import collate_only

    with Display(quiet) as display:
        path = collate_only(directory, progress=display)
    click.echo(str(path))


def _go(
    spec: Spec,
    directory: Path,
    workers: int | None,
    overwrite: bool,
    order: Any,
    commit_seconds: float,
    quiet: bool,
    as_json: bool,
) -> None:
    from simlab.cli._progress import Display
    from simlab.lab.directory import RunDirectory
    from simlab.lab.run import run_spec
    from simlab.record.reader import Results

    chosen = _figure_of(spec)
    picture = RunDirectory(directory).figure if chosen is not None else None
    with Display(quiet) as display:
        outcome = run_spec(
            spec,
            directory,
            workers=workers,
            overwrite=overwrite,
            order=order,
            commit_seconds=commit_seconds,
            progress=display,
            say=display.say,
            then=lambda results: _draw(chosen, Results(results), picture),
        )
    early = _ended_early(spec, outcome.results)
    failed = [{"point": p, "at": spec.sweep.label(p), "error": e} for p, e in sorted(outcome.failed.items())]
    if as_json:
        _options.print_json(
            {
                "directory": str(directory),
                "results": str(outcome.results),
                "figure": str(picture) if picture else None,
                "seed": spec.seed,
                "points": outcome.points,
                "failed": failed,
                "ended_early": early,
            }
        )
    else:
        click.echo(str(outcome.results))
        if picture:
            click.echo(str(picture))
    for line in () if quiet else _in_words(early, spec):
        click.echo(f"simlab: {line}", err=True)
    for failure in failed:
        click.echo(f"simlab: failed: {failure['at']}: {failure['error']}", err=True)
    if failed:
        click.echo(
            f"simlab: {len(failed)} of {outcome.points} points failed; `simlab status --traceback {directory}` shows"
            f" where, `simlab resume {directory}` tries them again",
            err=True,
        )
        sys.exit(FAILED_POINTS)


def _ended_early(spec: Spec, results: Path) -> list[dict[str, Any]]:
    from simlab.lab.results import early_endings

    return [{"point": p, "at": spec.sweep.label(p), "why": why} for p, why in early_endings(spec, results).items()]


def _in_words(early: list[dict[str, Any]], spec: Spec) -> list[str]:
    """One line for each reason: how many points, and the first of them."""
    lines = []
    for why in dict.fromkeys(point["why"] for point in early):
        here = [point["at"] for point in early if point["why"] == why]
        lines.append(f"{len(here)} of {spec.sweep.points} points ended early, {why}; the first: {here[0]}")
    return lines


def _figure_of(spec: Spec) -> Any:
    """The figure that the spec asks for, validated; None if it asks for none."""
    if spec.figure is None:
        return None
    from simlab import figures
    from simlab.lab.results import merged_outputs

    return figures.choose(spec.figure, merged_outputs(spec))


def _draw(chosen: Any, results: Any, path: Path | None) -> None:
    from simlab import figures

    if path is not None:
        figures.save(chosen, results, path)


def _print_plan(spec: Spec, workers: int | None, as_json: bool) -> None:
    from simlab.cli import _text
    from simlab.cli._progress import clock
    from simlab.lab.run import default_workers, estimate

    sweep, used = spec.sweep, workers or default_workers(spec)
    guess = estimate(spec, used)
    if as_json:
        points = [
            {"point": p, "seed_index": sweep.seed_index(p), "values": sweep.values(p)} for p in range(sweep.points)
        ]
        _options.print_json(
            {
                "seed": spec.seed,
                "workers": used,
                "seconds": guess.seconds,
                "bytes": guess.nbytes,
                "points": points,
            }
        )
        return
    for point in range(sweep.points):
        click.echo(_text.wrap(sweep.label(point), 8, f"{point:>6}  "))
    size = "unknown size" if guess.nbytes is None else f"{guess.nbytes / 1e6:.3g} MB"
    click.echo(
        f"{sweep.points} points, about {clock(guess.seconds)} on {used} workers (rough), {size} recorded\n"
        "nothing was written"
    )


COMMANDS = {"run": run, "resume": resume, "status": status, "collate": collate}
