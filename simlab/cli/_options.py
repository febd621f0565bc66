"""Options that several commands share."""

from __future__ import annotations

import json
from typing import Any

import click

from simlab.cli._encoding import can_print
from simlab.core.formats import FIGURE_FORMATS

workers = click.option(
    "--workers",
    type=click.IntRange(min=1),
    metavar="N",
    help="Processes to use.  [default: usable cores / threads of the spec]",
)
quiet = click.option("--quiet", "-q", is_flag=True, help="No progress, no remarks.")
as_json = click.option("--json", "as_json", is_flag=True, help="Print data as JSON.")
overwrite = click.option("--overwrite", is_flag=True, help="Throw away what an earlier run left in the directory.")
commit_seconds = click.option(
    "--commit-seconds",
    type=click.FloatRange(min=0.0),
    metavar="SECONDS",
    default=30.0,
    show_default=True,
    help="Longest time between commits that cost nothing worth mentioning.",
)
figure_format = click.option(
    "--figure-format",
    type=click.Choice(FIGURE_FORMATS),
    default="png",
    show_default=True,
    help="Format of figures; what is computed already is only drawn again.",
)


def _use_data(context: click.Context, parameter: click.Parameter, value: str | None) -> None:
    """Into the environment, which workers inherit; absolute, whatever directory they are in."""
    import os
    from pathlib import Path

    from simlab.core.errors import BadInput

    if value:
        place = Path(value).absolute()
        if not place.is_dir():
            raise BadInput(f"--data {value}: {'is not a directory' if place.exists() else 'no such directory'}")
        os.environ["SIMLAB_DATA"] = str(place)


data = click.option(
    "--data",
    metavar="DIR",
    envvar="SIMLAB_DATA",
    callback=_use_data,
    expose_value=False,
    help="Directory of stored data, as SIMLAB_DATA.",
)


def print_json(value: Any) -> None:
    """Also where standard output lacks a character: then it is escaped, and the JSON stays valid."""
    text = json.dumps(value, indent=1, ensure_ascii=False)
    click.echo(text if can_print(text) else json.dumps(value, indent=1))
