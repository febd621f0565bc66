"""What to type to go on with stopped work. A command says it when it begins; the last line after ctrl-C repeats it."""

from __future__ import annotations

import shlex
import sys

_command = ""


def spelt(*words: object) -> str:
    """``simlab WORDS…``, quoted for a shell where needed."""
    return shlex.join(["simlab", *map(str, words)])


def goes_on_with(*words: object) -> None:
    """Remember that ``simlab WORDS…`` goes on with the work that begins now."""
    global _command
    _command = spelt(*words)


def same_command() -> None:
    """The command that runs now goes on when given again (not with --overwrite, which would begin anew)."""
    goes_on_with(*(word for word in sys.argv[1:] if word != "--overwrite"))


def how_to_go_on() -> str:
    """``; `simlab resume out/q` goes on``, or nothing where no work had begun."""
    return f"; `{_command}` goes on" if _command else ""


def forget() -> None:
    """A new command begins."""
    global _command
    _command = ""
