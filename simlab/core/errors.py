"""Errors meant for people. Each is one line: what was wrong, the value, what is allowed, how to fix it.

The command line prints the line without a traceback and exits with `exit_code`.
"""

from __future__ import annotations

import difflib
import reprlib
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

# Lengths in letters.
LONGEST_LIST = 300
LONGEST_LINE = 480
LONGEST_VALUE = 100


class SimlabError(Exception):
    """Something a user can act on; the base of every error that simlab raises on purpose.

    Its text is one line of at most LONGEST_LINE letters, whatever goes into it: of a longer one the middle is left out.
    """

    exit_code = 1

    def __str__(self) -> str:
        return one_line(super().__str__())


def one_line(text: str) -> str:
    """A line for the terminal of at most LONGEST_LINE letters."""
    if len(text) > 4 * LONGEST_LINE:  # spelling out megabytes takes seconds
        text = f"{text[:LONGEST_LINE]}{text[-LONGEST_LINE:]}"
    line = printable(text)
    return line if len(line) <= LONGEST_LINE else f"{line[: LONGEST_LINE // 2]} … {line[-LONGEST_LINE // 3 :]}"


def printable(text: str) -> str:
    """Text for a terminal: what would move the cursor, change colours or reorder letters is spelt out (``\\x1b``).

    Bytes of a path that is not valid text stay: they go out as they came in.
    """
    if text.isprintable():
        return text

    def harmless(letter: str) -> bool:
        return letter.isprintable() or unicodedata.category(letter) == "Zs" or "\udc80" <= letter <= "\udcff"

    return "".join(c if harmless(c) else c.encode("unicode_escape").decode("ascii") for c in text)


class BadInput(SimlabError):
    """A spec, an option or a directory that cannot be used as given."""

    exit_code = 2


class WriteFailed(SimlabError):
    """The disk is full, a file-size limit was hit, or the directory cannot be written."""


class _Shown(reprlib.Repr):
    """repr without the middle of what is long; never builds the whole of it first."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel, self.maxtuple, self.maxlist, self.maxdict, self.maxset = 4, 6, 6, 6, 6
        self.maxstring = self.maxother = LONGEST_VALUE
        self.maxlong = 40

    def repr_int(self, x: int, level: int) -> str:
        if x.bit_length() > 1000:  # Python refuses to print those of thousands of digits
            return f"{'-' if x < 0 else ''}(about 2^{x.bit_length() - 1})"
        return super().repr_int(x, level)


_SHOWN = _Shown()


def shown(value: Any, most: int = LONGEST_VALUE) -> str:
    """A value for an error line: its repr, the middle of what is long left out."""
    try:
        text = _SHOWN.repr(value).replace("\n", " ")
    except Exception:  # an object whose own repr fails
        text = f"<{type(value).__name__}>"
    return text if len(text) <= most else f"{text[: most * 2 // 3]} … {text[-most // 4 :]}"


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
    close = difflib.get_close_matches(name, list(names), n=1, cutoff=cutoff) if len(name) <= LONGEST_VALUE else []
    return f'; did you mean "{close[0]}"?' if close else ""
