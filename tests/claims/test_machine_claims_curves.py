"""The judges of learning curves and staircases say yes and no on made-up results."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

from simlab import claims
from simlab.claims import deep_shallow_curves, krr_staircase, nt_staircase, rf_staircase


class Made(dict[str, Any]):
    """Results made up for a judge: arrays with named dimensions; `zipped` coordinates lie on another's dimension."""

    def __init__(
        self, coords: dict[str, Any], recorded: dict[str, tuple[tuple[str, ...], Any]], **zipped: tuple[str, Any]
    ) -> None:
        super().__init__({name: np.array(values) for name, values in coords.items()})
        self.dims: dict[str, tuple[str, ...]] = {name: (name,) for name in coords}
        for name, (dim, values) in zipped.items():
            self[name.replace("__", ".")], self.dims[name.replace("__", ".")] = np.array(values), (dim,)
        for name, (dims, values) in recorded.items():
            self[name], self.dims[name] = np.asarray(values, dtype=float), dims

    def select(self, name: str, at: dict[str, Any]) -> Any:
        chosen = {self.dims[key][0]: int(np.flatnonzero(self[key] == value)[0]) for key, value in at.items()}
        return self[name][tuple(chosen.get(dim, slice(None)) for dim in self.dims[name])]


def curves(ratio: float, slope: float) -> Made:
    """Two depths, four sizes, three seeds; Laplace's error n^(−0.6), the other's `ratio` n^`slope` times it."""
    n, depths = np.array([50, 100, 200, 400]), [3, 5]
    other = np.broadcast_to((n**-0.6)[np.newaxis, :, np.newaxis], (2, 4, 3))
    own = other * (ratio * (n / 100.0) ** slope)[np.newaxis, :, np.newaxis]
    dims = ("kernel.depth", "experiment.samples", "seed")
    coords = {"kernel.depth": depths, "experiment.samples": n, "seed": [0, 1, 2]}
    return Made(coords, {"test_error": (dims, own), "reference_error": (dims, other)})


@pytest.mark.parametrize(
    ("ratio", "slope", "holds"), [(1.0, 0.0, True), (1.08, 0.0, True), (1.15, 0.0, False), (0.85, 0.0, False)]
)
def test_the_judge_of_deep_and_shallow_curves(ratio: float, slope: float, holds: bool) -> None:
    judgement = claims.get("deep_shallow_curves").judge(curves(ratio, slope))  # type: ignore[arg-type]
    assert judgement.holds is holds, judgement.measured


def test_the_judge_of_curves_looks_at_slopes_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deep_shallow_curves, "ERROR_TOLERANCE", 10.0)
    assert claims.get("deep_shallow_curves").judge(curves(1.0, 0.05)).holds is True  # type: ignore[arg-type]
    assert claims.get("deep_shallow_curves").judge(curves(1.0, 0.15)).holds is False  # type: ignore[arg-type]


def stairs(learned: list[int], left: float = 0.1, over: float = 0.9) -> Made:
    """Sizes at d^0.5, d^1.5, d^2.5; degrees 1 to `learned` of each size are learned up to `left`, others `over`."""
    share = np.array([[left if k <= last else over for k in (1, 2, 3)] for last in learned])
    dims = ("experiment.size", "seed")
    exponent = np.broadcast_to(np.array([0.5, 1.5, 2.5])[:, np.newaxis], (3, 2))
    both = np.broadcast_to(share[:, np.newaxis, :], (3, 2, 3))
    coords = {"experiment.size": [4, 89, 1789], "seed": [0, 1], "degree": [1, 2, 3]}
    return Made(coords, {"exponent": (dims, exponent), "unlearned": ((*dims, "degree"), both)})


@pytest.mark.parametrize("claim", [krr_staircase, rf_staircase, nt_staircase])
def test_the_judges_of_staircases(claim: ModuleType) -> None:
    above = 1 if claim is nt_staircase else 0
    right = [above, 1 + above, 2 + above]
    for made, holds in (
        (stairs(right), True),
        (stairs(right, left=0.35), False),
        (stairs(right, over=0.5), False),
        (stairs([right[0], right[1] + 1, right[2]]), False),
        (stairs([right[0], right[1] - 1, right[2]]), False),
        (stairs([step + 1 - 2 * above for step in right]), False),
    ):
        judgement = claims.get("claim").judge(made)
        assert judgement.holds is holds, judgement.measured


def neuron(error: float, above: float = 0.25, theory: float = 1.0) -> Made:
    """Depths 3 and 8 in d = 10, 20 with n = d^1.5; variance 1, mean 2; `theory` times the error predicted."""
    dims = ("kernel.depth", "data.dim", "seed")
    power = np.zeros((2, 2, 2, 5))
    power[..., :3] = [4.0, 1.0 - above, above]
    recorded = {
        "test_error": (dims, np.full((2, 2, 2), error)),
        "theory": (dims, np.full((2, 2, 2), error * theory)),
        "power_total": (dims, np.full((2, 2, 2), 5.0)),
        "power_by_degree": ((*dims, "degree"), power),
    }
    coords = {"kernel.depth": [3, 8], "data.dim": [10, 20], "seed": [0, 1], "degree": range(5)}
    return Made(coords, recorded, experiment__samples=("data.dim", [32, 89]))


@pytest.mark.parametrize(
    ("made", "holds"),
    [
        (neuron(0.27), True),
        (neuron(0.5), True),
        (neuron(0.15, above=0.15), False),
        (neuron(0.25, above=0.4), False),
        (neuron(0.27, theory=1.3), False),
        (neuron(0.02, above=0.0), False),
    ],
)
def test_the_judge_of_the_single_neuron(made: Made, holds: bool) -> None:
    judgement = claims.get("kernel_single_neuron").judge(made)  # type: ignore[arg-type]
    assert judgement.holds is holds, judgement.measured
