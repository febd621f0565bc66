"""gradient_flow: what it records with each kind of flow, how it ends, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simlab.core.errors import BadInput
from simlab.experiments.following import LINEAR_ENDED
from simlab.flows.problem import BEYOND, LIMIT, NOT_FINITE
from simlab.lab.spec import resolve
from tests.support.points import compute
from tests.support.runs import small_tables


def tables(flow: dict[str, Any] | None = None, **own: Any) -> dict[str, Any]:
    found = small_tables()
    found["experiment"] |= own
    found["flow"] = {"kind": "gradient_descent", "steps": 50, "step": 0.1} | (flow or {})
    return found


def test_listed_steps_and_times() -> None:
    steps = compute(resolve(tables(spacing="listed", at=[3, 20])))
    assert steps["step"].tolist() == [0, 3, 20, 50]
    flow = {"flow": {"kind": "ode", "end_time": 2.0}}
    times = compute(resolve(tables(spacing="listed", at=[0.1, 1.0]) | flow))
    assert times["time"].tolist() == [0.0, 0.1, 1.0, 2.0]
    log = compute(resolve(tables(spacing="log", records=4, first_time=0.02) | flow))
    assert log["time"] == pytest.approx([0.0, 0.02, 0.2, 2.0], rel=1e-12)
    assert "step_size" not in log


def test_what_is_recorded_depends_on_no_other_record() -> None:
    """The same steps with fewer records give the same numbers at those that are left."""
    few, many = (compute(resolve(tables(spacing="listed", at=at))) for at in ([20], [3, 7, 20, 41]))
    assert few["train_loss"].tolist() == many["train_loss"][[0, 3, 5]].tolist()


@pytest.mark.parametrize(("step", "ending"), [(1e4, BEYOND), (1e300, NOT_FINITE)])
def test_a_divergent_run_ends_with_the_row_that_shows_it(step: float, ending: int) -> None:
    columns = compute(resolve(tables({"step": step, "steps": 10_000}, records=101)))
    assert columns["ending"].tolist() == [ending]
    assert columns["diverged"].tolist() == [1]
    loss = columns["train_loss"]
    assert len(loss) < 10
    assert np.all(np.isfinite(loss[:-1]))
    assert not loss[-1] <= LIMIT * loss[0]
    assert np.all(np.diff(columns["step"]) > 0)


def test_an_observable_that_diverged_weights_are_too_much_for_gives_nan() -> None:
    spec = tables({"step": 1e300, "steps": 100}) | {"observables": ["train_loss", "effective_rank"]}
    columns = compute(resolve(spec))
    assert columns["ending"].tolist() == [NOT_FINITE]
    lengths = {name: len(values) for name, values in columns.items() if name not in ("ending", "diverged", "step_size")}
    assert set(lengths.values()) == {2}


def test_single_precision_is_near_double_and_not_it() -> None:
    double, single = (compute(resolve(tables(dtype=dtype)))["train_loss"] for dtype in ("float64", "float32"))
    assert single.dtype == np.float64
    assert 0 < np.max(np.abs(single - double)) < 1e-5 * double[0]


def test_one_pass_learns_more_than_its_training_samples() -> None:
    """Fresh samples: the loss on the 10 training samples and on 500 others falls alike."""
    flow = {"kind": "sgd", "steps": 4000, "step": 0.2, "batch": 8, "fresh": True}
    columns = compute(resolve(tables(flow, test_samples=500)))
    assert columns["test_loss"][-1] < 0.05 * columns["test_loss"][0]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"flow": {"alpha": 0.0}}, r"^flow\.alpha = 0\.0: must be greater than 0$"),
        ({"network": {"width": 0}}, r"^network\.width = 0: must be greater than or equal to 1$"),
        (
            {"network": {"kind": "mlp", "width": 5, "depth": 2, "outputs": 3}},
            r"^network\.outputs = 3: the target has 1$",
        ),
        ({"target": {"kind": "quadratic_form", "rank": 9}}, r"^target\.rank = 9: must be at most the dimension 5$"),
        ({"experiment": {"at": [3]}}, r"^experiment\.at = \[3\.0\]: only with spacing = \"listed\"$"),
        ({"experiment": {"spacing": "listed"}}, r"^experiment\.at = \[\]: give the instants to record$"),
        (
            {"experiment": {"spacing": "listed", "at": [2.5]}},
            r"^experiment\.at = \[2\.5\]: 2\.5 is not a number of steps$",
        ),
        ({"experiment": {"spacing": "listed", "at": [60]}}, r"^experiment\.at = \[60\.0\]: 60\.0 is not between 0 and"),
        ({"experiment": {"first_time": 0.1}}, r"^experiment\.first_time = 0\.1: only for a flow in time"),
        (
            {"flow": {"kind": "sgd", "steps": 5, "step": 0.1, "batch": 999}},
            r"^flow\.batch = 999: more than the \d+ training samples$",
        ),
        ({"flow": {"kind": "nonsense"}}, r"^flow\.kind = 'nonsense': unknown kind"),
    ],
)
def test_what_cannot_be_is_refused(change: dict[str, dict[str, Any]], says: str) -> None:
    spec = tables()
    for table, fields in change.items():
        spec[table] = fields if "kind" in fields else spec[table] | fields
    with pytest.raises(BadInput, match=says):
        resolve(spec)


def test_the_kernel_flow_is_not_laid_beside_momentum() -> None:
    spec = tables({"kind": "momentum", "steps": 5, "step": 0.1}) | {"observables": ["train_loss", "kernel_distance"]}
    with pytest.raises(BadInput, match=r"^observables: kernel_distance follows gradient flow, which flow\.kind"):
        resolve(spec)


def test_fresh_samples_of_stored_data_are_refused() -> None:
    flow = {"kind": "sgd", "steps": 5, "step": 0.1, "batch": 2, "fresh": True}
    with pytest.raises(BadInput, match=r"^flow\.fresh = true: data\.kind = 'arrays' has no new samples to draw$"):
        resolve(tables(flow) | {"data": {"kind": "arrays", "path": "inputs.npy"}})


LINEAR = {"observables": ["train_loss", "linear_distance"]}


@pytest.mark.parametrize(
    "flow",
    [
        {"steps": 300, "step": 0.2, "step_unit": "edge"},
        {"kind": "sgd", "steps": 300, "step": 0.05, "batch": 3},
        {"kind": "langevin", "steps": 300, "step": 0.05, "temperature": 1e-4},
    ],
)
def test_the_linearised_network_beside_sees_the_same_steps_batches_and_noise(flow: dict[str, Any]) -> None:
    """Of a model that is linear in its trained weights it is the same model: the distance stays at rounding."""
    spec = tables(flow) | LINEAR
    spec["network"] |= {"trained": "second"}
    columns = compute(resolve(spec))
    assert np.max(columns["linear_weight_distance"]) < 1e-12
    spec["network"]["trained"] = "both"
    assert compute(resolve(spec))["linear_weight_distance"][-1] > 1e-3


def test_the_linearised_network_follows_its_closed_form() -> None:
    """K constant: the residual's modes contract by (1 − ηλ)^t, which the loss of a lazy net then does too."""
    spec = tables({"steps": 200, "step": 0.5, "step_unit": "edge", "alpha": 1e4}, records=11)
    spec["network"] |= {"doubled": True, "activation": "tanh"}
    spec |= {"observables": ["train_loss", "linear_distance", "tangent_spectrum"]}
    columns = compute(resolve(spec))
    lam, power, eta = (columns[name] for name in ("tangent_eigenvalue", "tangent_power", "step_size"))
    shrink = (1 - eta * lam) ** (2.0 * columns["step"][:, np.newaxis])
    assert columns["train_loss"] == pytest.approx(0.5 * np.sum(power * shrink, axis=1), rel=1e-4)
    assert np.max(columns["linear_weight_distance"]) < 1e-6


def test_a_linearised_network_that_diverges_beside_is_an_ending_of_its_own() -> None:
    """Past the edge the kernel's fastest mode grows for ever; a narrow net finds a flatter place and stays."""
    spec = tables({"steps": 3000, "step": 1.3, "step_unit": "edge"}, records=31) | LINEAR
    spec["network"]["width"] = 40
    columns = compute(resolve(spec))
    assert columns["ending"].tolist() == [LINEAR_ENDED]
    assert columns["train_loss"][-1] < 10 * columns["train_loss"][0]
    assert np.isnan(columns["linear_weight_distance"]).tolist() == [False] * (len(columns["step"]) - 1) + [True]


def test_what_cannot_run_beside_is_refused() -> None:
    with pytest.raises(BadInput, match=r"^flow\.step = \"auto\": the linearised network beside takes the same steps"):
        resolve(tables({"step": "auto"}) | LINEAR)
    network = {"kind": "linearised", "network": {"kind": "two_layer", "width": 4}}
    with pytest.raises(BadInput, match=r"^network\.kind = 'linearised': there is no distance"):
        resolve(tables() | LINEAR | {"network": network})
