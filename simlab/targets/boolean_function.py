"""Functions of a few coordinates on the Boolean cube: f(x) = Σ_S c_S ∏_{i∈S} z_i, z = factor·x there. MATH §9.

A term S is a tuple of places 0 … P − 1; place j is the coordinate ``coordinates[j]`` of x. z is ±1 for x = ±1 and
factor 1, or for x = ±1/√d and factor √d ("unit"). Elsewhere f is the polynomial it is written as.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from simlab.core import checks
from simlab.core.errors import BadInput
from simlab.core.fields import number_or
from simlab.targets.target import Floats, Target

Term = tuple[int, ...]
FLOATS_PER_PLACE = 6
"""Memory of one place in a tuple, in floats: a pointer, an int of 28 bytes, and its entry in `coordinates`."""


@dataclass(frozen=True, eq=False)
class BooleanFunction:
    """f(x) = Σ_S c_S ∏_{i∈S} z_i.

    terms: the terms S.
    coefficients: c_S (k,).
    coordinates: the coordinate of x at each place (P,).
    factor: z/x.
    """

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
        """∏_{i∈S} z_i : (n, k), one column per term"""
        z = self.signs(X)
        return np.stack([z[:, list(term)].prod(axis=1) for term in self.terms], axis=1)

    def __call__(self, X: Floats) -> Floats:
        values: Floats = self.features(X) @ self.coefficients
        return values


class OnTheCube(Target):
    """What kinds of a few coordinates have in common: two fields, and how they are drawn."""

    lack: ClassVar[str] = "not of a few coordinates"
    knows_coordinates: ClassVar[bool] = True

    coordinates: Literal["first", "random"] = Field("first", description="which of the d coordinates: first or random")
    factor: Annotated[float | Literal["unit"], number_or("unit")] = Field(
        1.0, description='what x is multiplied by to be ±1: a number, or "unit" for √d, of the cube on the unit sphere'
    )

    @abstractmethod
    def place_count(self) -> int:
        """P: one more than the largest place that a term names."""

    @abstractmethod
    def expansion(self) -> tuple[tuple[Term, ...], tuple[float, ...]]:
        """The terms S and their coefficients c_S."""

    def sign_factor(self, dim: int) -> float:
        """What x is multiplied by to be ±1, in dimension `dim`."""
        return math.sqrt(dim) if self.factor == "unit" else self.factor

    def check(self, dim: int) -> None:
        count = self.place_count()
        if count > checks.dimension(dim):
            raise BadInput(f"terms: {count} coordinates; must be at most the dimension {dim}")
        permuted = dim if self.coordinates == "random" else 0
        checks.room(permuted + FLOATS_PER_PLACE * count, f"dim = {dim}: {count} coordinates, {self.coordinates}")

    def draw(self, dim: int, rng: np.random.Generator) -> BooleanFunction:
        dim, count = self.checked(dim, rng), self.place_count()
        terms, coefficients = self.expansion()
        if self.coordinates == "random":
            chosen = rng.permutation(dim)[:count].astype(np.int64)
        else:
            chosen = np.arange(count, dtype=np.int64)
        return BooleanFunction(terms, np.array(coefficients, dtype=np.float64), chosen, self.sign_factor(dim))


def check_terms(terms: Sequence[Term]) -> None:
    """Raise ValueError at a coordinate twice in one term, a negative one, and a term twice."""
    for term in terms:
        if len(set(term)) < len(term):
            raise ValueError(f"terms: {list(term)} names a coordinate twice; z² = 1, leave both out")
        if min(term, default=0) < 0:
            raise ValueError(f"terms: {list(term)} has a negative coordinate; they count from 0")
    sets = [frozenset(term) for term in terms]
    for i, found in enumerate(sets):
        if found in sets[:i]:
            raise ValueError(f"terms: {sorted(found)} is there twice; add their coefficients")
