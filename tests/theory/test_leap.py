"""Fourier–Walsh coefficients against their definition, the leap against brute force over all orders."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simlab.core.errors import BadInput
from simlab.theory import leap
from simlab.theory.leap import Term

STAIRS = [(0,), (0, 1), (0, 1, 2)]


@pytest.mark.parametrize("count", [0, 1, 2, 4])
def test_coefficients_are_the_means_against_monomials(count: int) -> None:
    z = leap.points(count)
    assert sorted(map(tuple, z.tolist())) == sorted(itertools.product((-1.0, 1.0), repeat=count))
    f = np.random.default_rng(count).standard_normal(len(z))
    c = leap.walsh(f)
    for index in range(len(z)):
        term = leap.members(index)
        mean = math.fsum(v * math.prod(row[j] for j in term) for v, row in zip(f, z.tolist(), strict=True)) / len(z)
        assert c[index] == pytest.approx(mean, abs=1e-15)
    back = leap.values({leap.members(i): float(v) for i, v in enumerate(c)}, count)
    assert back == pytest.approx(f, abs=1e-14)


def test_one_target_in_every_form() -> None:
    terms = {(0,): 0.1, (0, 2): -0.7, (): 0.3}
    table = leap.values(terms, 3)
    for form in (table, table.tolist(), terms, {frozenset(term): c for term, c in terms.items()}):
        found = leap.coefficients(form, 3)
        assert set(found) == set(terms)
        assert all(found[term] == pytest.approx(c, rel=1e-14) for term, c in terms.items())
    function = leap.coefficients(lambda z: 0.3 + 0.1 * z[:, 0] - 0.7 * z[:, 0] * z[:, 2], 3)
    assert set(function) == set(terms)
    assert leap.coefficients(STAIRS) == dict.fromkeys(STAIRS, 1.0)
    assert leap.coefficients({(0,): 1.0, (1,): 0.0}) == {(0,): 1.0}


def test_zeros_of_a_rounded_table_are_zeros_and_small_coefficients_are_not() -> None:
    table = leap.values({(0,): 0.1, (1, 2): 0.7, (2,): 0.3, (3,): 1e-12}, 4)
    assert np.count_nonzero(leap.walsh(table)) > 4  # rounding
    assert set(leap.coefficients(table)) == {(0,), (2,), (1, 2), (3,)}
    assert set(leap.coefficients(table, tolerance=1e-6)) == {(0,), (2,), (1, 2)}


def brute(support: list[Term]) -> int:
    def worst(order: tuple[Term, ...]) -> int:
        return max(len(set(term).difference(*order[:i])) for i, term in enumerate(order))

    return min(worst(order) for order in itertools.permutations(support))


TERMS = st.sets(st.integers(0, 5), max_size=4).map(lambda term: tuple(sorted(term)))


@given(st.lists(TERMS, min_size=1, max_size=6, unique=True))
def test_greedy_is_the_best_of_all_orders(support: list[Term]) -> None:
    found = leap.leap(support)
    assert found.complexity == brute(support)
    assert sorted(found.order) == sorted(support)
    steps = [len(set(term).difference(*found.order[:i])) for i, term in enumerate(found.order)]
    assert max(steps) == found.complexity
    assert found.is_merged_staircase == (found.complexity <= 1)


@pytest.mark.parametrize(
    ("support", "expected"),
    [
        ([], 0),
        ([()], 0),
        (STAIRS, 1),
        ([(0, 1, 2), (0, 1), (0,)], 1),
        ([(0,), (0, 1, 2)], 2),
        ([(0, 1, 2)], 3),
        ([(0,), (1,), (0, 1, 2, 3), (2, 4)], 2),
    ],
)
def test_known_leaps(support: list[Term], expected: int) -> None:
    assert leap.leap(support).complexity == expected
    assert leap.leap(support).is_merged_staircase == (expected <= 1)


def test_the_full_support_of_many_coordinates_is_quick() -> None:
    assert leap.leap(leap.members(i) for i in range(1 << 12)).complexity == 1


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: leap.walsh(np.ones(6)), r"values: shape \(6,\); must be a vector whose length is a power of two"),
        (lambda: leap.walsh(np.ones((2, 2))), r"values: shape \(2, 2\)"),
        (lambda: leap.walsh([]), r"values: shape \(0,\)"),
        (lambda: leap.walsh([1.0, np.nan]), r"values\[1\] = nan: must be finite"),
        (lambda: leap.walsh(["a", "b"]), "values has dtype <U1, such as 'a'"),
        (lambda: leap.walsh(np.zeros(1 << 21)), "P = 21: must be from 0 to 20"),
        (lambda: leap.points(30), "count = 30: must be from 0 to 20"),
        (lambda: leap.coefficients(np.ones(4), 3), "target: 4 of them; must be 2\\^3 = 8"),
        (lambda: leap.coefficients(lambda z: z[:, 0]), "count: missing"),
        (lambda: leap.coefficients(np.ones(4), tolerance=-1.0), "tolerance = -1.0: must be 0 or more"),
        (lambda: leap.coefficients([(0, 0)]), r"terms: \[0, 0\] names a coordinate twice"),
        (lambda: leap.coefficients([(0, 1), (1, 0)]), r"terms: \[0, 1\] is there twice"),
        (lambda: leap.coefficients([(0, -1)]), r"terms: \[0, -1\] has a negative coordinate"),
        (lambda: leap.coefficients([(0, 3)], 3), r"terms: \[0, 3\] is out of range; coordinates run from 0 to 2"),
        (lambda: leap.coefficients({(0, 1): np.inf}), r"terms: the coefficient of \[0, 1\] = inf"),
        (lambda: leap.leap([(0.5,)]), r"terms: \[0.5\]; must be coordinates"),  # type: ignore[list-item]
    ],
)
def test_what_is_no_function_on_the_cube_is_refused(call: Any, says: str) -> None:
    with pytest.raises(BadInput, match=says) as error:
        call()
    assert "\n" not in str(error.value)
