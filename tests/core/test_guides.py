"""Guides by section, and the references to them that a text holds."""

from __future__ import annotations

import pytest

from simlab.core import guides
from simlab.core.errors import BadInput

TEXT = """# Title

What it is. And more.

## 4 Four

a

### 4.2 Half

b

## 10 Ten

c

## Sources

d
"""


@pytest.mark.parametrize(
    ("text", "sections"),
    [
        ("MATH §4.", ["4"]),
        ("MATH §3, §5. And §7 of a paper", ["3", "5"]),
        ("MATH §4–6, then MATH §9", ["4", "5", "6", "9"]),
        ("MATH §3's general", ["3"]),
        ("(MATH §4.2) and [S1 §5]", ["4.2"]),
        ("MATH §3,\n§4", ["3", "4"]),
        ("MATH §1, §2 and §3", ["1", "2", "3"]),
        ("mathematics §4", []),
    ],
)
def test_references_are_read(text: str, sections: list[str]) -> None:
    assert guides.references(text) == sections


def test_sections_by_number_and_title() -> None:
    assert guides.section(TEXT, "4") == "## 4 Four\n\na\n\n### 4.2 Half\n\nb\n"
    assert guides.section(TEXT, "§4.2") == "### 4.2 Half\n\nb\n"
    assert guides.section(TEXT, "10") == "## 10 Ten\n\nc\n"
    assert guides.section(TEXT, "Sources") == "## Sources\n\nd\n"
    for missing in ("1", "4.1", "Half a title", ""):
        with pytest.raises(BadInput, match="no such section"):
            guides.section(TEXT, missing)


def test_guides_are_listed_by_their_first_sentence() -> None:
    listed = guides.guides()
    assert listed["mathematics"].startswith("Every formula that simlab computes")
    assert listed["mathematics"].endswith(".")
    with pytest.raises(BadInput, match='did you mean "mathematics"'):
        guides.read("mathematic")
    with pytest.raises(BadInput, match="unknown"):
        guides.read("../../pyproject")
