"""Text that fits the terminal: its width, wrapped paragraphs, abridged lines, marks that its encoding has."""

from __future__ import annotations

import shutil
import sys
import textwrap
from typing import TextIO

PROSE = 100
"""Paragraphs stay narrower than this, however wide the terminal."""


def width() -> int:
    """Columns of the terminal, or of COLUMNS; 80 where there is neither."""
    return max(40, shutil.get_terminal_size((80, 24)).columns)


def encodes(text: str, stream: TextIO) -> bool:
    """Whether a stream can write this text."""
    try:
        text.encode(stream.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def ellipsis() -> str:
    return "…" if encodes("…", sys.stdout) else "..."


def abridge(text: str, room: int) -> str:
    """The text on one line of at most `room` columns, shortened by whole words where it is longer."""
    text = " ".join(text.split())
    if len(text) <= room:
        return text
    end = ellipsis()
    cut = text[: max(1, room - len(end)) + 1]
    kept = cut.rpartition(" ")[0].rstrip(" ,;:(") if " " in cut else ""
    return (kept if len(kept) >= room // 2 else cut[:-1]) + end


def wrap(text: str, indent: int = 0, first: str | None = None) -> str:
    """A paragraph within the terminal's width; `first` stands before its first line, instead of the indentation."""
    return textwrap.fill(
        " ".join(text.split()),
        min(width(), PROSE),
        initial_indent=" " * indent if first is None else first,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def document(text: str) -> str:
    """A docstring: lines that fit stay as they were written, longer ones are wrapped at their own indentation."""
    lines = []
    for line in text.splitlines():
        spaces = len(line) - len(line.lstrip())
        lines.append(line if len(line) <= width() else wrap(line, spaces))
    return "\n".join(lines)
