"""Options that several commands share."""

from __future__ import annotations

import json
from typing import Any

import click

from simlab.cli._encoding import can_print

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


FIGURE_FORMAT = "simlab.figure_format"


def _use_format(context: click.Context, parameter: click.Parameter, value: str) -> None:
    """Into the context's notes, so that commands need not hand it on."""
    context.meta[FIGURE_FORMAT] = value


figure_format = click.option(
    "--figure-format",
    type=click.Choice(["png", "pdf", "svg"]),
    default="png",
    show_default=True,
    callback=_use_format,
    expose_value=False,
    help="Format of figures; what is computed already is only drawn again.",
)


def chosen_format() -> Any:
    """What --figure-format of the running command says: png, pdf or svg; png where nothing runs."""
    context = click.get_current_context(silent=True)
    return context.meta.get(FIGURE_FORMAT, "png") if context else "png"


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
