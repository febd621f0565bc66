"""Whether a picture is readable: contrast, words and number of panels, read from matplotlib's own objects."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure as Picture
from matplotlib.lines import Line2D
from matplotlib.mathtext import MathTextParser
from matplotlib.text import Text
from matplotlib.typing import ColorType

from simlab.core.checking import ensure

LONG_DECIMALS = re.compile(r"\d\.\d{4,}")
CODE_NAMES = re.compile(r"\b(network|flow|kernel|data|experiment|target)\.[a-z]|[a-z]_[a-z]{2}")
LEAST_CONTRAST = 3.0
"""Least contrast on white, as `contrast` gives it: WCAG 2 asks for 3 in graphics."""
LEAST_POINTS = 8
"""Least size of the letters in a legend."""
MOST_COLUMNS = 3
"""Most panels in a row."""


def contrast(colour: ColorType, alpha: float | None = 1.0) -> float:
    """Contrast of a colour on white, a ratio of luminances as WCAG 2 defines it: 1 (white) to 21 (black)."""
    seen = [1 - (1.0 if alpha is None else alpha) * (1 - part) for part in to_rgb(colour)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in seen]
    return 1.05 / (0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] + 0.05)


def texts(picture: Picture) -> Iterator[Text]:
    """Every text of a picture that is not blank."""
    for text in picture.findobj(Text):
        if isinstance(text, Text) and text.get_text().strip():
            yield text


def marks(line: Line2D) -> tuple[object, object]:
    """Line style and marker: what tells lines apart without colour."""
    return line.get_linestyle(), line.get_marker()


def labelled(axis: Axes) -> list[tuple[str, Line2D]]:
    """(label, line) of the lines and error bars that have an entry of their own in the legend."""
    handles, names = axis.get_legend_handles_labels()
    lines = [
        handle[0] if isinstance(handle, tuple) else handle for handle in handles
    ]  # a group of error bars: its line comes first
    return [(name, line) for name, line in zip(names, lines, strict=True) if isinstance(line, Line2D)]


def check_looks(picture: Picture) -> None:
    """Raise AssertionError, with one line that says what is wrong, unless a picture is readable.

    Lines and words have enough contrast; numbers are rounded; no name of the code is shown; mathematics is set in
    mathtext; at most three panels are in a row.
    """
    for axis in picture.axes:
        place = axis.get_subplotspec()
        ensure(place is None or place.get_gridspec().ncols <= MOST_COLUMNS, "more than three panels in a row")
        on_picture = bool(axis.images)
        for line in axis.lines:
            if not on_picture and np.size(line.get_xdata()):
                clear = contrast(line.get_color(), line.get_alpha()) >= LEAST_CONTRAST
                ensure(clear, f"line {line.get_label()!r}: colour {line.get_color()} has too little contrast on white")
        legend = axis.get_legend()
        for text in [] if legend is None else legend.get_texts():
            ensure(float(text.get_fontsize()) >= LEAST_POINTS, f"legend entry {text.get_text()!r} is too small")
    for text in texts(picture):
        words = text.get_text()
        outside = re.sub(r"\$[^$]*\$", "", words)
        ensure(contrast(text.get_color(), text.get_alpha()) >= LEAST_CONTRAST, f"{words!r}: too little contrast")
        ensure(not LONG_DECIMALS.search(words), f"{words!r}: a number of more than three decimals")
        ensure(not CODE_NAMES.search(outside), f"{words!r}: a name of the code, not of the field")
        ensure("^" not in outside, f"{words!r}: mathematics outside of mathtext")
        try:
            for part in words.splitlines():
                MathTextParser("path").parse(part)
        except ValueError as error:
            raise AssertionError(f"{words!r}: not mathtext ({error})") from None
