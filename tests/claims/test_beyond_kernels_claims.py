"""Judges of the claims beyond kernels say yes and no on made-up results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simlab import claims

LINE = 0.36


class Made(dict[str, Any]):
    """Results with a spec in their attributes."""

    def __init__(self, values: dict[str, Any], spec: str = "") -> None:
        super().__init__(values)
        self.attrs = {"spec": spec}

    def select(self, name: str, at: dict[str, Any]) -> Any:
        (seed,) = at.values()
        return self[name][seed]


def learners(errors: dict[tuple[str, str, float], float], seeds: int = 3, widths: tuple[int, ...] = ()) -> Made:
    """(learner, form, step) → error, by all widths alike unless it is a list; validation errors are the test's."""
    values = np.array([np.broadcast_to(error, (max(1, len(widths)),)) for error in errors.values()])
    table = np.repeat(values[:, :, np.newaxis], seeds, axis=2) * np.linspace(0.9, 1.1, seeds)
    table = table if widths else table[:, 0]
    found = {
        "experiment.learner": np.array([key[0] for key in errors]),
        "network.form": np.array([key[1] for key in errors]),
        "flow.step": np.array([key[2] for key in errors]),
        "flow.weight_decay": np.full(len(errors), 1e-3),
        "test_error": table,
        "validation_error": table,
        "learned_composed": np.where(np.isnan(table), np.nan, 0.7),
        "diverged": np.isnan(table).astype(int),
        "composed_power": np.full_like(table, LINE),
    }
    if widths:
        found["network.width"] = np.array(widths)
    spec = "[data]\ndim = 20\n[network]\noutputs = 4\n[experiment]\nsamples = 600\n"
    return Made(found, spec)


def against(net: float, two: float = 0.5, kernel: float = 2.0, worse: float = 3.0) -> Made:
    return learners(
        {
            ("descent", "residual", 0.6): worse,
            ("descent", "residual", 1.0): net,
            ("descent", "two_layer", 0.6): two,
            ("tangent", "residual", 1.0): kernel,
            ("last", "residual", 1.0): 3.0,
            ("descent", "plain", 0.6): 0.1,
        }
    )


@pytest.mark.parametrize(
    ("made", "holds"),
    [
        (against(0.1), True),
        (against(0.1, worse=float("nan")), True),  # one of the settings diverged
        (against(0.4), False),
        (against(0.1, two=0.3), False),
        (against(0.1, kernel=0.3), False),
        (against(float("nan"), worse=0.5), False),
    ],
)
def test_resnet_beyond_kernels(made: Made, holds: bool) -> None:
    judgement = claims.get("resnet_beyond_kernels").judge(made)  # type: ignore[arg-type]
    assert judgement.holds is holds, judgement.measured


def rates(errors: dict[float, float]) -> Made:
    return learners({("descent", "residual", step): error for step, error in errors.items()})


@pytest.mark.parametrize(
    ("errors", "holds"),
    [
        ({0.01: 0.5, 0.1: 0.3, 0.6: 0.05, 1.7: np.nan}, True),
        ({0.01: 0.5, 0.1: 0.3, 0.6: 0.05, 1.7: 0.04}, False),  # nothing diverges: the edge was not reached
        ({0.01: 0.5, 0.1: 0.05, 0.6: 0.3, 1.7: np.nan}, False),  # the best is far below the edge
        ({0.01: 0.1, 0.1: 0.1, 0.6: 0.05, 1.7: np.nan}, False),  # small steps learn it too
        ({0.01: 0.5, 0.1: 0.5, 0.6: 0.4, 1.7: np.nan}, False),  # no step does
    ],
)
def test_learning_rate_decides(errors: dict[float, float], holds: bool) -> None:
    judgement = claims.get("learning_rate_decides").judge(rates(errors))  # type: ignore[arg-type]
    assert judgement.holds is holds, judgement.measured


@pytest.mark.parametrize(("error", "holds"), [(0.1, True), (0.24, True), (0.26, False), (0.35, False), (np.nan, False)])
def test_joint_training(error: float, holds: bool) -> None:
    judgement = claims.get("joint_training").judge(rates({0.3: 0.4 if error == error else np.nan, 0.6: error}))  # type: ignore[arg-type]
    assert judgement.holds is holds, judgement.measured


