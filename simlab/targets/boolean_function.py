"""Functions of a few coordinates on the Boolean cube: f(x) = Σ_S c_S ∏_{i∈S} z_i, z = factor·x there. MATH §9.

A term S is a tuple of places 0 … P − 1; place j is the coordinate ``coordinates[j]`` of x. z is ±1 for x = ±1 and
factor 1, or for x = ±1/√d and factor √d ("unit"). Elsewhere f is the polynomial it is written as.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, PlainValidator

from simlab.core import checks
from simlab.core.errors import BadInput
from simlab.core.params import Params as Base

Floats = NDArray[np.float64]
Term = tuple[int, ...]


def _number_or_unit(value: Any) -> Any:
    if value == "unit":
        return value
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < math.inf:
        return float(value)
    raise ValueError('must be a number greater than 0, or "unit"')


class OnTheCube(Base):
    """The fields of a target of a few coordinates."""

    coordinates: Literal["first", "random"] = Field("first", description="which of the d coordinates: first or random")
    factor: Annotated[float | Literal["unit"], PlainValidator(_number_or_unit)] = Field(
        1.0, description='what x is multiplied by to be ±1: a number, or "unit" for √d, of the cube on the unit sphere'
    )


@dataclass(frozen=True, eq=False)
class Monomials:
    """`terms` S and their `coefficients` c : (k,), the `coordinates` of x that they speak of : (P,), and the factor."""

    terms: tuple[Term, ...]
    coefficients: Floats
    coordinates: NDArray[np.int64]
    factor: float = 1.0

    def signs(self, X: Floats) -> Floats:
        """z : (n, P)"""
        X, needed = checks.matrix(X), int(self.coordinates.max(initial=-1)) + 1
        if X.shape[1] < needed:
            raise BadInput(f"X has shape {X.shape}: must have {needed} columns or more, which the terms name")
        z: Floats = self.factor * X[:, self.coordinates]
        return z

    def features(self, X: Floats) -> Floats:
        """∏_{i∈S} z_i : (n, k), a column a term"""
        z = self.signs(X)
        return np.stack([z[:, list(term)].prod(axis=1) for term in self.terms], axis=1)

    def __call__(self, X: Floats) -> Floats:
        values: Floats = self.features(X) @ self.coefficients
        return values


def check_terms(terms: Sequence[Term]) -> None:
    """Refuses (ValueError) a coordinate twice in one term, a negative one, and a term twice."""
    for term in terms:
        if len(set(term)) < len(term):
            raise ValueError(f"terms: {list(term)} names a coordinate twice; z² = 1, leave both out")
        if min(term, default=0) < 0:
            raise ValueError(f"terms: {list(term)} has a negative coordinate; they count from 0")
    sets = [frozenset(term) for term in terms]
    for i, found in enumerate(sets):
        if found in sets[:i]:
            raise ValueError(f"terms: {sorted(found)} is there twice; add their coefficients")


def on_the_cube(
    params: OnTheCube, terms: Sequence[Term], coefficients: Sequence[float], dim: int, rng: np.random.Generator
) -> Monomials:
    """The target in dimension d, of the places 0 … P − 1, P − 1 the largest that a term names."""
    dim = checks.draw_from(dim, rng)
    count = 1 + max((place for term in terms for place in term), default=-1)
    if count > dim:
        raise BadInput(f"terms: {count} coordinates; must be at most the dimension {dim}")
    if params.coordinates == "random":
        chosen = rng.permutation(dim)[:count].astype(np.int64)
    else:
        chosen = np.arange(count, dtype=np.int64)
    factor = math.sqrt(dim) if params.factor == "unit" else params.factor
    return Monomials(tuple(terms), np.array(coefficients, dtype=np.float64), chosen, factor)
