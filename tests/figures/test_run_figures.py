"""The figure of every run in runs/, drawn from made-up results, is readable."""

from __future__ import annotations

from pathlib import Path

import pytest
from matplotlib.mathtext import MathTextParser

from simlab import figures
from simlab.figures.looks import check_looks, texts
from simlab.figures.synthetic import SyntheticResults
from simlab.lab.results import merged_outputs
from simlab.lab.spec import load

RUNS = [
    path
    for path in sorted((Path(__file__).parents[2] / "runs").glob("*.toml"))
    if "[figure]" in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("path", RUNS, ids=lambda path: path.stem)
def test_the_figure_of_every_run(path: Path) -> None:
    spec = load(path)
    assert spec.figure is not None
    chosen = figures.choose(spec.figure, merged_outputs(spec))
    figure = chosen.draw(SyntheticResults(spec))
    check_looks(figure)
    for text in texts(figure):
        MathTextParser("path").parse(text.get_text())  # type: ignore[arg-type]
