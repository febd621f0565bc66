"""figures: one file per way to draw the results of a run, each a class of contract `Figure`.

>>> from simlab.record.reader import Results
>>> figure = figures.get("trajectories", y=["train_loss"])
>>> figures.save(figure, Results("out/lazy"), Path("loss.pdf"))

Figures are drawn from results.h5 alone, without a display. What is fitted in them comes from `simlab.statistics`.
Besides the kinds there are files that figures and claims share:

- style: panels, colours, files
- words: names and numbers as readers see them
- seeds: mean and band over seeds
- powers: power laws on log axes
- curves: learning curves and staircases
- spectra: profiles and eigenvalues of kernels
- looks: what makes every picture readable
- synthetic: made-up results, to draw a figure without a run
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simlab.core import catalogue, parsing
from simlab.figures import style
from simlab.figures.checking import check
from simlab.figures.figure import Figure
from simlab.record.reader import Results
from simlab.record.schema import Output

__all__ = ["Figure", "check", "choose", "get", "save"]


def get(name: str, **fields: Any) -> Figure:
    """The figure of this name, such as ``get("scaling", x="network.width", y=["rms_error"])``."""
    found: Figure = catalogue.get("figures", name)(**fields)
    return found


def choose(table: Mapping[str, Any], outputs: Mapping[str, Output]) -> Figure:
    """The figure that a spec's [figure] table asks for, validated against what the run records."""
    chosen: Figure = parsing.choose("figures", table, "figure")
    chosen.check(outputs)
    return chosen


def save(figure: Figure, results: Results, path: Path) -> Path:
    """Draw into a PNG, PDF or SVG file, by its suffix."""
    return style.save(figure.draw(results), path)


if not TYPE_CHECKING:  # mypy reads the files themselves
    __getattr__, __dir__ = catalogue.attributes(__name__)
