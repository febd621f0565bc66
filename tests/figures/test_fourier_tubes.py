"""The picture of the proof is drawn for a sweep of networks, one row each, and refused where it is not recorded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from simlab import figures
from simlab.core.errors import BadInput
from simlab.lab.results import merged_outputs
from simlab.lab.run import run_spec
from simlab.lab.spec import resolve
from simlab.record.reader import Results
from tests.support.runs import small_tables


def test_a_row_a_point(tmp_path: Path) -> None:
    tables: dict[str, Any] = small_tables(**{"network.width": [2, 3], "seeds": 2}) | {
        "data": {"kind": "ball_fourier", "dim": 2},
        "target": {"kind": "ball"},
        "observables": [{"kind": "fourier_picture", "extent": 3.0, "pixels": 21, "grid": 512}],
    }
    tables["experiment"]["records"] = 2
    tables["network"] |= {"activation": "tanh", "bias": True}
    spec = resolve(tables)
    chosen = figures.choose({"kind": "fourier_tubes", "title": "A title"}, merged_outputs(spec))
    results = Results(run_spec(spec, tmp_path / "run").results)
    figure = chosen.draw(results)
    pictures = [axis for axis in figure.axes if axis.get_xlabel()]
    assert len(pictures) == 4
    assert [len(axis.lines) for axis in pictures] == [4, 4, 6, 6]  # two edges a tube
    assert figures.save(chosen, results, tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")


def test_without_the_observable_it_is_refused() -> None:
    with pytest.raises(BadInput, match="does not record fourier_net"):
        figures.choose({"kind": "fourier_tubes"}, merged_outputs(resolve(small_tables())))
