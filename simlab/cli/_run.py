"""run, resume, status, collate: a sweep from spec to results.h5."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from simlab.cli import _options
from simlab.cli._new import complete_runs

if TYPE_CHECKING:
    from simlab.core.formats import FigureFormat
    from simlab.lab.spec import Spec

EXIT_FAILED_POINTS = 3


def complete_specs(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Bundled names for the shell, and files."""
    names = [CompletionItem(name) for name in complete_runs(ctx, param, incomplete)]
    return [*names, CompletionItem(incomplete, type="file")]


directory_argument = click.argument("directory", type=click.Path(path_type=Path))


@click.command()
@click.argument("spec", shell_complete=complete_specs)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Run directory.  [default: out/<name of spec>]",
)
@click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help="Change a key of the spec, as in TOML.")
@_options.workers
@_options.data
@_options.allow_code
@_options.figure_format
@click.option("--order", type=click.Choice(["listed", "shuffled"]), default="listed", help="In which to take points.")
@_options.overwrite
@click.option("--dry-run", is_flag=True, help="List the points and an estimate; write nothing.")
@_options.commit_seconds
@_options.quiet
@_options.as_json
def run(
    spec: str,
    output: Path | None,
    settings: tuple[str, ...],
    workers: int | None,
    dry_run: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Run the sweep of SPEC, or go on with it. Stop it at any time, with ctrl-C or kill -9.

    SPEC is a TOML file, or the name of a spec that comes with simlab (`simlab list runs`). A file in the current
    directory is taken before a bundled spec of the same name.

    \b
    Example:
      simlab run quickstart
      simlab run mine.toml -o out/mine --set network.scaling=mean_field
    """
    from simlab.cli import running
    from simlab.cli._progress import checking
    from simlab.lab.run import default_directory, load_for

    output = output or default_directory(spec)
    loaded = load_for(output, spec, settings, progress=checking(options["quiet"]))
    running.figure_of(loaded)  # a bad [figure] is said before the run, not after it
    if dry_run:
        from simlab.cli._plan import print_plan

        print_plan(loaded, workers, as_json)
        return
    _go(loaded, output, as_json, workers=workers, **options)


@click.command()
@directory_argument
@_options.workers
@_options.data
@_options.allow_code
@_options.figure_format
@click.option("--repair", is_flag=True, help="Move damaged segments to damaged/ and compute their points again.")
@_options.commit_seconds
@_options.quiet
@_options.as_json
def resume(directory: Path, as_json: bool, **options: Any) -> None:
    """Go on with the run in DIRECTORY; failed points are tried again.

    A damaged file of the run is refused by name. With --repair it is set aside, never deleted, and what it held is
    computed again: the results are those of an undamaged run.

    \b
    Example:
      simlab resume out/quickstart
    """
    from simlab.lab.directory import RunDirectory

    spec = RunDirectory(directory).read_spec()
    _go(spec, directory, as_json, **options)


@click.command()
@directory_argument
@_options.as_json
@click.option("--traceback", is_flag=True, help="Show the whole traceback of failed points.")
@_options.only_reads
def status(directory: Path, as_json: bool, traceback: bool) -> None:
    """How far the run in DIRECTORY is, also while it runs.

    \b
    Example:
      simlab status out/quickstart
    """
    from simlab.cli import _hint, _text, running
    from simlab.lab.directory import RunDirectory
    from simlab.record.index import Status

    run = RunDirectory(directory)
    spec = run.read_spec(computes=False)
    index = run.index(spec)
    index.check_rows(spec.sweep.points)
    marks = index.status(spec.sweep.points)
    counts = {s.name.lower(): int((marks == s).sum()) for s in Status}
    results, early = running.results_of(run, spec, index)
    failures = [
        {"point": point, "at": spec.sweep.label(point), "error": failure.error, "traceback": failure.traceback}
        for point, failure in sorted(index.failed.items())
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
        "results": results,
        "ended_early": early,
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
    if results == "damaged":
        again = _hint.spelt("collate", directory)
        click.echo(_text.wrap(f"results.h5 cannot be read; `{again}` writes it again from the segments", 4, "  "))
    for line in running.in_words(early or [], spec):
        click.echo(_text.wrap(line, 4, "  "))
    for failure in failures:
        click.echo(_text.wrap(f"failed: {failure['at']}: {failure['error']}", 4, "  "))
        if traceback:
            click.echo(failure["traceback"])


@click.command(short_help="Write results.h5 from what is committed so far.")
@directory_argument
@_options.quiet
@_options.only_reads
def collate(directory: Path, quiet: bool) -> None:
    """Write results.h5 from what is committed so far, also while the run goes on.

    \b
    Example:
      simlab collate out/quickstart
    """
    from simlab.cli._progress import Display
    from simlab.lab.run import collate_only

    with Display(quiet) as display:
        path = collate_only(directory, progress=display, say=display.say)
    click.echo(str(path))


def _go(spec: Spec, directory: Path, as_json: bool, quiet: bool, figure_format: FigureFormat, **options: Any) -> None:
    """Run, draw and print; `options` are those of `RunOptions`."""
    from simlab.cli import running
    from simlab.lab.options import RunOptions

    outcome = running.complete(spec, directory, RunOptions(**options), quiet=quiet, figure_format=figure_format)
    if as_json:
        failed = [{"point": p, "at": spec.sweep.label(p), "error": e} for p, e in sorted(outcome.failed.items())]
        _options.print_json(
            {
                "directory": str(directory),
                "results": str(outcome.results),
                "figure": str(outcome.figure) if outcome.figure else None,
                "seed": outcome.seed,
                "points": outcome.points,
                "failed": failed,
                "ended_early": running.ended_early(spec, outcome.results),
            }
        )
    else:
        click.echo(str(outcome.results))
        if outcome.figure:
            click.echo(str(outcome.figure))
    if outcome.failed:
        sys.exit(EXIT_FAILED_POINTS)


COMMANDS = {"run": run, "resume": resume, "status": status, "collate": collate}
