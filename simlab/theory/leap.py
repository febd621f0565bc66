"""Functions on {±1}^P by their Fourier–Walsh coefficients, and how far they leap. MATH §9.

f(z) = Σ_S c_S χ_S(z), χ_S(z) = ∏_{j∈S} z_j, c_S = E f χ_S. Values are listed point by point: point i has z_j = −1 where
bit j of i is 1 (`points`); coefficients subset by subset: bit j of their index says whether j ∈ S.

The *leap* of f is, over the orders S_1, S_2, … of its support (the S with c_S ≠ 0),

    min over orders of max_i |S_i \\ (S_1 ∪ … ∪ S_{i−1})|,

the most coordinates that must be found at once; the constant term finds none. f is a *merged staircase* where its leap
is at most 1 (Abbe, Boix-Adserà and Misiakiewicz).

Greedy is optimal: *take next a set that adds the fewest coordinates.* For let U be the union of what greedy has taken,
not yet everything, T_1, T_2, … an order that attains the leap L, and T_i its first set that is not taken. Then
T_1 ∪ … ∪ T_{i−1} ⊂ U, so T_i adds at most |T_i \\ (T_1 ∪ … ∪ T_{i−1})| ≤ L coordinates to U, and what greedy takes next
adds no more than that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simlab.core import checks
from simlab.core.errors import BadInput, shown
from simlab.targets.boolean_function import Term, check_terms

Floats = NDArray[np.float64]
Terms = Mapping[Any, float]
MOST_COORDINATES = 20  # of a table: 2^20 values
LAST_COORDINATE = 1_000_000  # that a term may name
MOST_FACTORS = 10_000  # coordinates of one term
ROUNDING = 8.0 * 2.0**-52


@dataclass(frozen=True)
class Leap:
    """The leap of a function.

    complexity: the leap.
    order: an order of the terms of its support that attains it.
    """

    complexity: int
    order: tuple[Term, ...]

    @property
    def is_merged_staircase(self) -> bool:
        return self.complexity <= 1


def points(count: int) -> Floats:
    """z : (2^P, P) of P = `count` coordinates"""
    check_count(count, name="count")
    bits = np.arange(1 << count)[:, np.newaxis] >> np.arange(count) & 1
    return np.asarray(1.0 - 2.0 * bits, dtype=np.float64)


def check_count(count: int, most: int = MOST_COORDINATES, name: str = "count") -> None:
    if not 0 <= checks.whole(count, name) <= most:
        raise BadInput(f"{name} = {shown(count)}: must be from 0 to {most} coordinates, for a table of 2^P values")


def walsh(values: ArrayLike) -> Floats:
    """c : (2^P,) from the values at the 2^P points; exact for integers, in general to P ε E|f| of rounding.

    Butterflies, coordinate by coordinate: a pair (v, w) becomes its sum and its difference.
    """
    table = checked_table(values)
    for j in range(table.size.bit_length() - 1):
        pairs = table.reshape(-1, 2, 1 << j)
        table = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1).reshape(-1)
    return table / table.size


def checked_table(values: Any, most: int = MOST_COORDINATES, name: str = "values") -> Floats:
    """The 2^P values as numbers."""
    table = np.array(checks.array(values, name, must="2^P numbers"))
    if table.ndim != 1 or not table.size or table.size & (table.size - 1):
        raise BadInput(f"{name}: shape {table.shape}; must be a vector whose length is a power of two, 2^P")
    check_count(table.size.bit_length() - 1, most, f"{name}: P")
    return table


def members(index: int) -> Term:
    """The coordinates of the subset of this index."""
    index = checks.whole(index, "index", least=0)
    return tuple(j for j in range(index.bit_length()) if index >> j & 1)


def coefficients(
    target: ArrayLike | Callable[[Floats], ArrayLike] | Terms | Iterable[Term],
    count: int | None = None,
    tolerance: float | None = None,
) -> dict[Term, float]:
    """The support of a target with its coefficients: S ↦ c_S ≠ 0, subsets in the order of their index.

    `target` is a table of 2^P values, a function of the points (2^P, P) (then `count` = P), a mapping of terms to
    coefficients, or a list of terms, of coefficient 1. Of terms only exact zeros are left out. Of a table, whose values
    are taken to be rounded, what is at most `tolerance` is: 8 (P + 1) ε max|f| where none is given.
    """
    if count is not None:
        check_count(count, LAST_COORDINATE)
    if _are_terms(target):
        return _of_terms(target, count)
    if callable(target):
        if count is None:
            raise BadInput("count: missing; a function needs the number P of its coordinates")
        table = checked_table(target(points(count)), name="target")
    else:
        table = checked_table(target, name="target")
    found = table.size.bit_length() - 1
    if count is not None and checks.whole(count, "count") != found:
        raise BadInput(f"target: {table.size} of them; must be 2^{count} = {2.0**count:.6g}")
    rounding = ROUNDING * (found + 1) * float(np.abs(table).max())
    small = rounding if tolerance is None else checks.number(tolerance, "tolerance", least=0)
    c = walsh(table)
    return {members(int(index)): float(c[index]) for index in np.flatnonzero(np.abs(c) > small)}


def _are_terms(target: Any) -> bool:
    """A mapping, or a list of lists: values are numbers."""
    return isinstance(target, Mapping) or (
        isinstance(target, list | tuple | set | frozenset)
        and all(isinstance(term, list | tuple | set | frozenset) for term in target)
    )


def _of_terms(target: Any, count: int | None) -> dict[Term, float]:
    terms = "terms, each a list of coordinates"
    given = (
        target.items()
        if isinstance(target, Mapping)
        else ((term, 1.0) for term in checks.listed(target, "terms", terms))
    )
    pairs = [
        (tuple(checks.listed(term, "terms: a term", "a list of coordinates", most=MOST_FACTORS)), c)
        for term, c in given
    ]
    for term, c in pairs:
        if not all(isinstance(j, int | np.integer) and not isinstance(j, bool) and j <= LAST_COORDINATE for j in term):
            raise BadInput(
                f"terms: {shown(list(term))}; must be coordinates, whole numbers from 0 to {LAST_COORDINATE}"
            )
        checks.number(c, f"terms: the coefficient of {shown(list(term))}")
        if count is not None and max(term, default=-1) >= count:
            raise BadInput(f"terms: {list(term)} is out of range; coordinates run from 0 to {count - 1}")
    try:
        check_terms([term for term, _ in pairs])
    except ValueError as error:
        raise BadInput(str(error)) from None
    nonzero = {tuple(sorted(map(int, term))): float(c) for term, c in pairs if c != 0.0}
    return {term: nonzero[term] for term in sorted(nonzero, key=lambda term: sum(1 << j for j in term))}


def values(terms: Terms | Iterable[Term], count: int) -> Floats:
    """f : (2^P,) at the points, from its terms; equal, bit for bit, where every monomial of f is."""
    z = points(count)
    table = np.zeros(len(z))
    for term, c in _of_terms(terms, count).items():
        table += c * z[:, list(term)].prod(axis=1)
    return table


def leap(support: Iterable[Iterable[int]]) -> Leap:
    """The leap of a function from its support, ``leap(coefficients(…))``; 0 for a constant."""
    left = sorted(
        _of_terms(checks.listed(support, "support", "terms, each a list of coordinates"), None),
        key=lambda term: (len(term), term),
    )
    covered: set[int] = set()
    order: list[Term] = []
    complexity = 0
    while left:
        term = min(left, key=lambda term: len(set(term) - covered))
        complexity = max(complexity, len(set(term) - covered))
        covered |= set(term)
        order.append(term)
        # What adds nothing now is taken at once: so many rounds as there are coordinates, at most.
        order += [other for other in left if other != term and covered.issuperset(other)]
        left = [other for other in left if not covered.issuperset(other)]
    return Leap(complexity, tuple(order))
