"""Figures: drawn for any sweep, refused for names that are not there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simlab import figures
from simlab.core.errors import BadInput
from simlab.figures.looks import check_looks
from simlab.lab.results import merged_outputs
from simlab.lab.run import run_spec
from simlab.lab.spec import resolve
from simlab.record.reader import Results
from tests.support.runs import small_tables


@pytest.mark.parametrize(
    "sweep", [{}, {"seeds": 2}, {"network.scaling": ["ntk", "mean_field"], "flow.step": [0.1, 1e6]}]
)
def test_trajectories_of_any_sweep(tmp_path: Path, sweep: dict[str, Any]) -> None:
    spec = resolve(small_tables(**sweep))
    table = {"kind": "trajectories", "y": ["train_loss", "weight_movement"], "log_x": True, "title": "A title"}
    table |= {"beside": ["test_loss", ""]} if sweep else {}
    chosen = figures.choose(table, merged_outputs(spec))
    results = Results(run_spec(spec, tmp_path / "run").results)
    path = figures.save(chosen, results, tmp_path / "figure.png")
    assert path.read_bytes().startswith(b"\x89PNG")
    figure = chosen.draw(results)
    check_looks(figure)
    lines = [line for line in figure.axes[1].lines if len(line.get_xdata())]  # type: ignore[arg-type]
    points = len(sweep.get("network.scaling", [0])) * len(sweep.get("flow.step", [0]))
    assert len(lines) == points, "one line per point, its mean over seeds"
    assert bool(figure.axes[1].collections) is ("seeds" in sweep)
    each = figures.choose(table | {"seeds": "lines"}, merged_outputs(spec))
    drawn = each.draw(results).axes[1]
    assert len([line for line in drawn.lines if len(line.get_xdata())]) == points * sweep.get("seeds", 1)


@pytest.mark.parametrize(
    "sweep", [{}, {"kernel.depth": [2, 3]}, {"kernel.activation": ["relu", "step"], "kernel.depth": [2, 3]}]
)
def test_eigenvalues_of_any_sweep(tmp_path: Path, sweep: dict[str, Any]) -> None:
    tables: dict[str, Any] = {
        "experiment": {"kind": "spectrum", "dim": 4, "max_degree": 20, "seed": 1},
        "kernel": {"kind": "nngp", "depth": 2},
    }
    if "kernel.depth" in sweep:
        del tables["kernel"]["depth"]
    spec = resolve(tables | ({"sweep": sweep} if sweep else {}))
    chosen = figures.choose({"kind": "eigenvalues", "title": "A title"}, merged_outputs(spec))
    results = Results(run_spec(spec, tmp_path / "run").results)
    figure = chosen.draw(results)
    assert len(figure.axes) == 2 * len(sweep.get("kernel.activation", [0]))
    compensated = [axis for axis in figure.axes if axis.get_ylabel().startswith("compensated")]
    assert len(compensated) == len(figure.axes) // 2
    if not sweep:
        # Of nngp(2) on S^3 the law is k^{−d−2}: μ_k k^6 of even degrees tends to a constant, μ_k itself does not.
        flat = np.asarray(compensated[0].lines[0].get_ydata())[-4:]
        assert np.ptp(flat) < 0.05 < np.ptp(np.asarray(figure.axes[0].lines[0].get_ydata())[-4:])
        assert compensated[0].get_ylabel() == r"compensated $\mu_k\, k^{d+2}$"
    check_looks(figure)
    drawn = [line.get_xdata() for line in figure.axes[0].lines if line.get_linestyle() == "None"]
    # Depth 2 has no odd degree above 1, and exact zeros are not drawn.
    assert max(drawn[1].tolist()) == 1
    assert figures.save(chosen, results, tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ({"kind": "trajectories", "y": ["step_size"]}, "'step_size' is not a trajectory"),
        ({"kind": "trajectories", "y": ["step"], "beside": ["alpha_limit"]}, "'alpha_limit' is not a trajectory"),
        ({"kind": "trajectories", "y": ["step"], "beside": ["step", ""]}, r"beside = .* must have 1 names as y has"),
        ({"kind": "trajectories", "y": []}, r"figure\.y = \[\]"),
        ({"kind": "trajectories", "y": ["train_loss"], "x": "epoch"}, r"figure\.x = 'epoch'"),
        ({"y": ["train_loss"]}, r"figure\.kind: missing"),
        ({"kind": "eigenvalues"}, "does not record log10_eigenvalue"),
    ],
)
def test_bad_figures_are_named(table: dict[str, Any], says: str) -> None:
    with pytest.raises(BadInput, match=says):
        figures.choose(table, merged_outputs(resolve(small_tables())))


@pytest.mark.parametrize("sweep", [{}, {"network.scaling": ["ntk", "mean_field"], "seeds": 2}])
@pytest.mark.parametrize("limit", [True, False])
def test_decay_by_degree_of_any_sweep(tmp_path: Path, sweep: dict[str, Any], limit: bool) -> None:
    """A target of degree 2 alone: one line, the mean over seeds, and one more where the spectrum is known."""
    tables = small_tables(**sweep) | {
        "target": {"kind": "gegenbauer", "degrees": [2]},
        "observables": [{"kind": "residual_power", "max_degree": 3, "limit": limit}],
    }
    tables["experiment"]["test_samples"] = 400
    tables["network"] |= {"doubled": True}
    spec = resolve(tables)
    chosen = figures.choose({"kind": "degree_decay", "title": "A title"}, merged_outputs(spec))
    results = Results(run_spec(spec, tmp_path / "run").results)
    figure = chosen.draw(results)
    assert len(figure.axes) == len(sweep.get("network.scaling", [0]))
    for axis in figure.axes:
        lines = [line for line in axis.lines if len(line.get_xdata())]
        assert [line.get_linestyle() for line in lines] == ["-"] + ["--"] * limit
        assert bool(axis.collections) is (sweep.get("seeds", 1) > 1), "a band over seeds"
        assert lines[0].get_label() == "degree 2"
    with pytest.raises(BadInput, match="degree_decay needs 'residual_power'"):
        figures.choose({"kind": "degree_decay"}, merged_outputs(resolve(small_tables())))
