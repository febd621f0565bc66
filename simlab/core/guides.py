"""The guides: Markdown documents in simlab/guide, read whole or by section.

A heading is ``## 4 Title`` or ``### 4.2 Title``, found by its number or title, or ``## Sources``, found by its title.
"MATH §4" in the package's text means section 4 of the guide `mathematics`.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from simlab.core.errors import BadInput, nearest, one_of, shown

HOME = Path(__file__).parents[1] / "guide"
_HEADING = re.compile(r"^(##+) (?:(\d+(?:\.\d+)*) )?(.+)$")
_NUMBER = r"§?(\d+(?:\.\d+)*)"
_REFERENCE = re.compile(r"MATH(?:'s)? §(?:\d+(?:\.\d+)*)(?:(?:\s*,\s*§|\s*[–-]\s*§?|\s+and §)\d+(?:\.\d+)*)*")
_STEP = re.compile(rf"([–-])?\s*{_NUMBER}")


class Heading(NamedTuple):
    """A heading of a guide.

    level: number of ``#``, 2 or more.
    number: such as "4.2"; "" for a heading without one.
    title: the words after it.
    line: index of its line in the text, from 0.
    """

    level: int
    number: str
    title: str
    line: int

    @property
    def name(self) -> str:
        """What `--section` calls it: its number, or its title in small letters."""
        return self.number or self.title.lower()


def guides() -> dict[str, str]:
    """Name of each guide → its first sentence, which says what it is about."""
    return {path.stem: _summary(path.read_text(encoding="utf-8")) for path in sorted(HOME.glob("*.md"))}


def read(name: str) -> str:
    """The text of the guide of this name; BadInput where there is none."""
    known = sorted(path.stem for path in HOME.glob("*.md"))
    if name not in known:
        raise BadInput(f"guide = {shown(name)}: unknown{nearest(name, known)} (allowed: {one_of(known)})")
    return (HOME / f"{name}.md").read_text(encoding="utf-8")


def headings(text: str) -> list[Heading]:
    """Headings of level 2 and below, in order."""
    found = []
    for line, content in enumerate(text.splitlines()):
        if match := _HEADING.match(content):
            marks, number, title = match.groups()
            found.append(Heading(len(marks), number or "", title, line))
    return found


def section(text: str, name: str) -> str:
    """One section of a guide's text, with its subsections; BadInput where there is none of this name.

    name: number ("4", "4.2", "§4") or title ("sources").
    """
    every = headings(text)
    wanted = name.strip().removeprefix("§").lower()
    for place, heading in enumerate(every):
        if wanted and wanted in (heading.number, heading.title.lower()):
            later = (other.line for other in every[place + 1 :] if other.level <= heading.level)
            lines = text.splitlines()
            return "\n".join(lines[heading.line : next(later, len(lines))]).rstrip() + "\n"
    tops = [heading.name for heading in every if heading.level == 2]
    raise BadInput(f"--section {name}: no such section{nearest(wanted, tops)} (allowed: {one_of(tops)}, or 4.2, say)")


def references(text: str) -> list[str]:
    """The section numbers that a text refers to: "MATH §4–6, §8" names 4, 5, 6 and 8."""
    found: list[str] = []
    for reference in _REFERENCE.finditer(text):
        for dash, number in _STEP.findall(reference.group()):
            # "4–6" gives "4" and then "–6": the whole numbers between them are filled in.
            if dash and "." not in number and "." not in found[-1]:
                found += [str(between) for between in range(int(found[-1]) + 1, int(number))]
            found.append(number)
    return found


def _summary(text: str) -> str:
    """The first sentence of the first paragraph."""
    paragraph = next((part for part in text.split("\n\n") if part.strip() and not part.startswith("#")), "")
    return re.split(r"(?<=\.)\s", " ".join(paragraph.split()), maxsplit=1)[0]
