"""The house style of figures: one place for sizes, colours and labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from simlab.record.atomic import committing

matplotlib.use("Agg", force=False)

PANEL = (4.6, 3.6)


def panels(columns: int, rows: int = 1) -> tuple[Figure, list[Axes]]:
    """A figure of equal panels, laid out so that nothing overlaps."""
    figure = Figure(figsize=(PANEL[0] * columns, PANEL[1] * rows), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False).ravel().tolist()
    for axis in axes:
        axis.grid(True, which="major", alpha=0.25)
        axis.spines[["top", "right"]].set_visible(False)
    return figure, axes


def save(figure: Figure, path: Path) -> Path:
    """Draw into a PNG file that appears whole or not at all."""
    with committing(path) as temporary:
        figure.savefig(temporary, dpi=150, format="png")
    return path


def colours(count: int) -> list[Any]:
    """`count` colours from dark to light, readable without colour vision."""
    map_ = matplotlib.colormaps["viridis"]
    return [map_(0.85 * i / max(1, count - 1)) for i in range(count)]


def tick_at(axis: Axes, values: Any) -> None:
    """Ticks of a logarithmic x axis at these values alone, as plain numbers."""
    axis.set_xticks(values, labels=[f"{value:g}" for value in values])
    axis.minorticks_off()


def readable(name: str) -> str:
    """``train_loss`` → ``train loss``"""
    return name.replace("_", " ")
