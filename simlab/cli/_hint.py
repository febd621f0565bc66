"""What to type to go on with stopped work. A command says it when it begins; the last line after ctrl-C repeats it."""

from __future__ import annotations

import shlex

_command = ""


def goes_on_with(*words: object) -> str:
    """Remember ``simlab WORDS…``, quoted for a shell where needed; returns it."""
    global _command
    _command = shlex.join(["simlab", *map(str, words)])
    return _command


def how_to_go_on() -> str:
    """``; `simlab resume out/q` goes on``, or nothing where no work had begun."""
    return f"; `{_command}` goes on" if _command else ""


def forget() -> None:
    """A new command begins."""
    global _command
    _command = ""
