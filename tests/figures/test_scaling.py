"""The figure of power laws: of a sweep of whole tables, and of trajectories."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from simlab import figures
from simlab.core.errors import BadInput
from simlab.figures.looks import check_looks
from simlab.lab.results import merged_outputs
from simlab.lab.run import run_spec
from simlab.lab.spec import resolve
from simlab.record.reader import Results
from simlab.record.schema import RECORD, Output
from simlab.statistics import fit_power
from tests.support.stand_in_results import StandInResults


def test_scaling_of_a_sweep_of_whole_tables(tmp_path: Path) -> None:
    spec = resolve(
        {
            "experiment": {"kind": "random_features_error", "seed": 1, "points": 4},
            "data": {"kind": "uniform_sphere", "dim": 2},
            "sweep": {
                "network.width": [8, 16, 32],
                "network": [{"kind": "fourier_features", "kernel": kernel} for kernel in ("gaussian", "cauchy")],
                "seeds": 4,
            },
        }
    )
    table = {"kind": "scaling", "x": "network.width", "y": ["sup_error", "rms_error"], "reference": -0.5, "title": "T"}
    chosen = figures.choose(table, merged_outputs(spec))
    results = Results(run_spec(spec, tmp_path / "run").results)
    figure = chosen.draw(results)
    assert len(figure.axes) == 2
    texts = [text.get_text() for text in figure.axes[1].get_legend().get_texts()]
    power = fit_power([8, 16, 32], results["rms_error"][:, 1])
    assert power is not None
    fitted = rf"${power.exponent:.2f} \pm {(power.high - power.low) / 2:.2f}$"
    assert sorted(texts) == sorted(
        [
            "band: range of 4 seeds",
            next(text for text in texts if "gaussian" in text),
            f"fourier features cauchy: {fitted}",
            "exponent $-0.5$",
        ]
    )
    check_looks(figure)
    assert figure.axes[0].get_xlabel() == "width $m$"
    assert figures.save(chosen, results, tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")
    elsewhere = figures.choose({**table, "x": "network.depth"}, merged_outputs(spec))
    with pytest.raises(BadInput, match=r"figure\.x = 'network.depth': no axis of this sweep"):
        elsewhere.draw(results)
    with pytest.raises(BadInput, match="'errors' is no number or trajectory"):
        figures.choose({**table, "y": ["errors"]}, merged_outputs(spec))


def test_scaling_of_trajectories() -> None:
    """Lengths 3, 2 and 0, a point that failed, padded with NaN."""
    loss = np.array([[4.0, 9.0, 1.0], [5.0, 2.0, np.nan], [np.nan] * 3])
    results = StandInResults({"width": [1.0, 2.0, 4.0]}, {"loss": loss, "length": [3, 2, 0]})
    for of, values in (("end", [1.0, 2.0, np.nan]), ("largest", [9.0, 5.0, np.nan])):
        figure = figures.get("scaling", x="width", y=["loss"], of=of, fit=False)
        figure.check({"loss": Output("a loss", (RECORD,))})
        (axis,) = figure.draw(results).axes
        (line,) = axis.lines
        np.testing.assert_array_equal(np.asarray(line.get_ydata()), values)
        assert axis.get_legend() is None, "one line without a fit needs none"
