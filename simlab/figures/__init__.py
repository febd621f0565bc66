"""figures: results → matplotlib figure.

A kind defines `Params`, ``check(params, outputs)`` (refuses names that the run does not record) and
``draw(params, results) -> Figure``. Figures are drawn from results.h5 alone, without a display.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simlab.core import lookup, params
from simlab.core.params import Params, module_of
from simlab.figures import style
from simlab.record.reader import Results
from simlab.record.schema import Output


def choose(table: Mapping[str, Any], outputs: Mapping[str, Output]) -> Params:
    """The figure that a spec's [figure] table asks for, validated against what the run records."""
    chosen: Params = params.choose("figures", table, "figure")
    module_of(chosen).check(chosen, outputs)
    return chosen


def save(chosen: Params, results: Results, path: Path) -> Path:
    """Draw into a PNG, PDF or SVG file, by its suffix."""
    return style.save(module_of(chosen).draw(chosen, results), path)


if not TYPE_CHECKING:  # mypy reads the files themselves
    __getattr__, __dir__ = lookup.attributes(__name__)
