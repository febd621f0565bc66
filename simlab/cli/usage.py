"""Usage errors in one line: an option without its value says which value it needs."""

from __future__ import annotations

import click
from click.exceptions import BadOptionUsage, UsageError

from simlab.core.errors import one_of


def in_one_line(error: UsageError) -> str:
    """What is wrong with the command line, and where its help is."""
    command = error.ctx.command_path if error.ctx else "simlab"
    return f"{_message(error)} (see `{command} --help`)"


def _message(error: UsageError) -> str:
    if isinstance(error, BadOptionUsage) and error.ctx and "argument" in error.message:
        for option in error.ctx.command.params:
            if error.option_name in option.opts:
                return f"{error.option_name} needs {needed(option)}"
    return error.format_message()


WORDS = {
    "DIR": "a directory",
    "FILE": "a file",
    "NAME": "a name",
    "KEY=VALUE": "a key and its value, such as network.width=100",
    "SECTION": "the number or the title of a section",
    "SIZE": "a size, such as 4GB",
    "INTEGERS": "a whole number, or several with commas between them",
    "NUMBERS": "a number, or several with commas between them",
}
"""What the placeholder of an option stands for."""


def needed(option: click.Parameter) -> str:
    """``a whole number of at least 1``, ``one of: sphere, cube``: what the value of an option is."""
    kind = option.type
    if isinstance(kind, click.Choice):
        return f"one of: {one_of(map(str, kind.choices))}"
    if isinstance(kind, click.types.IntParamType | click.types.FloatParamType):
        word = "a whole number" if isinstance(kind, click.types.IntParamType) else "a number"
        bound = kind.min if isinstance(kind, click.IntRange | click.FloatRange) else None
        return word if bound is None else f"{word} of at least {bound:g}"
    placeholder = option.metavar or kind.name.upper()
    return WORDS.get(placeholder, f"a value, {placeholder}")
