"""The plan of a dry run: its JSON is that of `json.dumps`, and is written without holding all points."""

from __future__ import annotations

import json
from typing import Any

import pytest

from simlab.cli import _plan
from simlab.core import catalogue
from simlab.lab.estimate import Estimate
from simlab.lab.spec import resolve

SWEEPS: list[dict[str, Any]] = [
    {},
    {"seeds": 3},
    {"network.width": [5, 6, 7], "seeds": 2},
    {"network.activation": ["relu", {"kind": "leaky_relu", "slope": 0.1}], "flow.alpha": [1.0, 2.5]},
    {"flow.alpha": [1.0, 2.0], "network.width": [5, 6], "flow.step": [0.1, 0.2], "zip": [["flow.alpha", "flow.step"]]},
    {"experiment.at": [[1.0, 2.0], [3.0]], "experiment.spacing": ["listed"]},
]


@pytest.mark.parametrize("sweep", SWEEPS)
@pytest.mark.parametrize("at_a_time", [1, 2, 10_000])
def test_json_is_that_of_dumps(
    sweep: dict[str, Any], at_a_time: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tables = catalogue.examples("experiments", "gradient_flow")[0]
    spec = resolve({**tables, **({"sweep": sweep} if sweep else {})}, seed=5)
    guess = Estimate(1.5, 80.0, 1e3, 10**9)
    monkeypatch.setattr(_plan, "estimate", lambda spec, workers: guess)
    monkeypatch.setattr(_plan, "WRITTEN_POINTS", at_a_time)
    _plan.print_plan(spec, 2, as_json=True)
    found = capsys.readouterr().out
    points = [
        {"point": p, "seed_index": spec.sweep.seed_index(p), "values": spec.sweep.values(p)}
        for p in range(spec.sweep.points)
    ]
    wanted = {
        "seed": 5, "workers": 2, "seconds": 1.5, "bytes": 80.0, "memory": 1e3, "memory_free": 10**9, "points": points,
    }  # fmt: skip
    assert found == json.dumps(wanted, indent=1, ensure_ascii=False) + "\n"


def test_points_are_made_as_they_are_written(monkeypatch: pytest.MonkeyPatch) -> None:
    tables = catalogue.examples("experiments", "gradient_flow")[0]
    spec = resolve({**tables, "sweep": {"network.width": {"range": [1, 100_001]}, "seeds": 50}})
    texts = _plan._points(spec.sweep, False)
    assert json.loads(next(texts)) == {"point": 0, "seed_index": 0, "values": {"network.width": 1}}
    assert json.loads(next(texts))["seed_index"] == 1
