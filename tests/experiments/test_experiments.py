"""Every experiment keeps the contract of a point: declared outputs, resumable state, no dependence on the clock."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from pydantic import Field

from simlab import experiments
from simlab.core import catalogue
from simlab.core.errors import BadInput
from simlab.core.rng import Streams
from simlab.core.state import State
from simlab.experiments import Experiment
from simlab.lab.spec import resolve
from simlab.record.schema import Output
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


@pytest.mark.parametrize(("kind", "tables"), KINDS)
def test_every_experiment_keeps_the_contract(kind: str, tables: dict[str, Any]) -> None:
    experiment = resolve(tables).at(0)
    experiments.check(experiment)
    assert experiment.cost() is not None


@pytest.mark.parametrize(("kind", "tables"), KINDS)
def test_validation_draws_no_target(kind: str, tables: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    def drawn(*_: Any) -> Any:
        raise AssertionError("a target was drawn")

    for cls in catalogue.loaded("targets").values():
        monkeypatch.setattr(cls, "draw", drawn)
    resolve(tables).at(0).outputs()


@dataclass
class Place(State):
    row: int = 0


class Counting(Experiment):
    """Counts to three, or not quite, as `fault` says."""

    fault: str = Field("", description="what is wrong")

    def outputs(self) -> dict[str, Output]:
        found = {name: Output("a count", ("record",), dtype="int64") for name in ("step", "time", "count")}
        if self.fault == "no coordinates":
            del found["time"]
        if self.fault == "reserved":
            found["status"] = Output("a count", ("record",))
        words = "" if self.fault == "no description" else "three"
        return found | {"last": Output(words, dtype="int64"), "each": Output("twice", ("digit",), dtype="int64")}

    def prepare(self, streams: Streams) -> Place:
        return Place()

    def start(self, work: Any, streams: Streams) -> Place:
        return Place()

    def restore(self, arrays: Any) -> Place:
        return Place.of(arrays)

    def advance(self, work: Place, state: Place) -> dict[str, Any]:
        rows: dict[str, Any] = {name: [] for name in self.outputs() if name in ("step", "time", "count")}
        while not self.finished(state):
            for values in rows.values():
                values.append(state.row if self.fault != "work" else state.row + work.row)
            state.row, work.row = state.row + 1, work.row + 1
            if self.fault != "no return":
                break
        if self.fault == "rows":
            rows["count"].append(1)
        if self.fault == "undeclared":
            rows["more"] = [1]
        once = {"last": 3, "each": [1, 2]} if self.finished(state) or self.fault == "twice" else {}
        if self.fault == "missing":
            once.pop("last", None)
        columns = {name: np.array(values, np.int64) for name, values in (rows | once).items()}
        if self.fault == "shape" and once:
            columns["last"] = np.zeros(1, np.int64)
        if self.fault == "dtype":
            columns["count"] = columns["count"] * 0.5
        return columns

    def finished(self, state: Place) -> bool:
        return state.row == 3

    def progress(self, state: Place) -> tuple[float, float]:
        return (3 - state.row if self.fault == "progress" else state.row), 3

    def cost(self) -> tuple[float, float]:
        return (0.0, 1.0) if self.fault == "cost" else (1.0, 1.0)

    def memory(self) -> float:
        return -1.0 if self.fault == "memory" else 1.0


def test_the_check_accepts_an_experiment_of_another_package() -> None:
    experiments.check(Counting())


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        ("no coordinates", r"no \['time'\], the coordinates"),
        ("reserved", "status is a name that results.h5 uses itself"),
        ("no description", "last has no description"),
        ("cost", r"cost\(\) = \(0.0, 1.0\)"),
        ("memory", r"memory\(\) = -1.0"),
        ("progress", "must rise from 0 to the total"),
        ("rows", "different numbers of new records"),
        ("undeclared", "more, which outputs"),
        ("twice", "last is given twice"),
        ("missing", r"\['last'\] was never given"),
        ("shape", r"last has shape \(1,\)"),
        ("dtype", "count is float64; declared as int64"),
        ("work", "has other bits"),
        ("no return", "3 records in 1 calls"),
    ],
)
def test_the_check_says_no(fault: str, says: str) -> None:
    with pytest.raises(AssertionError, match=says):
        experiments.check(Counting(fault=fault))


def test_gradient_flow_starts_at_the_initial_loss_and_learns() -> None:
    tables = small_tables()
    tables["flow"] |= {"steps": 3000, "step": 0.5, "step_unit": "edge"}
    tables["network"]["width"] = 300
    spec = resolve(tables)
    columns = compute(spec)
    work = spec.at(0).prepare(spec.sweep.streams(spec.seed, 0))
    f = spec.at(0).network.forward(work.theta0, work.samples.X)
    assert columns["train_loss"][0] == pytest.approx(np.mean((f - work.samples.y) ** 2) / 2, rel=1e-14)
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