@pytest.mark.parametrize(
    ("errors", "holds"),
    [([2.0, 0.1, 0.1], True), ([2.0, 0.5, 0.1], True), ([2.0, 0.1, 0.3], False), ([0.1, 0.1, 0.1], False)],
)
def test_overparametrisation(errors: list[float], holds: bool) -> None:
    """26 weights a neuron and 2400 numbers to fit: width 50 has fewer of the former, 200 more."""
    made = learners({("descent", "residual", 0.6): errors}, widths=(10, 50, 200))  # type: ignore[dict-item]
    judgement = claims.get("overparametrisation").judge(made)  # type: ignore[arg-type]
    assert judgement.holds is holds, judgement.measured


def course(simple: int, composed: int, cleaner: float) -> Made:
    """Half learned at these steps of 0 … 99; the error beside is 1 up to the second of them, then falls."""
    steps = np.arange(100)
    beside = np.where(steps <= composed, 1.0, cleaner)
    each = {
        "step": steps, "learned_simple": 1.0 * (steps >= simple), "learned_composed": 0.9 * (steps >= composed),
        "error_simple": 0.5 * beside, "error_rest": 0.5 * beside,
    }  # fmt: skip
    return Made({"seed": np.arange(3)} | {name: np.stack([values] * 3) for name, values in each.items()})


@pytest.mark.parametrize(
    ("made", "holds"),
    [
        (course(10, 40, 0.1), True),
        (course(10, 15, 0.1), False),
        (course(10, 40, 0.8), False),
        (course(10, 1000, 0.1), False),  # never
        (course(40, 10, 0.1), False),
    ],
)
def test_simple_part_first(made: Made, holds: bool) -> None:
    judgement = claims.get("simple_part_first").judge(made)  # type: ignore[arg-type]
    assert judgement.holds is holds, judgement.measured


def solutions(farther: float, loss: float = 1e-6, other: float = 1e-6) -> Made:
    moved = np.ones((2, 3, 5))
    moved[0] *= farther
    left = np.ones((2, 3, 5))
    left[0, :, -1], left[1, :, -1] = loss, other
    return Made({"train_loss": left, "weight_movement": moved, "test_error": left})


@pytest.mark.parametrize(
    ("made", "holds"),
    [
        (solutions(1.8), True),
        (solutions(1.0), False),
        (solutions(1.8, loss=0.1), False),
        (solutions(1.8, other=0.1), False),  # its small norm would be bought by a larger loss
    ],
)
def test_not_minimum_norm(made: Made, holds: bool) -> None:
    judgement = claims.get("not_minimum_norm").judge(made)  # type: ignore[arg-type]
    assert judgement.holds is holds, judgement.measured


DIMS = np.array([8, 12, 16, 24])


def samples(net: float, kernel: float, level: float = 0.25) -> Made:
    """Errors that cross α² at 10 d^net and 5 d^kernel samples, like 1/N."""
    sizes = 2.0 ** np.arange(3, 20)
    learner = np.array(["descent"] * sizes.size + ["kernel"] * 2 * sizes.size)
    n = np.tile(sizes, 3)
    needed = np.where((learner == "descent")[:, np.newaxis], 10.0 * DIMS**net, 5.0 * DIMS**kernel)
    worse = np.repeat([1.0, 1.0, 3.0], sizes.size)[:, np.newaxis]  # a second kernel, which is never the best
    error = worse * level * needed / n[:, np.newaxis]
    found = {"experiment.learner": learner, "experiment.samples": n, "data.dim": DIMS}
    return Made(found | {"test_error": np.repeat(error[..., np.newaxis], 2, axis=2)}, "[target]\nalpha = 0.5\n")


@pytest.mark.parametrize(
    ("made", "holds"),
    [(samples(1.0, 3.0), True), (samples(1.0, 1.5), False), (samples(2.0, 3.5), False), (samples(1.0, 9.0), False)],
)
def test_resnet_samples(made: Made, holds: bool) -> None:
    """Of d^9 samples the grid has too few: what was not reached is no verdict in favour."""
    judgement = claims.get("resnet_samples").judge(made)  # type: ignore[arg-type]
    assert judgement.holds is holds, judgement.measured
    if holds:
        assert judgement.numbers["exponents"]["descent"] == pytest.approx(1.0, abs=0.02)
        assert judgement.numbers["exponents"]["kernel"] == pytest.approx(3.0, abs=0.02)
