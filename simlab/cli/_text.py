"""Text that fits the terminal: its width, wrapped paragraphs, abridged lines, marks that its encoding has."""

from __future__ import annotations

import shutil
import textwrap

from simlab.cli._encoding import can_print

PROSE_COLUMNS = 100
"""Paragraphs stay narrower than this, however wide the terminal."""


def width() -> int:
    """Columns of the terminal, or of COLUMNS; 80 where there is neither."""
    return max(40, shutil.get_terminal_size((80, 24)).columns)


def ellipsis() -> str:
    """The mark for what is left out, as far as the terminal's encoding has it."""
    return "…" if can_print("…") else "..."


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
        min(width(), PROSE_COLUMNS),
        initial_indent=" " * indent if first is None else first,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def document(text: str) -> str:
    """A docstring within the terminal's width: its paragraphs and items are filled anew, indented lines stay lines."""
    if all(len(line) <= width() for line in text.splitlines()):
        return text
    filled: list[str] = []
    open_ = False  # whether the last line goes on
    for line in text.splitlines():
        stripped = line.lstrip()
        spaces = len(line) - len(stripped)
        item = stripped.startswith(("- ", "* "))
        if not stripped:
            filled.append("")
        elif open_ and not item and spaces == (_hang(filled[-1]) if filled[-1] else 0):
            filled[-1] += " " + stripped
        else:
            filled.append(line)
        open_ = bool(stripped) and (spaces == 0 or item or (open_ and not item))
    return "\n".join(line if len(line) <= width() else wrap(line, _hang(line), _head(line)) for line in filled)


def _hang(line: str) -> int:
    """Columns before the text of a paragraph or of an item."""
    stripped = line.lstrip()
    return len(line) - len(stripped) + (2 if stripped.startswith(("- ", "* ")) else 0)


def _head(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def toml(text: str) -> str:
    """TOML within the terminal's width: a list that is too long is abridged, the rest stays as it is."""
    return "\n".join(abridge_list(line, width()) for line in text.splitlines())


def abridge_list(line: str, room: int) -> str:
    """``x = [1, 2, … 99]``: the beginning and the last entry of a list; other lines are cut."""
    if len(line) <= room:
        return line
    head, bracket, rest = line.partition("[")
    if not bracket or not rest.endswith("]"):
        return abridge(line, room)
    last = rest.rpartition(",")[2] if "," in rest else rest
    kept = rest[: max(0, room - len(head) - len(last) - len(ellipsis()) - 3)].rpartition(",")[0]
    short = f"{head}[{kept}, {ellipsis()}{last}" if kept else ""
    return short if short and len(short) <= room else abridge(line, room)
