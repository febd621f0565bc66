"""The experiment beside the dimension-free dynamics: the same numbers as theory alone, and nets that come near it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simlab.core.errors import BadInput
from simlab.experiments.merged_staircase import MergedStaircase
from simlab.lab.spec import Spec, resolve
from simlab.theory import dimension_free, leap
from tests.support.points import compute

SMALL: dict[str, Any] = MergedStaircase.examples[0]


def spec(**tables: Any) -> Spec:
    both = SMALL | {k: {**SMALL[k], **v} if "kind" not in v else v for k, v in tables.items()}
    return resolve(both | {"experiment": {"seed": 3, **both["experiment"]}})


@pytest.mark.parametrize("activation", ["shifted", {"kind": "shifted", "of": "tanh", "shift": 0.5}])
def test_the_limit_stands_at_the_recorded_times(activation: Any) -> None:
    """Records at 0, 1, …, 6 in the time of particles: the same as one solution over all of them."""
    what = spec(network={"activation": activation})
    columns, network = compute(what), what.at(0).network
    theta0 = network.initialise(6, what.sweep.streams(what.seed, 0)["init"])
    rates = dimension_free.Rates(network.activation, leap.values([(0,), (0, 1)], 2))
    start = dimension_free.begin(theta0[:8], 2)
    step = 0.05 if activation == "shifted" else None
    course = dimension_free.solve(rates, start, np.arange(0.0, 6.1, 1.0), step)
    assert columns["loss_limit"] == pytest.approx(course.risk, rel=1e-6)
    assert columns["coefficient_limit"] == pytest.approx(course.coefficients[:, [1, 3]], abs=1e-6)
    assert columns["leap"].tolist() == [1]
    assert columns["loss_difference"] == pytest.approx(columns["test_loss"] - columns["loss_limit"], abs=1e-14)


def test_wide_nets_in_high_dimension_with_large_batches_come_near_it() -> None:
    """The distance falls as batches grow, d = 60: half of it at least from batches 8 times as large."""
    apart = []
    for batch in (25, 200):
        columns = compute(
            spec(
                experiment={"test_samples": 1000},
                data={"dim": 60},
                network={"width": 200, "doubled": True},
                flow={"batch": batch},
            )
        )
        apart.append(columns["distance"][1:].mean())
        assert columns["distance"][0] < 1e-25  # both are 0
    assert apart[1] < 0.5 * apart[0]
    assert apart[1] < 0.05
    assert columns["coefficient"][-1] == pytest.approx(columns["coefficient_limit"][-1], abs=0.12)


def test_the_scaled_cube_is_the_same_problem() -> None:
    """x = ±½, factor 2, W twice as large: w·x and with it every recorded number, as η acts on W four times as much."""
    unit = compute(spec(flow={"steps": 1}, experiment={"records": 2}))
    half = compute(
        spec(
            flow={"steps": 1},
            experiment={"records": 2},
            data={"scale": 0.5},
            target={"factor": 2.0},
            network={"inner_std": 2 * 6**-0.5},
        )
    )
    for name in ("loss_limit", "distance", "test_loss"):
        assert half[name][0] == pytest.approx(unit[name][0], rel=1e-12)


def test_a_scale_by_its_name_is_that_number() -> None:
    named = compute(spec(flow={"steps": 1}, data={"scale": "unit"}, target={"factor": 6**0.5}))
    given = compute(spec(flow={"steps": 1}, data={"scale": 1 / 6**0.5}, target={"factor": 6**0.5}))
    assert {name: values.tobytes() for name, values in named.items()} == {
        name: values.tobytes() for name, values in given.items()
    }


def test_a_net_that_diverges_ends_with_its_reason() -> None:
    columns = compute(spec(flow={"step": 50.0}))
    assert columns["diverged"].tolist() == [1]
    assert len(columns["loss_limit"]) == len(columns["step"]) == len(columns["coefficient"])


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"data": {"kind": "uniform_sphere", "dim": 6}}, r"^data\.kind = 'uniform_sphere': must be boolean_cube"),
    ({"target": {"kind": "relu_teacher"}}, r"^target\.kind = 'relu_teacher': not of a few coordinates"),
    ({"target": {"steps": 7}}, r"^target\.steps = 7: must be at most the dimension 6$"),
    ({"target": {"factor": 3.0}}, r"target\.factor: 3 times data\.scale = 1 is not 1"),
    ({"network": {"kind": "mlp", "depth": 2, "width": 4}}, r"^network\.kind = 'mlp': no two-layer net .*two_layer"),
    ({"network": {"scaling": "ntk"}}, r"^network\.scaling = 'ntk': must be 'mean_field'"),
    ({"network": {"bias": True}}, r"^network\.bias = True: must be False"),
    ({"network": {"activation": "abs"}}, r"network\.activation = 'abs': it has kinks"),
    ({"network": {"inner_std": -1.0}}, r"^network\.inner_std = -1\.0: must be a number greater than 0, or \"unit\""),
    ({"flow": {"alpha": 2.0}}, r"^flow\.alpha = 2\.0: must be 1"),
    ({"flow": {"kind": "momentum", "steps": 5, "step": 0.1}}, r"^flow\.kind = 'momentum': the dynamics"),
    ({"experiment": {"test_samples": 0}}, r"test_samples = 0: must be 1 or more"),
    ({"experiment": {"limit_step": 0.0}}, r"^experiment\.limit_step = 0\.0: "),
    ({"data": {"dim": 20}, "target": {"steps": 13}}, r"count = 13: must be from 0 to 12"),
]


@pytest.mark.parametrize(("tables", "says"), REFUSED)
def test_what_has_no_such_limit_is_refused(tables: dict[str, Any], says: str) -> None:
    with pytest.raises(BadInput, match=says):
        spec(**tables)
