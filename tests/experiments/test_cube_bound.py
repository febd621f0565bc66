"""cube_bound: its risks are those of least squares and of ridge regression written out over all corners."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from simlab.core.errors import BadInput
from simlab.core.parsing import parse
from simlab.core.rng import Streams
from simlab.data.boolean_cube import BooleanCube
from simlab.experiments.cube_bound import CubeBound
from simlab.targets.separation import Separation


def measured(table: dict[str, Any], seed: int = 1) -> tuple[CubeBound, dict[str, Any]]:
    bound = parse(CubeBound, table)
    return bound, bound.measure(Streams(seed))


def drawn(bound: CubeBound, count: int, seed: int = 1) -> tuple[Any, list[Any]]:
    """Samples and targets, as they are drawn for it."""
    streams = Streams(seed)
    law = Separation(size=bound.size, alpha=bound.alpha)
    X = BooleanCube(dim=bound.dim, scale="unit").sample(count, streams["data"])
    return X, [law.draw(bound.dim, streams["target"]) for _ in range(bound.targets)]


LAPLACE = {"dim": 7, "size": 2, "alpha": 0.5, "targets": 3, "kernel": {"kind": "laplace", "c": 1.0}}


@pytest.mark.parametrize("given", ["all", "target"])
def test_kernel_risks_over_all_corners(given: str) -> None:
    bound, found = measured(LAPLACE | {"samples": 12, "given": given, "ridges": [0.01, 1.0]})
    X, targets = drawn(bound, 12)
    Z = np.array(list(itertools.product((-1.0, 1.0), repeat=7))) / math.sqrt(7)
    for i, target in enumerate(targets):
        some = np.arange(7) if given == "all" else target.coordinates
        scale = math.sqrt(7 / len(some))
        seen, samples = scale * Z[:, some], scale * X[:, some]
        assert bound.kernel is not None
        K, k, y = bound.kernel.gram(samples), bound.kernel.gram(seen, samples), target(Z)
        best = y - k @ np.linalg.lstsq(k, y, rcond=1e-10)[0]
        assert found["risk"][i] == pytest.approx(np.mean(np.sum(best**2, axis=1)), rel=1e-8, abs=1e-10)
        fits = [k @ np.linalg.solve(K + ridge * np.eye(12), target(X)) for ridge in (0.01, 1.0)]
        ridge = min(np.mean(np.sum((y - fit) ** 2, axis=1)) for fit in fits)
        assert found["ridge_risk"][i] == pytest.approx(ridge, rel=1e-8)
    assert found["bound"] == pytest.approx(0.25 / 16)
    assert found["share_above"] == np.mean(found["risk"] > 0.25 / 16)


def test_given_the_coordinates_all_is_learned_and_else_not() -> None:
    table = LAPLACE | {"dim": 20, "samples": 30, "alpha": 0.3}
    assert measured(table)[1]["share_above"] == 1.0
    assert measured(table | {"given": "target"})[1]["share_above"] == 0.0


def test_by_default_a_thousandth_of_the_targets() -> None:
    assert parse(CubeBound, LAPLACE | {"dim": 50, "size": 4}).functions() == 230


@pytest.mark.parametrize("given", ["all", "target"])
def test_feature_risks_over_all_corners(given: str) -> None:
    table = {"dim": 7, "size": 2, "targets": 3, "given": given, "network": {"kind": "fourier_features", "width": 3}}
    bound, found = measured(table)
    _, targets = drawn(bound, bound.corners)
    assert bound.network is not None
    Z = np.array(list(itertools.product((-1.0, 1.0), repeat=7))) / math.sqrt(7)
    weights = bound.network.draw(7 if given == "all" else 2, Streams(1)["features"])
    for i, target in enumerate(targets):
        seen = Z if given == "all" else math.sqrt(7 / 2) * Z[:, target.coordinates]
        Phi, y = bound.network.features_of(weights, seen), target(Z)
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
            "network.kind = 'mlp': it has no features",
        ),
        (
            {"kernel": None, "samples": 5, "network": {"kind": "random_features", "width": 3}},
            "samples = 5: features are",
        ),
        (
            {"kernel": None, "dim": 30, "corners": 50, "network": {"kind": "random_features", "width": 20}},
            "corners = 50: must be 4 or more per feature, 80",
        ),
        ({"alpha": 1.0, "samples": 5}, "alpha = 1.0: must be less than 1"),
    ],
)
def test_what_is_refused(change: dict[str, Any], says: str) -> None:
    table = {key: value for key, value in (LAPLACE | change).items() if value is not None}
    with pytest.raises(BadInput, match=says):
        parse(CubeBound, table)
