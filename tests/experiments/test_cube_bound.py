"""cube_bound: its risks are those of least squares and of ridge regression written out over all corners."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from simlab.core.errors import BadInput
from simlab.core.params import module_of, parse
from simlab.core.rng import Streams
from simlab.experiments import cube_bound


def measured(table: dict[str, Any], seed: int = 1) -> tuple[cube_bound.Params, cube_bound.Work, dict[str, Any]]:
    params = parse(cube_bound.Params, table)
    drawn = Streams(seed)
    work = cube_bound.prepare(params, drawn)
    state = cube_bound.start(params, work, drawn)
    found = cube_bound.advance(params, work, state)
    assert cube_bound.finished(params, state)
    return params, work, found


LAPLACE = {"dim": 7, "size": 2, "alpha": 0.5, "targets": 3, "kernel": {"kind": "laplace", "c": 1.0}}


@pytest.mark.parametrize("given", ["all", "target"])
def test_kernel_risks_over_all_corners(given: str) -> None:
    params, work, found = measured(LAPLACE | {"samples": 12, "given": given, "ridges": [0.01, 1.0]})
    Z = np.array(list(itertools.product((-1.0, 1.0), repeat=7))) / math.sqrt(7)
    for i, target in enumerate(work.targets):
        some = np.arange(7) if given == "all" else target.coordinates
        scale = math.sqrt(7 / len(some))  # type: ignore[arg-type]
        seen, samples = scale * Z[:, some], scale * work.X[:, some]
        assert params.kernel is not None
        K, k, y = params.kernel.gram(samples), params.kernel.gram(seen, samples), target(Z)
        best = y - k @ np.linalg.lstsq(k, y, rcond=1e-10)[0]
        assert found["risk"][i] == pytest.approx(np.mean(np.sum(best**2, axis=1)), rel=1e-8, abs=1e-10)
        fits = [k @ np.linalg.solve(K + ridge * np.eye(12), target(work.X)) for ridge in (0.01, 1.0)]
        ridge = min(np.mean(np.sum((y - fit) ** 2, axis=1)) for fit in fits)
        assert found["ridge_risk"][i] == pytest.approx(ridge, rel=1e-8)
    assert found["bound"] == pytest.approx(0.25 / 16)
    assert found["share_above"] == np.mean(found["risk"] > 0.25 / 16)


def test_given_the_coordinates_all_is_learned_and_else_not() -> None:
    table = LAPLACE | {"dim": 20, "samples": 30, "alpha": 0.3}
    assert measured(table)[2]["share_above"] == 1.0
    assert measured(table | {"given": "target"})[2]["share_above"] == 0.0


def test_by_default_a_thousandth_of_the_targets() -> None:
    assert cube_bound.functions(parse(cube_bound.Params, LAPLACE | {"dim": 50, "size": 4})) == 230


@pytest.mark.parametrize("given", ["all", "target"])
def test_feature_risks_over_all_corners(given: str) -> None:
    table = {"dim": 7, "size": 2, "targets": 3, "given": given, "network": {"kind": "fourier_features", "width": 3}}
    params, work, found = measured(table)
    Z = np.array(list(itertools.product((-1.0, 1.0), repeat=7))) / math.sqrt(7)
    weights = module_of(params.network).draw(params.network, 7 if given == "all" else 2, Streams(1)["features"])  # type: ignore[arg-type]
    for i, target in enumerate(work.targets):
        seen = Z if given == "all" else math.sqrt(7 / 2) * Z[:, target.coordinates]
        Phi, y = module_of(params.network).features(params.network, weights, seen), target(Z)  # type: ignore[arg-type]
        left = y - Phi @ np.linalg.lstsq(Phi, y, rcond=None)[0]
        assert found["risk"][i] == pytest.approx(np.mean(np.sum(left**2, axis=1)), rel=1e-9)
    assert (found["risk_error"] == 0.0).all()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"dim": 10}, r"dim = 10: C\(10, 2\) = 45 leaves no sample of a thousandth; must be larger, or give samples"),
        ({"size": 8}, "size = 8: must be at most dim, 7"),
        ({"network": {"kind": "random_features", "width": 3}}, r"give either a \[kernel\] or a \[network\]"),
        (
            {"kernel": None, "network": {"kind": "mlp", "width": 3, "depth": 2}},
            "network.kind = 'mlp': it is no feature",
        ),
        (
            {"kernel": None, "samples": 5, "network": {"kind": "random_features", "width": 3}},
            "samples = 5: features are",
        ),
        (
            {"kernel": None, "dim": 30, "corners": 50, "network": {"kind": "random_features", "width": 20}},
            "corners = 50: must be 4 or more a feature, 80",
        ),
        ({"alpha": 1.0, "samples": 5}, "alpha = 1.0: must be less than 1"),
    ],
)
def test_what_is_refused(change: dict[str, Any], says: str) -> None:
    table = {key: value for key, value in (LAPLACE | change).items() if value is not None}
    with pytest.raises(BadInput, match=says):
        parse(cube_bound.Params, table)
