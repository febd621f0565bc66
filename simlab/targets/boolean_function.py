"""Functions of P coordinates on the Boolean cube: f(x) = Σ_S c_S ∏_{i∈S} z_i, z = factor·x at these. MATH §9.

A term S is a tuple of places 0 … P − 1. Place j is the coordinate ``coordinates[j]`` of x. z is ±1 for x = ±1 with
factor 1, and for x = ±1/√d with factor √d ("unit"). At other x, f is the same polynomial.
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
from simlab.targets.target import Floats, Target, ValueKind

Term = tuple[int, ...]
"""S: places, each once."""
FLOATS_PER_PLACE = 6
"""Memory of one place, in units of a float64: pointer and int (28 bytes) in a term, and the entry of `coordinates`."""


@dataclass(frozen=True, eq=False)
class BooleanFunction:
    """f(x) = Σ_S c_S ∏_{i∈S} z_i.

    terms: the k terms S.
    coefficients: c_S, (k,).
    coordinates: index of the coordinate of x at each place, (P,).
    factor: what x is multiplied by to give z.
    """

    terms: tuple[Term, ...]
    coefficients: Floats
    coordinates: NDArray[np.int64]
    factor: float = 1.0

    def signs(self, X: Floats) -> Floats:
        """z : (n, P), of inputs X (n, d)."""
        X, needed = checks.matrix(X), int(self.coordinates.max(initial=-1)) + 1
        if X.shape[1] < needed:
            raise BadInput(f"X has shape {X.shape}: must have {needed} columns or more, which the terms name")
        z: Floats = self.factor * X[:, self.coordinates]
        return z

    def features(self, X: Floats) -> Floats:
        """∏_{i∈S} z_i : (n, k), one column per term, of inputs X (n, d)."""
        z = self.signs(X)
        return np.stack([z[:, list(term)].prod(axis=1) for term in self.terms], axis=1)

    def __call__(self, X: Floats) -> Floats:
        values: Floats = self.features(X) @ self.coefficients
        return values


class OnTheCube(Target):
    """Base of the kinds that draw a `BooleanFunction`: their common fields, and `draw`."""

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

    def value_kind(self) -> ValueKind:
        terms, coefficients = self.expansion()
        return "signs" if len(terms) == 1 and abs(coefficients[0]) == 1.0 else "real"

    def check(self, dim: int) -> None:
        count = self.place_count()
        if count > checks.dimension(dim):
            raise BadInput(f"terms: {count} coordinates; must be at most the dimension {dim}")
        permuted = dim if self.coordinates == "random" else 0
        checks.memory(permuted + FLOATS_PER_PLACE * count, f"dim = {dim}: {count} coordinates, {self.coordinates}")

    def draw(self, dim: int, rng: np.random.Generator) -> BooleanFunction:
        dim, count = self.checked(dim, rng), self.place_count()
        terms, coefficients = self.expansion()
        if self.coordinates == "random":
            chosen = rng.permutation(dim)[:count].astype(np.int64)
        else:
            chosen = np.arange(count, dtype=np.int64)
        return BooleanFunction(terms, np.array(coefficients, dtype=np.float64), chosen, self.sign_factor(dim))


def check_terms(terms: Sequence[Term]) -> None:
    """Raise ValueError where a term names a coordinate twice or a negative one, or where two terms are the same set."""
    for term in terms:
        if len(set(term)) < len(term):
            raise ValueError(f"terms: {list(term)} names a coordinate twice; z² = 1, leave both out")
        if min(term, default=0) < 0:
            raise ValueError(f"terms: {list(term)} has a negative coordinate; they count from 0")
    sets = [frozenset(term) for term in terms]
    for i, found in enumerate(sets):
        if found in sets[:i]:
            raise ValueError(f"terms: {sorted(found)} is there twice; add their coefficients")
