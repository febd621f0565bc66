"""Errors meant for people. Each is one line: what was wrong, the value, what is allowed, how to fix it.

The command line prints the line without a traceback and exits with `exit_code`.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

LONGEST_LIST = 300  # letters


class SimlabError(Exception):
    """Something a user can act on; the base of every error that simlab raises on purpose."""

    exit_code = 1


class BadInput(SimlabError):
    """A spec, an option or a directory that cannot be used as given."""

    exit_code = 2


class WriteFailed(SimlabError):
    """The disk is full, a file-size limit was hit, or the directory cannot be written."""


def one_of(names: Iterable[str]) -> str:
    """`a, b, c`, for the end of an error line; of very many the first, and how many there are."""
    known = list(names)
    text = ", ".join(known) or "none"
    if len(text) <= LONGEST_LIST:
        return text
    shown = text[:LONGEST_LIST].rpartition(", ")[0]
    return f"{shown}, …: {len(known)} in all"


def first_few(items: Sequence[str], most: int = 3) -> str:
    """`a; b; c; and 4 more`, for lists that may be long."""
    return "; ".join([*items[:most], *([f"and {len(items) - most} more"] if len(items) > most else [])])


def nearest(name: str, names: Iterable[str], cutoff: float = 0.5) -> str:
    """`; did you mean "width"?`, or nothing when no name is near."""
    close = difflib.get_close_matches(name, list(names), n=1, cutoff=cutoff)
    return f'; did you mean "{close[0]}"?' if close else ""
