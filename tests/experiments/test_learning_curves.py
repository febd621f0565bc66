"""Learning curves agree with theory; staircases stand where they should; what has no theory says so."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simlab.core.errors import BadInput
from simlab.experiments._sphere import is_profile
from simlab.kernels import laplace, ntk
from simlab.lab.spec import resolve
from simlab.sphere.zonal import axes


def tables(**changes: dict[str, Any]) -> dict[str, Any]:
    degrees = list(range(1, 16))
    found: dict[str, dict[str, Any]] = {
        "experiment": {"kind": "learning_curve", "seed": 2, "samples": 50, "test_samples": 500, "theory_degree": 30},
        "data": {"kind": "uniform_sphere", "dim": 5},
        "target": {"kind": "gegenbauer", "degrees": degrees, "powers": [k**-2.0 for k in degrees]},
        "kernel": {"kind": "ntk", "depth": 3},
    }
    return {key: value | changes.get(key, {}) for key, value in found.items()}


def points(given: dict[str, Any]) -> list[dict[str, Any]]:
    """What every point of the sweep records."""
    spec, found = resolve(given), []
    for point in range(spec.sweep.points):
        found.append(spec.at(point).measure(spec.sweep.streams(spec.seed, point)))
    return found


@pytest.mark.parametrize(("dim", "depth"), [(5, 3), (5, 6), (10, 3), (10, 6)])
def test_measured_curves_lie_on_theory(dim: int, depth: int) -> None:
    """Within 3 standard errors or 5 %, whichever is larger, at every ridge."""
    seeds = 12
    given = tables(
        experiment={"noise": 0.1, "ridges": [1e-3, 1e-1, 1.0]}, data={"dim": dim}, kernel={"depth": depth}
    ) | {"sweep": {"experiment.samples": [50, 150], "seeds": seeds}}
    found = points(given)
    for rows in (found[:seeds], found[seeds:]):
        errors = np.array([row["error_by_ridge"] for row in rows])
        theory = rows[0]["theory_by_ridge"]
        spread = errors.std(axis=0, ddof=1) / np.sqrt(seeds)
        assert np.all(np.abs(errors.mean(axis=0) - theory) <= np.maximum(3 * spread, 0.05 * theory))
        assert np.all(spread < 0.1 * theory), "and that says something"
        degrees = np.array([row["error_by_degree"] for row in rows])
        predicted = np.mean([row["theory_by_degree"] for row in rows], axis=0)
        spread = degrees.std(axis=0, ddof=1) / np.sqrt(seeds)
        assert np.all(np.abs(degrees.mean(axis=0) - predicted) <= 4 * spread + 0.1 * predicted)


def test_the_ridge_is_chosen_on_validation_data_and_the_reference_fits_the_same() -> None:
    given = tables(experiment={"noise": 0.5, "ridges": [1e-3, 1.0, 1e3]}) | {"reference": {"kind": "ntk", "depth": 3}}
    (row,) = points(given)
    best = int(np.argmin(row["validation_error"]))
    assert row["ridge_chosen"] == [1e-3, 1.0, 1e3][best]
    assert row["test_error"] == row["error_by_ridge"][best]
    assert row["theory"] == row["theory_by_ridge"][best]
    assert row["reference_error"] == row["test_error"], "the same kernel, the same data"
    assert np.all(np.diff(row["train_residual"]) > 0)
    assert row["power_total"] == pytest.approx(sum(k**-2.0 for k in range(1, 16)))
    assert row["rate"] == pytest.approx(1 / (1 + 4), abs=0.05), "β = 1/2, d − 1 = 4, with noise 2β/(2β + 4)"


@pytest.mark.parametrize(
    "changes",
    [
        {"data": {"kind": "gaussian"}},
        {"data": {"radius": 2.0}, "kernel": {"kind": "laplace", "c": 1.0}},
        {"target": {"kind": "relu_teacher"}},
    ],
)
def test_where_there_is_no_theory_its_numbers_are_nan(changes: dict[str, Any]) -> None:
    given = tables(**changes)
    given = {name: {"kind": t["kind"], **changes.get(name, {})} if name in changes else t for name, t in given.items()}
    given["data"] = {"dim": 5} | given["data"]
    (row,) = points(given)
    assert np.isfinite(row["test_error"])
    assert np.isnan(row["theory"])
    assert np.isnan(row["theory_by_ridge"]).all()
    assert np.isnan(row["rate"])


def test_which_sphere_a_kernel_means() -> None:
    X = axes(5, 6, np.random.default_rng(0))
    assert is_profile(ntk(3), X)
    assert is_profile(laplace(1.0), X)
    assert not is_profile(laplace(1.0), 2 * X)
    assert not is_profile(ntk(3, weight_std=1.5, bias_std=0.1), X)
    assert is_profile(ntk(3, weight_std=1.5, bias_std=0.1), np.sqrt(6) * X)
    assert not is_profile(ntk(3), X * np.array([[1.0], [2.0], [1.0], [1.0], [1.0]]))


def staircase(**changes: Any) -> dict[str, Any]:
    return {
        "experiment": {"kind": "staircase", "seed": 1, "learner": "krr", "dim": 15, "size": 80, "targets": 20}
        | {key: value for key, value in changes.items() if key not in ("kernel", "activation")},
        **{key: changes[key] for key in ("kernel", "activation") if key in changes},
    }


@pytest.mark.parametrize(
    "kernel", [{"kind": "ntk", "depth": 3, "weight_std": 1.4, "bias_std": 0.1}, {"kind": "laplace"}]
)
def test_the_staircase_of_a_kernel_is_the_predicted_one(kernel: dict[str, Any]) -> None:
    kernel = kernel | ({"c": 1.0} if kernel["kind"] == "laplace" else {})
    rows = points(staircase(kernel=kernel, noise=0.3, ridge=0.1) | {"sweep": {"seeds": 4}})
    left = np.array([row["unlearned"] for row in rows])
    spread = left.std(axis=0, ddof=1) / 2
    assert np.all(np.abs(left.mean(axis=0) - rows[0]["predicted"]) < 4 * spread + 0.02)


def test_an_even_activation_never_learns_odd_degrees() -> None:
    for learner in ("rf", "nt"):
        (row,) = points(staircase(learner=learner, size=12, activation="abs"))
        assert row["unlearned"][[0, 2]] == pytest.approx(1.0, abs=1e-9)
        assert row["unlearned"][1] < 0.999


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({}, r"learner = 'krr' needs the table \[kernel\]"),
        ({"learner": "rf"}, r"learner = 'rf' needs the table \[activation\]"),
        ({"learner": "nt", "activation": "relu", "kernel": {"kind": "ntk", "depth": 2}}, r"has no table \[kernel\]"),
        ({"learner": "rf", "activation": "relu", "noise": 0.1}, "no ridge and no noise"),
        ({"kernel": {"kind": "ntk", "depth": 2}, "bias": 1.0}, "bias belongs to rf and nt"),
        ({"kernel": {"kind": "ntk", "depth": 2}, "degrees": [1, 1]}, "each may be named once"),
        ({"kernel": {"kind": "ntk", "depth": 2}, "max_degree": 3, "degrees": [4]}, "must not exceed max_degree"),
    ],
)
def test_impossible_staircases_are_refused(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(BadInput, match=says):
        resolve(staircase(**changes))


def test_impossible_curves_are_refused() -> None:
    with pytest.raises(BadInput, match="each may be named once"):
        resolve(tables(experiment={"ridges": [1.0, 1.0]}))
    with pytest.raises(BadInput, match="must not exceed theory_degree, 30"):
        resolve(tables(experiment={"power_degree": 31}))
