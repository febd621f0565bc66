"""Hierarchical targets: F + αG(F) written out by hand, and their Walsh expansions against every point of a cube."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from simlab import targets
from simlab.core import catalogue
from simlab.core.errors import BadInput
from simlab.core.parsing import parse
from simlab.targets import Hierarchy
from simlab.targets.allen_zhu_li import AllenZhuLi
from simlab.targets.hierarchical import Hierarchical
from simlab.targets.separation import Separation

Floats = NDArray[np.float64]


def cube(d: int) -> Floats:
    return np.array(list(itertools.product((-1.0, 1.0), repeat=d)))


def test_separation_by_hand() -> None:
    X = np.random.default_rng(0).standard_normal((6, 5))
    f = Separation(size=2, alpha=0.5).draw(5, np.random.default_rng(1))
    assert f.coordinates is not None
    i, j = f.coordinates
    a, b = np.sqrt(5) * X[:, i], np.sqrt(5) * X[:, j]
    assert np.allclose(f(X), np.column_stack([a + 0.5 * a * b, b + 0.5 * a * b]), rtol=1e-14)
    F, G = f.parts(X)
    assert np.allclose(F + 0.5 * G, f(X), rtol=1e-15)


def test_every_subset_is_drawn_alike_and_none_beyond_free() -> None:
    rng, target = np.random.default_rng(2), Separation(size=2, free=4)
    draws = [tuple(target.draw(6, rng).coordinates) for _ in range(600)]  # type: ignore[arg-type]
    counts = [draws.count(pair) for pair in itertools.combinations(range(4), 2)]
    assert sum(counts) == 600
    assert sum((count - 100) ** 2 / 100 for count in counts) < 20.5  # χ² of 5 degrees of freedom: p = 0.001


def test_allen_zhu_and_li_by_hand() -> None:
    x = np.random.default_rng(3).choice((-1.0, 1.0), size=(7, 30))
    y = x[:, 0:16:2] * x[:, 1:16:2]
    first, second = y[:, :4].prod(axis=1), y[:, 4:].prod(axis=1)
    expected = y + 0.3 * np.column_stack([first] * 4 + [second] * 4)
    assert np.array_equal(AllenZhuLi().draw(30, np.random.default_rng(0))(x), expected)


def test_hierarchical_is_what_its_equation_says() -> None:
    """φ = z², ψ = z: F_r is a quadratic form of trace Σ ±‖w‖², and G is linear."""
    target = parse(
        Hierarchical,
        {
            "outputs": 2,
            "inner_neurons": 3,
            "inner_norm": 2.0,
            "inner_activation": {"kind": "monomial", "degree": 2},
            "outer_activation": {"kind": "monomial", "degree": 1},
        },
    )
    f = target.draw(4, np.random.default_rng(5))
    traces = f.inner(np.eye(4)).sum(axis=0)
    assert all(min(abs(trace - 4.0 * s) for s in (-3, -1, 1, 3)) < 1e-12 for trace in traces)
    h = np.random.default_rng(6).standard_normal((3, 2))
    assert np.allclose(f.outer(h), h @ f.outer(np.eye(2)), rtol=1e-13)


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("separation", {"size": 3}),
        ("separation", {"size": 1, "factor": 2.0}),
        ("allen_zhu_li", {"pairs": 2, "group": 2}),
        ("allen_zhu_li", {"pairs": 3, "group": 1, "factor": 1.5}),
    ],
)
def test_walsh_expansion_is_the_target_on_the_cube(kind: str, fields: dict[str, Any]) -> None:
    f = targets.get(kind, **fields).draw(6, np.random.default_rng(4))
    assert isinstance(f, Hierarchy)
    assert f.walsh is not None
    signs, scale = cube(6), 0.4
    total = sum(np.outer(signs[:, list(S)].prod(axis=1), c) for S, c in f.walsh(scale).items())
    assert np.allclose(total, f(scale * signs), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize(
    ("kind", "fields", "dim", "says"),
    [
        ("separation", {"alpha": 1.0}, 5, "alpha = 1.0: must be 0 or more and less than 1"),
        ("separation", {"alpha": -0.1}, 5, "alpha = -0.1: must be 0 or more and less than 1"),
        ("separation", {"size": 6}, 5, "size = 6: must be at most 5, the number of coordinates to choose from"),
        ("separation", {"size": 3, "free": 2}, 5, "size = 3: must be at most 2"),
        ("separation", {"free": 7}, 5, "free = 7: must be at most 5, the dimension"),
        ("allen_zhu_li", {}, 15, "pairs = 8: must be at most 7, half the dimension 15"),
        ("allen_zhu_li", {"group": 3}, 30, "group = 3: must divide pairs = 8"),
        ("hierarchical", {"inner_activation": "relu"}, 5, "relu has a kink or a jump: must be smooth"),
        ("hierarchical", {"outer_activation": "step"}, 5, "step has a kink or a jump: must be smooth"),
    ],
)
def test_the_impossible_is_refused_in_one_line(kind: str, fields: dict[str, Any], dim: int, says: str) -> None:
    with pytest.raises(BadInput, match=says) as caught:
        targets.get(kind, **fields).check(dim)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", ["kernel_flow", "learning_curve", "random_features_error"])
def test_experiments_of_one_output_refuse_several(kind: str) -> None:
    example = next(table for name, table in catalogue.all_examples("experiments") if name == kind and "target" in table)
    own = {key: value for key, value in example["experiment"].items() if key != "kind"}
    tables = {key: value for key, value in example.items() if key != "experiment"}
    with pytest.raises(BadInput, match=r"target.kind = 'separation': it has 2 outputs; must have one value here"):
        parse(catalogue.get("experiments", kind), own | tables | {"target": {"kind": "separation", "size": 2}})
