"""Monomials, staircases and parities against their products written out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simlab.core.errors import BadInput
from simlab.core.parsing import choose
from simlab.theory import leap


def drawn(kind: str, dim: int, seed: int = 1, **fields: Any) -> Any:
    return choose("targets", {"kind": kind, **fields}, "target").draw(dim, np.random.default_rng(seed))


@pytest.fixture
def X() -> np.ndarray:
    return np.random.default_rng(0).choice([-1.0, 1.0], (50, 7))


def test_values_are_the_products(X: np.ndarray) -> None:
    f = drawn("monomials", 7, terms=[[0], [2, 1], []], coefficients=[2.0, -0.5, 3.0])
    assert np.array_equal(f(X), 2.0 * X[:, 0] - 0.5 * X[:, 1] * X[:, 2] + 3.0)
    stairs = drawn("staircase", 7, steps=4)
    assert np.array_equal(stairs(X), np.cumprod(X[:, :4], axis=1).sum(axis=1))
    assert leap.leap(stairs.terms).complexity == 1
    parity = drawn("parity", 7, degree=3)
    assert np.array_equal(parity(X), X[:, parity.coordinates].prod(axis=1))
    assert leap.leap(parity.terms).complexity == 3


def test_random_coordinates_are_distinct_and_all_come() -> None:
    found = [drawn("parity", 5, seed, degree=2).coordinates for seed in range(40)]
    assert all(len(set(pair.tolist())) == 2 for pair in found)
    assert set(np.concatenate(found).tolist()) == set(range(5))
    assert drawn("parity", 5, degree=2, coordinates="first").coordinates.tolist() == [0, 1]


def test_the_factor_undoes_the_scale_of_the_cube(X: np.ndarray) -> None:
    plain, unit, number = (drawn("staircase", 7, factor=factor) for factor in (1.0, "unit", 4.0))
    assert unit(X / np.sqrt(7)) == pytest.approx(plain(X), abs=1e-13)
    assert number(X / 4) == pytest.approx(plain(X), abs=1e-15)


@pytest.mark.parametrize(
    ("kind", "fields", "says"),
    [
        ("parity", {"degree": 9}, "degree = 9: must be at most the dimension 7"),
        ("parity", {"degree": 0}, r"target\.degree = 0: "),
        ("staircase", {"steps": 8}, "steps = 8: must be at most the dimension 7"),
        ("monomials", {"terms": [[0, 7]]}, "terms: 8 coordinates; must be at most the dimension 7"),
        ("monomials", {"terms": [[0, 0]]}, r"target\.terms: \[0, 0\] names a coordinate twice"),
        ("monomials", {"terms": [[0], [0]]}, r"target\.terms: \[0\] is there twice"),
        ("monomials", {"terms": [[-1]]}, r"target\.terms: \[-1\] has a negative coordinate"),
        ("monomials", {"terms": []}, r"target\.terms = \[\]: must name at least 1"),
        ("monomials", {"terms": [0, 1]}, r"target\.terms"),
        ("monomials", {"terms": [[0]], "coefficients": [1.0, 2.0]}, r"target\.coefficients has 2 numbers: must be 1"),
        ("monomials", {"terms": [[0]], "factor": 0.0}, r'target\.factor = 0\.0: must be .* or "unit"'),
        ("staircase", {"coordinates": "last"}, r"target\.coordinates = 'last'"),
    ],
)
def test_what_is_no_target_is_refused(kind: str, fields: dict[str, Any], says: str) -> None:
    with pytest.raises(BadInput, match=says):
        drawn(kind, 7, **fields)
