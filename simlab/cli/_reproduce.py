"""reproduce: every claim of the sources, measured, judged and drawn."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simlab.cli import _hint, _options, _text

if TYPE_CHECKING:
    from simlab.claims.ledger import Verdict
    from simlab.lab.pace import Snapshot

EXIT_JUDGED_FALSE = 3


@click.command(short_help="Measure and judge claims, each beside a control.")
@click.argument("claims", nargs=-1, shell_complete=_options.completing(_options.kinds_of("claims")))
@click.option("--quick", "size", flag_value="quick", default=True, help="At most 15 s per claim.  [default]")
@click.option("--full", "size", flag_value="full", help="At the size of the sources: minutes to hours.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="DIR",
    default=Path("out/ledger"),
    show_default=True,
    help="Directory of the ledger.",
)
@_options.workers
@_options.data
@_options.figure_format
@_options.overwrite
@_options.quiet
@_options.as_json
def reproduce(
    claims: tuple[str, ...],
    size: Any,
    output: Path,
    workers: int | None,
    figure_format: Any,
    overwrite: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Measure and judge CLAIMS (all of them by default), each beside a negative control that must be judged false.

    A line per claim as it is judged: ✓ held and its control was refused, ✗ not, – not run (no failure: data that are
    not given), the figure that decides, and the time. `simlab show CLAIM` prints statement and expectation. Numbers,
    verdict and figure lie in OUTPUT/quick/CLAIM (or full). A stopped ledger goes on.

    \b
    Example:
      simlab reproduce --quick -o out/ledger
      simlab reproduce tangent_rate --full --json
    """
    from simlab.core import catalogue

    for name in claims:
        catalogue.check_name("claims", name, "claim")  # before anything heavy is imported
    from simlab.claims import get
    from simlab.claims.ledger import Listener, passed, tally
    from simlab.claims.ledger import reproduce as measure
    from simlab.cli._progress import Display
    from simlab.cli._verdicts import Course, line

    names = claims or tuple(catalogue.names("claims"))
    _hint.same_command()
    course, longest = Course(len(names)), max(map(len, names))
    with Display(quiet) as display:
        display.head = course.head

        def begin(name: str) -> None:
            course.begin(name)
            if display.bar is None:
                display.say(f"{course}: {name}")

        def progress(shot: Snapshot) -> None:
            course.see(shot)
            display(shot)

        def judged(verdict: Verdict) -> None:
            course.done(verdict)
            if not as_json:
                display.print(line(verdict, longest, _text.width()))

        rows = measure(
            map(get, names),
            size,
            output,
            workers=workers,
            overwrite=overwrite,
            figure_format=figure_format,
            listener=Listener(begin, judged, progress, display.say),
        )
    if as_json:
        _options.print_json(rows)
    else:
        click.echo(f"{tally(rows)}; figures and numbers in {output / size}")
    if not all(map(passed, rows)):
        if not quiet:
            first = next(row["claim"] for row in rows if not passed(row))
            said = (
                f"`simlab show {first}` says what was expected, {output / size / first / 'verdict.json'} what was found"
            )
            click.echo(f"simlab: {said}", err=True)
        sys.exit(EXIT_JUDGED_FALSE)


COMMANDS = {"reproduce": reproduce}
