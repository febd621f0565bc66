"""Every reference to the mathematics and to a source leads somewhere that a user has."""

from __future__ import annotations

import importlib
import re
import unicodedata
from pathlib import Path

import pytest
from scipy import optimize, special

from simlab.core import guides, lookup, sources

ROOT = Path(__file__).parents[1]
TEXT = guides.read("mathematics")
SECTIONS = {heading.number for heading in guides.headings(TEXT)}
FILES = sorted(
    path
    for place, patterns in {
        "simlab": ("*.py", "*.md", "*.toml"), "runs": ("*.toml",), "tools": ("*",), "tests": ("*.py",)
    }.items()
    for pattern in patterns
    for path in (ROOT / place).rglob(pattern)
    if path.is_file() and "__pycache__" not in path.parts and path.suffix in (".py", ".md", ".toml", ".sh")
) + [ROOT / "README.md", ROOT / "CHANGELOG.md"]  # fmt: skip
EXAMPLES = {
    "simlab/core/guides.py",
    "simlab/core/sources.py",
    "tests/core/test_guides.py",
    "tests/core/test_sources.py",
}
"""Files that speak about references: what they hold are examples."""


def references_in(text: str) -> list[str]:
    """What does not lead anywhere."""
    bad = [f"MATH §{number}" for number in guides.references(text) if number not in SECTIONS]
    unread = len(re.findall(r"\bMATH\b", text)) - len(re.findall(r"\bMATH(?:'s)? §\d", text))
    keys = [key for group in re.findall(r"\[S\d[^\]]*\]", text) for key in re.findall(r"\bS\d+", group)]
    return bad + ["MATH without §"] * unread + [key for key in keys if key not in sources.sources()]


@pytest.mark.parametrize(
    "path", [path for path in FILES if str(path.relative_to(ROOT)) not in EXAMPLES],
    ids=lambda path: str(path.relative_to(ROOT)),
)  # fmt: skip
def test_every_reference_resolves(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    if path.name not in ("test_references.py", "mathematics.md"):
        assert references_in(text) == []
    if path.is_relative_to(ROOT / "simlab") or path.is_relative_to(ROOT / "tools"):
        assert not re.search(r"\bDESIGN\b|\bSTYLE\.md|\bMATH\.md|\bshared/|\bseeds/", text), "users have no such text"


def test_a_reference_that_leads_nowhere_is_noticed() -> None:
    assert references_in("MATH §4, §99 and MATH §4.7; MATH says; [S0 §2, S4]") == [
        "MATH §99", "MATH §4.7", "MATH without §", "S4",
    ]  # fmt: skip
    assert references_in("MATH §4–6 [S0], [S1 §5.3]") == []


def test_the_guide_itself_refers_to_what_it_holds() -> None:
    body, _, listed = TEXT.partition("## Sources")
    named = re.findall(r"(?:section |sections |of |§)(\d+\.\d+)\b(?! %)", re.sub(r"\[S\d\][^;.]*", "", body))
    assert set(named) <= SECTIONS
    assert sources.unknown(re.sub(r"\s+", " ", body)) == []
    used = {source.key for source in sources.cited(re.sub(r"\s+", " ", body + listed.partition("The papers")[0]))}
    everywhere = {source.key for path in FILES for source in sources.cited(path.read_text(encoding="utf-8"))}
    assert set(sources.sources()) <= used | everywhere, "listed, but cited nowhere"


@pytest.mark.parametrize("name", lookup.kinds("claims"))
def test_the_source_of_every_claim_is_known(name: str) -> None:
    claim = lookup.get("claims", name)
    assert sources.unknown(claim.SOURCE) == []
    assert sources.cited(claim.SOURCE)
    assert guides.references(claim.__doc__ or ""), "and its formulas have a section"


@pytest.mark.parametrize("path", sorted(ROOT.rglob("runs/*.toml")), ids=lambda path: path.stem)
def test_the_source_of_every_spec_is_known(path: Path) -> None:
    comment = " ".join(line.lstrip("# ") for line in path.read_text("utf-8").splitlines() if line.startswith("#"))
    source = comment.partition("Source:")[2].partition("Minutes:")[0]
    assert sources.unknown(source) == []
    assert sources.cited(source)


def test_the_index_names_rooms_and_claims_that_use_the_section() -> None:
    index = " ".join(guides.section(TEXT, "where each section is used").split())
    lines = re.findall(r"- §(\d+): ([\w, ]+)\.(?: Claims: ([\w, ]+)\.)?", index)
    assert [number for number, *_ in lines] == [str(number) for number in range(1, 10)]
    for number, rooms, claims in lines:
        for room in rooms.split(", "):
            importlib.import_module(f"simlab.{room}")
            texts = [path.read_text("utf-8") for path in (ROOT / "simlab" / room).rglob("*.py")]
            assert any(number in guides.references(text) for text in texts), (room, number)
        for claim in filter(None, claims.split(", ")):
            assert number in guides.references(lookup.get("claims", claim).__doc__ or ""), (claim, number)


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
        for source in sources.sources().values()
    ]
    assert entries == expected


def _surnames(source: sources.Source) -> list[str]:
    last = [author.split()[-1] for author in re.split(r", | and ", source.authors)]
    return [source.names[0], *last[1:]] if not re.fullmatch(r"S\d", source.key) else last


def test_numbers_of_the_guide_are_right() -> None:
    """Radii, tubes and C_Γ of section 8, computed anew."""
    law = guides.section(TEXT, "8.1")
    dims, medians, masses = (
        [float(number) for number in re.findall(r"[\d.]+(?:e-\d+)?", row.partition("|")[2])]
        for row in re.findall(r"^\| (?:d|median of ‖x‖|P\(‖x‖ < 1\)) *(\|.+)$", law, re.MULTILINE)
    )
    tubes = [float(number) for number in re.search(r"(0\.134), (5.67e-4)\s+and\s+(3.92e-7)", TEXT).groups()]  # type: ignore[union-attr]
    constants = {
        int(d): float(value) for value, d in re.findall(r"(0\.\d{5})\s+\(d\s+=\s+(\d+)\)", guides.section(TEXT, "8.5"))
    }
    assert set(constants) == {3, 10, 100}
    for d, median, mass in zip(dims, medians, masses, strict=True):
        radius = special.gamma(d / 2 + 1) ** (1 / d) / 3.141592653589793**0.5
        wave = 2 * 3.141592653589793 * radius

        def cdf(r: float, d: float = d, wave: float = wave) -> float:
            return special.jv(d / 2, wave * r) ** 2 + 2 * sum(
                special.jv(d / 2 + k, wave * r) ** 2 for k in range(1, 400)
            )

        assert optimize.brentq(lambda r: cdf(r) - 0.5, 1e-3, 10.0) == pytest.approx(
            median, abs=5e-3 if d > 50 else 5e-4
        )
        assert cdf(1.0) == pytest.approx(mass, rel=0.1 if d > 50 else 0.02)
        if int(d) in constants:
            exact = (d / 3.141592653589793) ** 0.5 * special.poch(d / 2, 0.5) ** -1 / 2
            assert exact == pytest.approx(constants[int(d)], abs=5e-6)
    assert tubes == pytest.approx([special.betainc((d - 1) / 2, 0.5, 0.25) for d in (3, 10, 20)], rel=2e-3)
