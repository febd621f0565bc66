"""Usage errors in one line: an option without its value says which value it needs."""

from __future__ import annotations

import click
from click.exceptions import BadOptionUsage, UsageError

from simlab.core.errors import one_of


def in_one_line(error: UsageError) -> str:
    command = error.ctx.command_path if error.ctx else "simlab"
    return f"{_message(error)} (see `{command} --help`)"


def _message(error: UsageError) -> str:
    if isinstance(error, BadOptionUsage) and error.ctx and "argument" in error.message:
        for option in error.ctx.command.params:
            if error.option_name in option.opts:
                return f"{error.option_name} needs {needed(option)}"
    return error.format_message()


def needed(option: click.Parameter) -> str:
    """``a number``, ``one of: sphere, cube``: what the value of an option is."""
    kind = option.type
    if isinstance(kind, click.Choice):
        return f"one of: {one_of(map(str, kind.choices))}"
    if isinstance(kind, click.types.IntParamType):
        word = "a whole number"
    elif isinstance(kind, click.types.FloatParamType):
        word = "a number"
    elif isinstance(kind, click.Path):
        word = "a directory" if option.metavar == "DIR" else "a file" if option.metavar == "FILE" else "a path"
    else:
        return f"a value, {option.metavar or kind.name.upper()}"
    bound = getattr(kind, "min", None)
    return word if bound is None else f"{word} of at least {bound:g}"
