"""The house style: files by their suffix, colours that can be seen, rows of three, numbers and names for readers."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure

from simlab.core.errors import BadInput
from simlab.figures import style
from simlab.figures.looks import contrast
from simlab.figures.style import colours, paired_panels, panels, save, tick_at
from simlab.figures.words import number, point_label, readable

HEADS = {".png": b"\x89PNG", ".pdf": b"%PDF-", ".svg": b"<?xml", ".PDF": b"%PDF-"}


def simple() -> Figure:
    figure, (axis,) = panels(1)
    axis.fill_between([0, 1], [0, 0], [1, 2], alpha=0.2)
    axis.plot([0, 1], [1, 2], "o-", label=r"width $m = 3$")
    axis.set_title("a title in words")
    axis.legend()
    return figure


@pytest.mark.parametrize("suffix", HEADS)
def test_the_suffix_is_the_format_and_the_bytes_are_the_same_every_time(tmp_path: Path, suffix: str) -> None:
    first, second = (save(simple(), tmp_path / f"{i}{suffix}").read_bytes() for i in (1, 2))
    assert first.startswith(HEADS[suffix])
    assert first == second
    assert b"Date" not in first.replace(b"<dc:date", b"")


def test_text_stays_text(tmp_path: Path) -> None:
    svg = save(simple(), tmp_path / "x.svg").read_text()
    assert re.search(r"<text[^>]*>a title in words</text>", svg)
    pdf = save(simple(), tmp_path / "x.pdf").read_bytes()
    assert b"/Type3" not in pdf
    assert b"/CIDFontType2" in pdf or b"/TrueType" in pdf


@pytest.mark.parametrize("name", ["x.jpg", "x", "x.png.txt", "x.svgz"])
def test_another_suffix_is_refused_and_nothing_written(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadInput, match=r"must be \.png, \.pdf or \.svg"):
        save(simple(), tmp_path / name)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("count", range(1, 13))
def test_colours_can_be_seen_on_white_and_told_apart(count: int) -> None:
    found = colours(count)
    assert len(set(found)) == count
    assert min(map(contrast, found)) >= 3
    levels = [contrast(colour) for colour in found]
    assert levels == sorted(levels, reverse=True), "from dark to light: in order without colour vision"


@pytest.mark.parametrize("name", ["BLUE", "RED", "BROWN", "GREEN", "PURPLE", "GREY", "GUIDE"])
def test_fixed_colours_can_be_seen_on_white(name: str) -> None:
    assert contrast(getattr(style, name)) >= 3
    assert contrast("C1") < 3, "the test can say no"


@pytest.mark.parametrize(
    ("count", "rows"), [(1, [1]), (2, [2]), (3, [3]), (4, [2, 2]), (5, [3, 2]), (7, [3, 3, 1]), (12, [3] * 4)]
)
def test_rows_of_at_most_three(count: int, rows: list[int]) -> None:
    figure, axes = panels(count)
    assert len(axes) == len(figure.axes) == count
    where = [axis.get_subplotspec().rowspan.start for axis in axes]  # type: ignore[union-attr]
    assert [where.count(row) for row in range(max(where) + 1)] == rows


@pytest.mark.parametrize("count", range(1, 8))
def test_pairs_lie_one_below_the_other(count: int) -> None:
    figure, pairs = paired_panels(count)
    assert len(figure.axes) == 2 * count
    for above, below in pairs:
        first, second = above.get_subplotspec(), below.get_subplotspec()
        assert first is not None
        assert second is not None
        assert first.get_gridspec().ncols <= 3
        if count > 1:
            assert first.colspan.start == second.colspan.start
            assert first.rowspan.start + 1 == second.rowspan.start


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (10**0.5, "3.16"),
        (1024, "1024"),
        (131072, "131072"),
        (100.0, "100"),
        (1234.56, "1235"),
        (1e6, "$10^{6}$"),
        (-1e-5, "$-10^{-5}$"),
        (3.16227766e-5, r"$3.16 \times 10^{-5}$"),
        (0.001, "0.001"),
        (float("nan"), "nan"),
        ("relu", "relu"),
        (True, "True"),
    ],
)
def test_numbers_are_rounded(value: Any, text: str) -> None:
    assert number(value) == text


def test_numbers_that_differ_are_written_differently() -> None:
    near = [0.12341, 0.12342, 0.5]
    assert [number(value, near) for value in near] == ["0.12341", "0.12342", "0.5"]


def test_names_are_words_and_symbols() -> None:
    assert readable("network.width") == "width $m$"
    assert readable("flow.alpha") == r"output scale $\alpha$"
    assert readable("alpha") == r"feature scale $\alpha$"
    assert readable("some_new_name") == "some new name"
    assert point_label(["flow.alpha", "network.activation"], [10**0.5, "relu"]) == r"$\alpha = 3.16$, relu"


def test_ticks_that_would_overlap_are_left_out() -> None:
    _, (axis,) = panels(1)
    axis.set_xscale("log")
    tick_at(axis, [24, 96, 100, 800])
    assert [text.get_text() for text in axis.get_xticklabels()] == ["24", "96", "800"]
