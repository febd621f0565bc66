"""What tests ask of any figure: contrast, words and rows, looked up in the figure itself."""

from __future__ import annotations

import re
from collections.abc import Iterator

from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text

DECIMALS = re.compile(r"\d\.\d{4,}")
NAMES = re.compile(r"\b(network|flow|kernel|data|experiment|target)\.[a-z]|[a-z]_[a-z]{2}")


def contrast(colour: object, alpha: float | None = 1.0) -> float:
    """Of a colour on white, as WCAG 2 defines it."""
    seen = [1 - (1.0 if alpha is None else alpha) * (1 - part) for part in to_rgb(colour)]  # type: ignore[arg-type]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in seen]
    return 1.05 / (0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] + 0.05)


def texts(figure: Figure) -> Iterator[Text]:
    for text in figure.findobj(Text):
        if isinstance(text, Text) and text.get_text().strip():
            yield text


def marks(line: Line2D) -> tuple[object, object]:
    return line.get_linestyle(), line.get_marker()


def labelled(axis: Axes) -> list[tuple[str, Line2D]]:
    """Lines and bars with an entry of their own in the legend."""
    handles, names = axis.get_legend_handles_labels()
    lines = [handle if isinstance(handle, Line2D) else getattr(handle, "lines", [None])[0] for handle in handles]
    return [(name, line) for name, line in zip(names, lines, strict=True) if isinstance(line, Line2D)]


def check_looks(figure: Figure) -> None:
    """Readable lines and words, numbers rounded, no name of the code, at most three panels in a row."""
    for axis in figure.axes:
        spec = axis.get_subplotspec()
        assert spec is None or spec.get_gridspec().ncols <= 3
        on_picture = bool(axis.images)
        for line in axis.lines:
            if not on_picture and len(line.get_xdata()):  # type: ignore[arg-type]
                assert contrast(line.get_color(), line.get_alpha()) >= 3, (line.get_label(), line.get_color())
        legend = axis.get_legend()
        for text in [] if legend is None else legend.get_texts():
            assert text.get_fontsize() >= 8, text.get_text()
    for text in texts(figure):
        outside = re.sub(r"\$[^$]*\$", "", text.get_text())
        assert contrast(text.get_color(), text.get_alpha()) >= 3, text.get_text()
        assert not DECIMALS.search(text.get_text()), text.get_text()
        assert not NAMES.search(outside), text.get_text()
        assert not re.search(r"[\^]", outside), f"mathematics outside of mathtext: {text.get_text()}"
