"""The house style of figures: one place for sizes, colours and labels."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from simlab.record.atomic import committing
from simlab.record.reader import Results

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
    axis.xaxis.set_minor_locator(NullLocator())


def readable(name: str) -> str:
    """``train_loss`` → ``train loss``"""
    return name.replace("_", " ")


def point_label(dims: Iterable[str], values: Iterable[object]) -> str:
    """``ntk, depth 3``: of a kind its name alone, of a whole table, ``{"kind": "ntk", "depth": 3}``, its values."""
    words = []
    for dim, value in zip(dims, values, strict=True):
        name = dim.rpartition(".")[2]
        if isinstance(value, str) and value.startswith("{"):
            words.append(" ".join(readable(str(v)) for v in json.loads(value).values() if not isinstance(v, bool)))
        else:
            words.append(str(value) if name == "kind" else f"{readable(name)} {value}")
    return ", ".join(words)


def setting(results: Results, table: str, key: str) -> Any:
    """What the spec of a run says under ``[table] key``; None where it says nothing, or the sweep changes it."""
    if f"{table}.{key}" in results:
        return None
    return tomllib.loads(str(results.attrs.get("spec", ""))).get(table, {}).get(key)
