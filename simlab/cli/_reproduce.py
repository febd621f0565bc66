"""reproduce: every claim of the sources, measured, judged and drawn."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from simlab.cli import _options

JUDGED_FALSE = 3


def _complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    from simlab.core import lookup

    return [name for name in lookup.kinds("claims") if name.startswith(incomplete)]


@click.command()
@click.argument("claims", nargs=-1, shell_complete=_complete)
@click.option("--quick", "size", flag_value="quick", default=True, help="At most 15 s a claim.  [default]")
@click.option("--full", "size", flag_value="full", help="At the size of the sources: minutes to hours.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    default=Path("out/ledger"),
    show_default=True,
    help="Ledger.",
)
@_options.workers
@_options.data
@_options.overwrite
@_options.quiet
@_options.as_json
def reproduce(
    claims: tuple[str, ...],
    size: Any,
    output: Path,
    workers: int | None,
    overwrite: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Measure and judge CLAIMS (all of them by default), each beside a negative control that must be judged false.

    Numbers, verdict and figure of each claim lie in OUTPUT/quick/CLAIM (or full). A stopped ledger goes on. A claim
    about data that are not given is "not run", which is no failure.

    \b
    Example:
      simlab reproduce --quick -o out/ledger
      simlab reproduce tangent_rate --full --json
    """
    from simlab.core import lookup

    for name in claims:
        lookup.check("claims", name, "claim")  # before anything heavy is imported
    from simlab.claims._ledger import passed, tally
    from simlab.claims._ledger import reproduce as measure
    from simlab.cli._progress import Display

    names = claims or tuple(lookup.kinds("claims"))
    with Display(quiet) as display:
        rows = measure(names, size, output, workers=workers, overwrite=overwrite, progress=display, say=display.say)
    if as_json:
        _options.print_json(rows)
    else:
        _print_table(rows)
        click.echo(f"{tally(rows)}, with figures in {output / size}")
    if not all(map(passed, rows)):
        sys.exit(JUDGED_FALSE)


def _print_table(rows: list[dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.table import Table

    words = {True: "yes", False: "NO", None: "not run"}
    table = Table(show_lines=True)
    for column in ("claim", "statement", "expected", "measured", "holds", "control"):
        table.add_column(column, overflow="fold")
    for row in rows:
        control = {True: "HOLDS", False: "refused", None: "not run"}[row["control"]]
        cells = [row[key] for key in ("claim", "statement", "expected", "measured")]
        table.add_row(*cells, words[row["holds"]], control)
    Console().print(table)


COMMANDS = {"reproduce": reproduce}
