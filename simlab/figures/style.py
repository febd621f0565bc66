"""The style of all figures: sizes, colours, panels and files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture
from matplotlib.ticker import NullLocator

from simlab.core.errors import BadInput, shown
from simlab.core.formats import FIGURE_FORMATS
from simlab.figures.words import number
from simlab.record.atomic import committing

matplotlib.use("Agg", force=False)

PANEL_INCHES = (4.2, 3.5)
"""Width and height of one panel."""
MOST_COLUMNS = 3
"""Most panels in a row."""
TITLE_POINTS = 10
"""Size of the letters in a panel's title."""
NEAR_SHARE = 0.05
"""Labels of ticks nearer to each other than this share of a logarithmic axis would overlap."""

# Fixed colours, each with a contrast of at least 3:1 on white. Lines of two colours also differ in mark or line style.
BLUE, RED, BROWN, GREEN, PURPLE, GREY = "C0", "C3", "#b85c00", "#23801f", "C4", "0.4"
MEASURED, CONTROL_COLOUR = BLUE, RED
GUIDE = "0.5"
"""Colour of levels, thresholds and other lines that are no data."""
LIGHTEST_SHARE = 0.62
"""Part of the colour map plasma that is used: beyond it the contrast on white falls below 3:1."""

_TEXT: dict[Any, Any] = {"axes.labelsize": 10, "xtick.labelsize": 9, "ytick.labelsize": 9}
_FILES: dict[Any, Any] = {"svg.fonttype": "none", "svg.hashsalt": "simlab", "pdf.fonttype": 42}


def panels(count: int, columns: int = MOST_COLUMNS) -> tuple[Picture, list[Axes]]:
    """A figure of `count` equal panels in rows of at most three, laid out so that nothing overlaps.

    Rows are as equal as possible: four panels are two and two.

    columns: most panels in a row, at most three.
    """
    rows = -(-count // min(columns, MOST_COLUMNS))
    figure, axes = _grid(rows, -(-count // rows))
    for axis in axes[count:]:
        axis.remove()
    return figure, axes[:count]


def paired_panels(count: int) -> tuple[Picture, list[tuple[Axes, Axes]]]:
    """A figure of `count` pairs of panels, (upper, lower), in rows of at most three; a single one is (left, right)."""
    if count == 1:
        figure, (left, right) = panels(2)
        return figure, [(left, right)]
    blocks = -(-count // MOST_COLUMNS)
    across = -(-count // blocks)
    figure, axes = _grid(2 * blocks, across)
    places = [2 * across * (i // across) + i % across for i in range(count)]
    pairs = [(axes[place], axes[place + across]) for place in places]
    for axis in axes:
        if not any(axis in pair for pair in pairs):
            axis.remove()
    return figure, pairs


def _grid(rows: int, columns: int) -> tuple[Picture, list[Axes]]:
    with matplotlib.rc_context(_TEXT):
        figure = Picture(figsize=(PANEL_INCHES[0] * columns, PANEL_INCHES[1] * rows), layout="constrained")
        axes: list[Axes] = figure.subplots(rows, columns, squeeze=False).ravel().tolist()
    for axis in axes:
        axis.grid(True, which="major", alpha=0.25)
        axis.spines[["top", "right"]].set_visible(False)
    return figure, axes


def add_title(picture: Picture, title: str) -> Picture:
    """The same picture, with a title above all panels where it is not blank."""
    if title:
        picture.suptitle(title, fontsize=11)
    return picture


def file_format(path: Path) -> str:
    """The format that a file's suffix asks for; any but .png, .pdf and .svg is refused."""
    found = path.suffix.lower().removeprefix(".")
    if found not in FIGURE_FORMATS:
        said = f"the suffix {shown(path.suffix)}" if path.suffix else "no suffix"
        raise BadInput(f"{path}: a figure with {said} cannot be drawn; it must be .png, .pdf or .svg")
    return found


def save(picture: Picture, path: Path, about: Mapping[str, str] | None = None, dpi: int = 150) -> Path:
    """Draw into a PNG, PDF or SVG file, by its suffix, that appears whole or not at all.

    The same picture gives the same bytes: no date is written. Text stays text in SVG and PDF.

    about: key → value, for the text fields of a PNG.
    dpi: pixels per inch of a PNG.
    """
    kind = file_format(path)
    for axis in picture.axes:
        axis.title.set_fontsize(TITLE_POINTS)  # set_title takes the user's own setting
    undated: dict[str, dict[str, Any]] = {
        "png": dict(about or {}),
        "pdf": {"CreationDate": None},
        "svg": {"Date": None},
    }
    with matplotlib.rc_context(_FILES), committing(path) as temporary:
        picture.savefig(temporary, dpi=dpi, format=kind, metadata=undated[kind])
    return path


def colours(count: int) -> list[Any]:
    """`count` colours from dark to light, so that their order shows without colour vision; contrast on white ≥ 3:1."""
    map_ = matplotlib.colormaps["plasma"]
    return [map_(LIGHTEST_SHARE * i / max(1, count - 1)) for i in range(count)]


def tick_at(axis: Axes, values: Any) -> None:
    """Ticks of a logarithmic x axis at these values only, as plain numbers; a value too near to a tick has none."""
    values = sorted(set(np.asarray(values).tolist()))
    least = (values[-1] / values[0]) ** NEAR_SHARE if values[0] > 0 else 1.0
    ticks = values[:1]
    for value in values[1:]:
        ticks += [value] if value >= least * ticks[-1] else []
    axis.set_xticks(ticks, labels=[number(value, values) for value in ticks])
    axis.xaxis.set_minor_locator(NullLocator())
