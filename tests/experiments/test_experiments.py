"""Every experiment keeps the contract of a point: declared outputs, resumable state, no dependence on the clock."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

from simlab.core import catalogue
from simlab.core.errors import BadInput
from simlab.lab.spec import Spec, resolve
from simlab.record.schema import RESERVED
from tests.support.points import compute
from tests.support.runs import small_tables
from tests.support.stored import write_images

KINDS = catalogue.all_examples("experiments")


@pytest.fixture(autouse=True)
def _data(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """A few images for the experiments on real data."""
    home = tmp_path_factory.mktemp("data")
    write_images(home / "mnist", train=60, test=20)
    monkeypatch.setenv("SIMLAB_DATA", str(home))


def example(tables: dict[str, Any]) -> Spec:
    return resolve(tables | {"experiment": {**tables["experiment"], "seed": 3}})


@pytest.mark.parametrize(("kind", "tables"), KINDS)
def test_records_what_it_declares(kind: str, tables: dict[str, Any]) -> None:
    spec = example(tables)
    columns, outputs = compute(spec), spec.at(0).outputs()
    assert set(columns) == set(outputs)
    assert not set(RESERVED) & set(outputs)
    trajectories = {name for name, output in outputs.items() if output.is_trajectory}
    assert not trajectories or {"step", "time"} <= trajectories
    assert len({len(columns[name]) for name in trajectories}) <= 1
    for output in outputs.values():
        assert output.description
    flops, nbytes = spec.at(0).cost()
    assert flops > 0
    assert nbytes > 0


@pytest.mark.parametrize(("kind", "tables"), KINDS)
def test_state_through_a_file_and_a_fast_clock_change_no_bit(
    kind: str, tables: dict[str, Any], tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every call of `advance` is cut short, the state saved and loaded, the work prepared again: same bits."""
    whole = compute(example(tables))
    ticks = iter(range(0, 10**9, 1))
    monkeypatch.setattr(time, "monotonic", lambda: float(next(ticks)))
    pieces = compute(example(tables), tmp_path)
    outputs = example(tables).at(0).outputs()
    # One without a trajectory may do its work in one go.
    assert len(list(tmp_path.iterdir())) > (5 if any(output.is_trajectory for output in outputs.values()) else 0)
    assert {n: v.tobytes() for n, v in whole.items()} == {n: v.tobytes() for n, v in pieces.items()}


def test_gradient_flow_starts_at_the_initial_loss_and_learns() -> None:
    tables = small_tables()
    tables["flow"] |= {"steps": 3000, "step": 0.5, "step_unit": "edge"}
    tables["network"]["width"] = 300
    spec = resolve(tables)
    columns = compute(spec)
    work = spec.at(0).prepare(spec.sweep.streams(spec.seed, 0))
    f = spec.at(0).network.forward(work.theta0, work.X)
    assert columns["train_loss"][0] == pytest.approx(np.mean((f - work.y) ** 2) / 2, rel=1e-14)
    assert columns["train_loss"][-1] < 1e-6 * columns["train_loss"][0]
    assert columns["weight_movement"][0] == 0
    assert columns["time"][-1] == pytest.approx(3000 * columns["step_size"][0])


def test_gradient_flow_of_a_network_without_a_gradient_is_refused() -> None:
    says = r"^network\.kind = 'fourier_features': it has no gradient .*\(allowed: linearised, mlp, .*two_layer\)$"
    with pytest.raises(BadInput, match=says):
        resolve(small_tables() | {"network": {"kind": "fourier_features", "width": 5}})


def test_large_alpha_is_lazy() -> None:
    """R(αf)/α²: the prediction moves alike, the weights by 1/α (MATH §6)."""
    moved = []
    for alpha in (10.0, 100.0, 1000.0):
        tables = small_tables()
        tables["flow"] |= {"alpha": alpha, "steps": 200}
        tables["network"]["width"] = 200
        columns = compute(resolve(tables))
        moved.append(columns["weight_movement"][-1])
    # The initial output α f₀ grows with α, so the movement tends to a constant; relative to α f₀ − y it is 1/α.
    assert moved[1] == pytest.approx(moved[2], rel=0.05)
