"""A point's experiment is validated once per process, and validating neither draws nor computes."""

from __future__ import annotations

import io
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.stats  # noqa: F401  draws while it is imported

from simlab.core import catalogue
from simlab.core.kinds import Kind
from simlab.lab import bundled, needs
from simlab.lab.directory import RunDirectory
from simlab.lab.options import RunOptions
from simlab.lab.pace import Pace
from simlab.lab.run import run_spec
from simlab.lab.spec import load, resolve
from simlab.lab.worker import Worker
from tests.support.runs import small_tables

AXES: dict[str, Any] = {"network.width": [5, 6], "seeds": 3}


@pytest.fixture
def validated(monkeypatch: pytest.MonkeyPatch) -> Counter[int]:
    """Width of the network → how often an experiment with it was validated."""
    found: Counter[int] = Counter()
    experiment = catalogue.get("experiments", "gradient_flow")
    real = experiment.model_validate

    def counting(values: dict[str, Any]) -> Kind:
        found[values["network"].width] += 1
        kind: Kind = real(values)
        return kind

    monkeypatch.setattr(experiment, "model_validate", counting)
    return found


def test_a_worker_validates_each_combination_of_axes_once(tmp_path: Path, validated: Counter[int]) -> None:
    spec = resolve(small_tables(**AXES))
    run = RunDirectory(tmp_path)
    run.begin(spec, overwrite=False)
    validated.clear()
    reports = io.StringIO()
    worker = Worker(run.path, 30.0, reports)
    for point in range(spec.sweep.points):
        worker._compute(point, False, 0)
    worker._collate()
    assert validated == {5: 1, 6: 1}
    messages = [json.loads(line) for line in reports.getvalue().splitlines()]
    assert {"collated": True} in messages
    assert sorted(point for message in messages for point in message.get("committed", ())) == list(range(6))


def test_the_parent_validates_a_point_without_axes_once(tmp_path: Path, validated: Counter[int]) -> None:
    tables = small_tables(seeds=2)
    for _ in range(2):  # fresh, and with the run already there
        validated.clear()
        run_spec(tables, tmp_path / "run", RunOptions(workers=1))
        assert validated == {tables["network"]["width"]: 1}


def test_what_is_asked_of_a_spec_later_validates_nothing(validated: Counter[int]) -> None:
    spec = resolve(small_tables(**AXES))
    validated.clear()
    needs.check(spec)
    Pace(spec, range(spec.sweep.points))
    assert [spec.at(point).network.width for point in range(6)] == [5, 5, 5, 6, 6, 6]
    assert not validated


@pytest.mark.parametrize("name", bundled.names())
def test_validating_draws_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: Any, **options: Any) -> Any:
        raise AssertionError("validating draws or computes")

    monkeypatch.setattr(np.random, "Generator", refuse)
    monkeypatch.setattr(np.random, "default_rng", refuse)
    for room, methods in {"targets": ["draw"], "experiments": ["prepare", "start", "measure"]}.items():
        for cls in catalogue.loaded(room).values():
            for method in methods:
                monkeypatch.setattr(cls, method, refuse, raising=False)
    load(bundled.get(name).path, seed=0)
