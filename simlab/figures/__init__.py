"""figures: results → matplotlib figure.

A kind defines `Params`, ``check(params, outputs)`` (refuses names that the run does not record) and
``draw(params, results) -> Figure``. Figures are drawn from results.h5 alone, without a display.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from simlab.core.params import Params, Room, module_of, parse
from simlab.record.reader import Results
from simlab.record.schema import Output


def choose(table: Mapping[str, Any], outputs: Mapping[str, Output]) -> Params:
    """The figure that a spec's [figure] table asks for, validated against what the run records."""
    from typing import Annotated

    from pydantic import create_model

    model = create_model("Choice", __base__=Params, figure=(Annotated[Params, Room("figures")], ...))
    chosen: Params = parse(model, {"figure": dict(table)}).figure  # type: ignore[attr-defined]
    module_of(chosen).check(chosen, outputs)
    return chosen


def save(params: Params, results: Results, path: Path) -> Path:
    """Draw into a PNG file."""
    figure = module_of(params).draw(params, results)
    figure.savefig(path, dpi=150)
    return path
