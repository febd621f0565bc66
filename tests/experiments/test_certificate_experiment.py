"""The experiment that computes certificates: what it records, and what it refuses in one line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simlab import figures
from simlab.core.errors import BadInput
from simlab.lab.results import merged_outputs
from simlab.lab.run import run_spec
from simlab.lab.spec import resolve
from simlab.record.reader import Results
from simlab.sphere.ball_law import BallLaw
from simlab.targets.radial_function import Radial
from simlab.theory.certificate import Spectrum

TABLES: dict[str, Any] = {
    "experiment": {"kind": "certificate", "widths": [1, 10, 100], "eps": [0.1, 0.02], "ratios": [1.0, 2.0], "seed": 1},
    "data": {"kind": "ball_fourier", "mass": 0.5},
    "target": {"kind": "ball", "radius": 1.0},
    "reference": {"kind": "radial_relu"},
    "sweep": {"data.dim": [3, 6, 9]},
}


def test_records_are_those_of_the_theory_and_are_drawn(tmp_path: Path) -> None:
    spec = resolve(TABLES)
    chosen = figures.choose({"kind": "certificates", "title": "A title"}, merged_outputs(spec))
    results = Results(run_spec(spec, tmp_path / "run").results)
    for i, dim in enumerate((3, 6, 9)):
        spectrum = Spectrum(Radial(lambda r: (r < 1.0) * 1.0, (1.0,)), BallLaw.of_mass(dim, 0.5))
        assert results["bound"][i] == pytest.approx([spectrum.certificate(m).bound for m in (1, 10, 100)], rel=1e-12)
        assert results["log10_width"][i] == pytest.approx([spectrum.least_width(e).log10 for e in (0.1, 0.02)])
        assert results["beyond"][i, 1] == pytest.approx(spectrum.beyond(2.0) / 0.5, rel=1e-9)
    assert results["energy"] == pytest.approx(np.full(3, 0.5), abs=1e-10)
    assert np.all(results["bound_error"] < 1e-7)
    assert np.all(np.diff(results["log10_share"][:, 1]) < -0.5)
    figure = chosen.draw(results)
    left, right = figure.axes
    assert len(left.lines) == 6  # both targets in three dimensions
    assert len(right.lines) == 4  # and for two errors
    assert figures.save(chosen, results, tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"experiment": {"widths": [0, 4]}}, r"experiment\.widths = \[0, 4\]: must be 1 or more"),
        ({"experiment": {"eps": [-0.1]}}, r"experiment\.eps = \[-0\.1\]: must be more than 0"),
        ({"experiment": {"eps": [0.0]}}, "no finite width has an error of 0"),
        ({"experiment": {"ratios": [1e9]}}, r"experiment\.ratios = .*: must be from 0 to 64"),
        ({"data": {"kind": "ball_fourier", "dim": 1}}, r"data\.dim = 1: must be at least 2"),
        ({"data": {"kind": "ball_fourier", "dim": 3, "mass": 1.0}}, r"data\.mass = 1\.0"),
        ({"data": {"kind": "uniform_sphere", "dim": 3}}, "data.kind = 'uniform_sphere': its transform has no tubes"),
        ({"target": {"kind": "axis_relu"}}, "target.kind = 'axis_relu': not a function of ‖x‖ alone"),
        ({"reference": {"kind": "axis_relu"}}, "reference.kind = 'axis_relu': not a function"),
        ({"target": {"kind": "ball", "radius": 1e9}}, "changes out to the radius 1e"),
    ],
)
def test_refused(change: dict[str, Any], says: str) -> None:
    tables = {name: table for name, table in TABLES.items() if name != "sweep"} | {
        "data": {"kind": "ball_fourier", "dim": 3}
    }
    changed = {name: {**tables[name], **table} if name == "experiment" else table for name, table in change.items()}
    with pytest.raises(BadInput, match=says) as caught:
        resolve(tables | changed)
    assert "\n" not in str(caught.value)
