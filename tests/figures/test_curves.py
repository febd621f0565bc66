"""Learning curves and staircases are drawn for any sweep of their sizes, and refused without one."""

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


def curve(**sweep: Any) -> dict[str, Any]:
    return {
        "experiment": {"kind": "learning_curve", "seed": 1, "samples": 5, "test_samples": 50, "theory_degree": 6},
        "data": {"kind": "uniform_sphere", "dim": 3},
        "target": {"kind": "gegenbauer"},
        "kernel": {"kind": "laplace", "c": 1.0},
        "sweep": sweep,
    }


def stairs(**sweep: Any) -> dict[str, Any]:
    experiment = {"kind": "staircase", "seed": 1, "learner": "rf", "dim": 4, "size": 3, "max_degree": 4, "targets": 2}
    return {"experiment": experiment, "activation": "exp", "sweep": sweep}


SIZES = {"experiment.samples": [5, 10]}
STEPS = {"experiment.size": [3, 6]}


@pytest.mark.parametrize(
    ("tables", "kind", "count"),
    [
        (curve(**SIZES), "learning_curves", 1),
        (curve(**{"data.dim": [3, 4], "kernel.c": [1.0, 2.0], **SIZES, "seeds": 2}), "learning_curves", 2),
        (stairs(**STEPS), "staircases", 1),
        (stairs(**{"experiment.dim": [4, 5], **STEPS, "seeds": 2}), "staircases", 2),
        (
            stairs(**{"experiment.dim": [4, 5], **STEPS, "zip": [["experiment.dim", "experiment.size"]]}),
            "staircases",
            1,
        ),
    ],
)
def test_drawn_for_any_sweep(tmp_path: Path, tables: dict[str, Any], kind: str, count: int) -> None:
    spec = resolve(tables)
    chosen = figures.choose({"kind": kind, "title": "A title"}, merged_outputs(spec))
    results = Results(run_spec(spec, tmp_path / "run").results)
    figure = chosen.draw(results)
    assert len(figure.axes) == count
    assert all(axis.get_xlabel() and axis.get_ylabel() and axis.lines for axis in figure.axes)
    assert figures.save(chosen, results, tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(("make", "kind"), [(curve, "learning_curves"), (stairs, "staircases")])
def test_without_sizes_there_is_nothing_to_draw(tmp_path: Path, make: Any, kind: str) -> None:
    spec = resolve(make(seeds=2))
    chosen = figures.choose({"kind": kind}, merged_outputs(spec))
    with pytest.raises(BadInput, match="which this run does not sweep"):
        chosen.draw(Results(run_spec(spec, tmp_path / "run").results))


def test_of_another_experiment_they_are_refused() -> None:
    outputs = merged_outputs(resolve(stairs(seeds=2)))
    with pytest.raises(BadInput, match="does not record test_error"):
        figures.choose({"kind": "learning_curves"}, outputs)
    with pytest.raises(BadInput, match="does not record unlearned"):
        figures.choose({"kind": "staircases"}, merged_outputs(resolve(curve(seeds=2))))
