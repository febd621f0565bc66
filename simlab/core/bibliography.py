"""The sources that the guide `mathematics` lists, and which of them a text cites.

An entry of the section "Sources" reads

    - **[Jacot et al. 2018]** Arthur Jacot, … and Clément Hongler. *Title*. Venue, 2018. arXiv:1806.07572.

A text cites it by its key in brackets, "[S0]", "[S0 §2, S1 §4]", or by its authors: "Jacot et al.", "Jacot, Gabriel and
Hongler 2018", "Cho and Saul (2009)"; or, one of the four source texts, by the short title that its entry gives it
(*Called "Deep equals shallow"*). Without a year all papers of these authors are meant.
"""

from __future__ import annotations

import functools
import re
import textwrap
from typing import NamedTuple

from simlab.core import guides

_ENTRY = re.compile(r"^- \*\*\[([^\]]+)\]\*\* (.*?)(?=\n- \*\*\[|\n\n|\Z)", re.MULTILINE | re.DOTALL)
_PARTS = re.compile(r"(?P<authors>.+?)\. \*(?P<title>.+?)\*\.? (?P<rest>.+)")
_KEYS = re.compile(r"\[(S\d[^\]]*)\]")
_NAME = r"\b[A-ZÀ-Þ][a-zß-ÿ'’]+(?:-[A-ZÀ-Þ][a-zß-ÿ'’]+)*"
_AUTHORS = re.compile(rf"{_NAME}(?:, {_NAME})*(?: (?:and|&) |–){_NAME}|{_NAME} et al\.")
_YEAR = re.compile(r",? \(?((?:19|20)\d\d)")


class Source(NamedTuple):
    """One entry.

    key: such as "S0" or "Jacot et al. 2018".
    authors: as printed.
    title: as printed.
    venue: where and when it appeared.
    year: four digits; "" where the text has no date.
    arxiv: its number; "" where there is none.
    short: the short title that specs call it by; "" where there is none.
    """

    key: str
    authors: str
    title: str
    venue: str
    year: str
    arxiv: str
    short: str

    def __str__(self) -> str:
        link = f" https://arxiv.org/abs/{self.arxiv}" if self.arxiv else ""
        stop = "" if self.title.endswith("?") else "."
        return f"[{self.key}] {self.authors}. {self.title}{stop} {self.venue}.{link}"

    @property
    def names(self) -> list[str]:
        """Surnames; the first as the key spells it ("Ben Arous")."""
        first = re.split(r" et al\.| and | \d", self.key)[0]
        return [first, *(author.split()[-1] for author in re.split(r", | and ", self.authors)[1:])]


@functools.cache
def sources() -> dict[str, Source]:
    """Key → source, in the order of the guide."""
    text = guides.section(guides.read("mathematics"), "sources")
    return {key: _parse(key, " ".join(body.split())) for key, body in _ENTRY.findall(text)}


def cited(text: str) -> list[Source]:
    """The sources that a text cites, in the order in which it first does."""
    known = sources()
    places = {key: match.start() for match in _KEYS.finditer(text) for key in re.findall(r"S\d", match.group())}
    for source in known.values():
        # By its short title, or by a key that no pattern of authors knows: "Johansson 2017".
        for name in (source.short, source.key if source.year else ""):
            if name and name in text:
                places.setdefault(source.key, text.index(name))
    for match in _AUTHORS.finditer(text):
        for source in _by_authors(match, text):
            places.setdefault(source.key, match.start())
    return sorted((known[key] for key in places if key in known), key=lambda source: places[source.key])


def unknown(text: str) -> list[str]:
    """What a text cites and the guide does not list: keys, and authors but for rules such as "Gauss–Legendre"."""
    keys = [key for match in _KEYS.finditer(text) for key in re.findall(r"S\d", match.group())]
    named = [match for match in _AUTHORS.finditer(text) if "–" not in match.group()]
    authors = [match.group() for match in named if not _by_authors(match, text)]
    return [key for key in keys if key not in sources()] + authors


def describe(text: str, see: str = "", width: int = 79) -> str:
    """The full entry of every source that `text` cites, wrapped, and how to read the sections that `see` refers to."""
    wrap = functools.partial(
        textwrap.fill, width=width, initial_indent="  ", subsequent_indent="    ",
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
    lines = [wrap(str(source)) for source in cited(text)]
    if sections := list(dict.fromkeys(guides.references(see))):
        also = f" (also {', '.join(sections[1:])})" if sections[1:] else ""
        lines.append(f"  Formulas: simlab guide mathematics --section {sections[0]}{also}")
    return "\n".join(lines)


def _by_authors(match: re.Match[str], text: str) -> list[Source]:
    """Papers by the authors named, and of the year behind the names if there is one."""
    authors = re.sub(r"['’]s$", "", match.group())  # "Allen-Zhu and Li's experiment"
    names = [name for name in re.split(r", | and | & |–| et al\.", authors) if name]
    year = _YEAR.match(text, match.end())
    short = authors.endswith("et al.")
    return [
        source
        for source in sources().values()
        if source.year
        and not re.fullmatch(r"S\d", source.key)
        and ((short and len(source.names) > 2 and names[0] == source.names[0].split()[-1]) or names == source.names)
        and (year is None or year.group(1) == source.year)
    ]


def _parse(key: str, body: str) -> Source:
    match = _PARTS.fullmatch(body)
    if match is None:
        raise ValueError(f"guide/mathematics.md: the entry [{key}] is not of the form 'Authors. *Title*. Venue, year.'")
    short = re.search(r'Called "(.+?)"', match["rest"])
    rest = match["rest"].split(". Called ")[0].rstrip(".")
    arxiv = re.search(r"\. arXiv:(\d{4}\.\d{4,5})$", rest)
    venue = rest[: arxiv.start()] if arxiv else rest
    year = re.search(r", (\d{4})$", venue)
    numbers = [found.group(1) if found else "" for found in (year, arxiv, short)]
    return Source(key, match["authors"], match["title"], venue, *numbers)
