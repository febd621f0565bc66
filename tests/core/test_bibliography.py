"""The sources of the guide: entries are whole, and citations in all their forms find them."""

from __future__ import annotations

import re

import pytest

from simlab.core import bibliography


@pytest.mark.parametrize("source", bibliography.sources().values(), ids=lambda source: source.key)
def test_entries_are_whole(source: bibliography.Source) -> None:
    assert source.authors
    assert source.title
    assert source.venue
    if re.fullmatch(r"S[1-3]", source.key):  # lecture and reading notes
        assert source.short
        return
    assert re.fullmatch(r"(19|20)\d\d", source.year)
    assert not source.arxiv or re.fullmatch(r"\d{4}\.\d{5}", source.arxiv)
    if source.key != "S0":
        many, two = len(source.names) > 2, len(source.names) == 2
        key = source.names[0] + (" et al." if many else f" and {source.names[1]}" if two else "")
        assert source.key == f"{key} {source.year}", "a key is made of its entry's authors and year"
    if source.arxiv and int(source.year) < 2100:
        assert int(source.arxiv[:2]) + 2000 <= int(source.year), "it appeared after it was on arXiv"


def test_no_paper_is_listed_twice() -> None:
    known = list(bibliography.sources().values())
    assert {source.key for source in known} >= {"S0", "S1", "S2", "S3"}
    numbers = [source.arxiv for source in known if source.arxiv]
    assert len(numbers) == len(set(numbers))
    assert len({source.title for source in known}) == len(known)


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("[S0]", ["S0"]),
        ("[S1 §4, S0 §2]", ["S1", "S0"]),
        ("A kernel viewpoint, section 6", ["S1"]),
        ("(Jacot et al.; Dyer and Gur-Ari)", ["Jacot et al. 2018", "Dyer and Gur-Ari 2020"]),
        ("Jacot, Gabriel & Hongler (2018)", ["Jacot et al. 2018"]),
        ("Lee et al. 2019", ["Lee et al. 2019"]),
        ("Lee et al.", ["Lee et al. 2018", "Lee et al. 2019"]),
        ("Safran, Eldan and Shamir 2019", ["Safran et al. 2019"]),
        ("Eldan and Shamir", ["Eldan and Shamir 2016"]),
        ("Rahimi–Recht 2007", ["Rahimi and Recht 2007"]),
        ("Ogita, Rump and Oishi's Dot2", ["Ogita et al. 2005"]),
        ("Ben Arous et al. 2021", ["Ben Arous et al. 2021"]),
        ("Abbe, Boix-Adserà and Misiakiewicz 2022", ["Abbe et al. 2022"]),
        ("Ghorbani, Mei, Misiakiewicz and Montanari 2021", ["Ghorbani et al. 2021"]),
    ],
)
def test_citations_are_found(text: str, keys: list[str]) -> None:
    assert [source.key for source in bibliography.cited(text)] == keys
    assert bibliography.unknown(text) == []


def test_what_is_not_listed_is_unknown() -> None:
    text = "[S7] and Smith et al. 2019, Lee et al. 1999; Jacot and Hongler; Theorem 1 and Corollaries [S0]"
    assert bibliography.unknown(text) == ["S7", "Smith et al.", "Lee et al.", "Jacot and Hongler"]
    assert [source.key for source in bibliography.cited(text)] == ["S0"]


def test_described_in_full_at_80_columns() -> None:
    said = bibliography.describe("x [S1] (Jacot et al. 2018)", see="MATH §5, §6.")
    whole = " ".join(said.split())
    assert "[S1] Pradeep Ravikumar. Deep Neural Networks: A Kernel Viewpoint. Lecture notes" in whole
    assert "Arthur Jacot, Franck Gabriel and Clément Hongler. Neural Tangent Kernel: Convergence" in whole
    assert "(NeurIPS), 2018. https://arxiv.org/abs/1806.07572" in whole
    assert "simlab guide mathematics --section 5 (also 6)" in whole
    assert max(map(len, said.splitlines())) < 80
