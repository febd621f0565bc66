"""Every reference to the mathematics and to a source leads somewhere that a user has."""

from __future__ import annotations

import importlib
import re
import unicodedata
from pathlib import Path

import pytest

from simlab import claims
from simlab.core import bibliography, catalogue, guides

ROOT = Path(__file__).parents[1]
TEXT = guides.read("mathematics")
SECTIONS = {heading.number for heading in guides.headings(TEXT)}
PLACES = {"simlab": ("py", "md", "toml"), "runs": ("toml",), "tools": ("py", "sh", "toml", "md"), "tests": ("py",)}
FILES = [
    *sorted(path for place, ends in PLACES.items() for end in ends for path in (ROOT / place).rglob(f"*.{end}")),
    *(ROOT / name for name in ("README.md", "CHANGELOG.md")),
]
EXAMPLES = {
    "guides.py",
    "bibliography.py",
    "test_guides.py",
    "test_bibliography.py",
    "test_references.py",
    "mathematics.md",
}
"""Files that speak about references: what they hold are examples."""


def references_in(text: str) -> list[str]:
    """What does not lead anywhere."""
    bad = [f"MATH §{number}" for number in guides.references(text) if number not in SECTIONS]
    unread = len(re.findall(r"\bMATH\b", text)) - len(re.findall(r"\bMATH(?:'s)? §\d", text))
    keys = [key for group in re.findall(r"\[S\d[^\]]*\]", text) for key in re.findall(r"\bS\d+", group)]
    return bad + ["MATH without §"] * unread + [key for key in keys if key not in bibliography.sources()]


def test_every_reference_resolves() -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in FILES if path.name not in EXAMPLES}
    assert sum(bool(guides.references(text)) for text in texts.values()) > 150, "are there files at all?"
    assert {str(path): bad for path, text in texts.items() if (bad := references_in(text))} == {}


def test_every_paper_named_with_its_year_is_listed() -> None:
    name = r"[A-Z][\w'’-]+"
    dated = re.compile(rf"(?:{name}, )*{name} (?:and|&) {name} \(?(?:19|20)\d\d|{name} et al\.(?: \(?(?:19|20)\d\d)?")
    shipped = [path for path in FILES if path.relative_to(ROOT).parts[0] != "tests" and path.name not in EXAMPLES]
    found = {match.group() for path in shipped for match in dated.finditer(path.read_text(encoding="utf-8"))}
    assert len(found) > 15
    assert [phrase for phrase in sorted(found) if bibliography.unknown(phrase)] == []


def test_nothing_shipped_refers_to_a_text_that_users_do_not_have() -> None:
    private = re.compile(r"\bDESIGN\b|\bSTYLE\.md|\bMATH\.md|\bshared/|\bseeds/")
    shipped = [path for path in FILES if path.relative_to(ROOT).parts[0] != "tests"]
    assert [str(path) for path in shipped if private.search(path.read_text(encoding="utf-8"))] == []


def test_a_reference_that_leads_nowhere_is_noticed() -> None:
    assert references_in("MATH §4, §99 and MATH §4.7; MATH says; [S0 §2, S4]") == [
        "MATH §99", "MATH §4.7", "MATH without §", "S4",
    ]  # fmt: skip
    assert references_in("MATH §4–6 [S0], [S1 §5.3]") == []


def test_the_guide_itself_refers_to_what_it_holds() -> None:
    body, _, listed = TEXT.partition("## Sources")
    named = re.findall(r"(?:section |sections |of |§)(\d+\.\d+)\b(?! %)", re.sub(r"\[S\d\][^;.]*", "", body))
    assert set(named) <= SECTIONS
    assert bibliography.unknown(re.sub(r"\s+", " ", body)) == []
    used = {source.key for source in bibliography.cited(re.sub(r"\s+", " ", body + listed.partition("The papers")[0]))}
    everywhere = {source.key for path in FILES for source in bibliography.cited(path.read_text(encoding="utf-8"))}
    assert set(bibliography.sources()) <= used | everywhere, "listed, but cited nowhere"


@pytest.mark.parametrize("name", catalogue.names("claims"))
def test_the_source_of_every_claim_is_known(name: str) -> None:
    claim = claims.get(name)
    assert bibliography.unknown(claim.source) == []
    assert bibliography.cited(claim.source)
    assert guides.references(claim.__doc__ or ""), "and its formulas have a section"


@pytest.mark.parametrize("path", sorted(ROOT.rglob("runs/*.toml")), ids=lambda path: path.stem)
def test_the_source_of_every_spec_is_known(path: Path) -> None:
    comment = " ".join(line.lstrip("# ") for line in path.read_text("utf-8").splitlines() if line.startswith("#"))
    source = comment.partition("Source:")[2].partition("Minutes:")[0]
    assert bibliography.unknown(source) == []
    assert bibliography.cited(source)


def test_the_index_names_rooms_and_claims_that_use_the_section() -> None:
    index = " ".join(guides.section(TEXT, "where each section is used").split())
    lines = re.findall(r"- §(\d+): ([\w, ]+)\.(?: Claims: ([\w, ]+)\.)?", index)
    assert [number for number, *_ in lines] == [str(number) for number in range(1, 11)]
    for number, rooms, users in lines:
        for room in rooms.split(", "):
            importlib.import_module(f"simlab.{room}")
            texts = [path.read_text("utf-8") for path in (ROOT / "simlab" / room).rglob("*.py")]
            assert any(number in guides.references(text) for text in texts), (room, number)
        for claim in filter(None, users.split(", ")):
            assert number in guides.references(claims.get(claim).__doc__ or ""), (claim, number)


@pytest.mark.parametrize("path", sorted((ROOT / "simlab" / "guide").glob("*.md")), ids=lambda path: path.stem)
def test_guides_fit_into_80_columns(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if sum(not unicodedata.combining(letter) for letter in line) > 79] == []


def test_citation_file_lists_the_sources() -> None:
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8").partition("references:")[2]
    entries = [
        (
            re.findall(r'^    title: "(.+)"$', entry, re.MULTILINE),
            re.findall(r'family-names: "(.+)"', entry),
            re.findall(r"^    year: (\d+)$", entry, re.MULTILINE),
            re.findall(r'value: "arXiv:(.+)"', entry),
        )
        for entry in re.split(r"^  - type: ", text, flags=re.MULTILINE)[1:]
    ]
    expected = [
        (
            [source.title],
            [] if "not named" in source.authors else _surnames(source),
            [source.year] if source.year else [],
            [source.arxiv] if source.arxiv else [],
        )
        for source in bibliography.sources().values()
    ]
    assert entries == expected


def _surnames(source: bibliography.Source) -> list[str]:
    last = [author.split()[-1] for author in re.split(r", | and ", source.authors)]
    return [source.names[0], *last[1:]] if not re.fullmatch(r"S\d", source.key) else last
