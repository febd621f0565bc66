"""Options that several commands share."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterable
from typing import Any, ParamSpec, TypeVar

import click

from simlab.cli._encoding import can_print
from simlab.core.formats import FIGURE_FORMATS

F = TypeVar("F", bound=Callable[..., Any])
P = ParamSpec("P")
R = TypeVar("R")

workers = click.option(
    "--workers",
    type=click.IntRange(min=1),
    metavar="N",
    help="Processes to use.  [default: usable cores / threads of the spec]",
)
quiet = click.option("--quiet", "-q", is_flag=True, help="No progress, no remarks.")
as_json = click.option("--json", "as_json", is_flag=True, help="Print data as JSON.")
overwrite = click.option("--overwrite", is_flag=True, help="Throw away what an earlier run left in the directory.")


def commits_every(seconds: float, text: str) -> Callable[[F], F]:
    """--commit-seconds, with its default and what it means."""
    return click.option(
        "--commit-seconds",
        type=click.FloatRange(min=0.0),
        metavar="SECONDS",
        default=seconds,
        show_default=True,
        help=text,
    )


commit_seconds = commits_every(30.0, "Longest time between commits that cost nothing worth mentioning.")
figure_format = click.option(
    "--figure-format",
    type=click.Choice(FIGURE_FORMATS),
    default="png",
    show_default=True,
    help="Format of figures; what is computed already is only drawn again.",
)


def _use_data(context: click.Context, parameter: click.Parameter, value: str | None) -> None:
    """Into the environment, which workers inherit, while the command runs; absolute, whatever directory they are in."""
    from pathlib import Path

    from simlab.core.environment import variable
    from simlab.core.errors import BadInput

    if value:
        place = Path(value).absolute()
        if not place.is_dir():
            raise BadInput(f"--data {value}: {'is not a directory' if place.exists() else 'no such directory'}")
        context.with_resource(variable("SIMLAB_DATA", str(place)))


data = click.option(
    "--data",
    metavar="DIR",
    envvar="SIMLAB_DATA",
    callback=_use_data,
    expose_value=False,
    help="Directory of stored data, as SIMLAB_DATA.",
)


def _allow_code(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    """Into the environment, which workers inherit, while the command runs."""
    from simlab.core import foreign_code

    context.with_resource(foreign_code.allowing(value))
    foreign_code.is_allowed()  # a word in the environment that means nothing is said at once


allow_code = click.option(
    "--allow-code",
    is_flag=True,
    callback=_allow_code,
    expose_value=False,
    help='Run code that "module:name" names, as SIMLAB_ALLOW_CODE=1.',
)


def only_reads(command: Callable[P, R]) -> Callable[P, R]:
    """Marks a command that looks at a run without computing: code that its spec names is neither run nor refused."""

    @functools.wraps(command)
    def reading(*args: P.args, **options: P.kwargs) -> R:
        from simlab.core import foreign_code

        with foreign_code.reading():
            return command(*args, **options)

    return reading


def completing(names: Callable[[], Iterable[str]]) -> Callable[[click.Context, click.Parameter, str], list[str]]:
    """For ``shell_complete``: the names that begin as the word does."""
    return lambda context, parameter, incomplete: [name for name in names() if name.startswith(incomplete)]


def kinds_of(room: str) -> Callable[[], list[str]]:
    """Gives the names of the kinds of a room; imports only when it is called."""

    def names() -> list[str]:
        from simlab.core import catalogue

        return catalogue.names(room)

    return names


def print_json(value: Any) -> None:
    """Also where standard output lacks a character: then it is escaped, and the JSON stays valid."""
    text = json.dumps(value, indent=1, ensure_ascii=False)
    click.echo(text if can_print(text) else json.dumps(value, indent=1))
