"""`losses.check` on losses with one planted mistake each."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from simlab import losses
from simlab.core.jit import jit
from simlab.losses import hinge as hinge_file
from simlab.losses import tiles
from simlab.losses.absolute import Absolute
from simlab.losses.hinge import Hinge
from simlab.losses.logistic import Logistic
from simlab.losses.loss import Loss, Scalars
from simlab.losses.softmax import Softmax
from simlab.losses.squared import Squared

Floats = NDArray[np.float64]


@jit
def double(f: Any, y: Any, a: Floats) -> Any:
    return f - y + f - y


@jit
def overflowing(f: Any, y: Any, a: Floats) -> Any:
    return math.log(type(f)(1.0) + math.exp(-y * f))


@jit
def saturating(f: Any, y: Any, a: Floats) -> Any:
    """r²/(1 + r²)"""
    r = f - y
    return r * r / (type(f)(1.0) + r * r)


@jit
def saturating_slope(f: Any, y: Any, a: Floats) -> Any:
    r = f - y
    return 2.0 * r / (1.0 + r * r) ** 2


@jit
def saturating_curvature(f: Any, y: Any, a: Floats) -> Any:
    r = f - y
    return (2.0 - 6.0 * r * r) / (1.0 + r * r) ** 3


@jit
def nothing(f: Any, y: Any, a: Floats) -> Any:
    return type(f)(0.0)


@jit(signatures=tiles.SIGNATURES)
def everything(F: Any, Y: Any, factor: float, weight: float, a: Floats) -> float:
    """The squared loss, over the padding too."""
    total = 0.0
    for c in range(F.shape[0]):
        for i in range(F.shape[1]):
            y = Y[min(i, Y.shape[0] - 1), c]
            r = factor * F[c, i] - y
            if i < Y.shape[0]:
                total += 0.5 * r * r
                F[c, i] = weight * r
            else:
                F[c, i] = 0.0
    return total


class WrongSlope(Squared):
    def scalars(self) -> Scalars:
        return super().scalars()._replace(slope=double)


class WrongCurvature(Squared):
    def scalars(self) -> Scalars:
        return super().scalars()._replace(curvature=nothing)


class WrongConjugate(Squared):
    def scalars(self) -> Scalars:
        return super().scalars()._replace(conjugate=nothing)


class LargeConjugate(Hinge):
    """Right at slopes of the loss; elsewhere too small, where it must be infinite."""

    def conjugate(self, s: ArrayLike, y: ArrayLike) -> Floats:
        found = super().conjugate(s, y)
        return np.where(np.isinf(found), -100.0, found)


class Overflows(Logistic):
    def value(self, f: ArrayLike, y: ArrayLike) -> Floats:
        with np.errstate(over="ignore"):
            return np.asarray(np.log(1.0 + np.exp(-np.multiply(f, y))).sum(axis=1))


class OverflowsInTiles(Logistic):
    def tile(self) -> tuple[Callable[..., float], Floats]:
        return tiles.separable(overflowing, super().scalars().slope, self.kind), self.numbers()


class NotConvex(Squared):
    def scalars(self) -> Scalars:
        return Scalars(saturating, saturating_slope, saturating_curvature, nothing)


class OtherTile(Hinge):
    def tile(self) -> tuple[Callable[..., float], Floats]:
        return Squared().tile()


class OtherSlopes(Logistic):
    def tile(self) -> tuple[Callable[..., float], Floats]:
        return tiles.separable(super().scalars().value, hinge_file.slope, self.kind), self.numbers()


class WritesPadding(Squared):
    def tile(self) -> tuple[Callable[..., float], Floats]:
        return everything, self.numbers()


class TakesAnything(Hinge):
    def encode(self, y: Any, outputs: int, name: str = "y", *, several: bool = True) -> Floats:
        try:
            return super().encode(y, outputs, name, several=several)
        except ValueError:
            return np.ones((2, outputs))


class NotSeparable(Softmax):
    separable: ClassVar[bool] = True

    def curvature(self, f: ArrayLike, y: ArrayLike) -> Floats:
        return np.einsum("ijj->ij", super().curvature(f, y))


class WrongLabels(Squared):
    def encode(self, y: Any, outputs: int, name: str = "y", *, several: bool = True) -> Floats:
        return super().encode(y, outputs, name, several=several) + 1.0


class WrongNumbers(Absolute):
    def numbers(self) -> Floats:
        return np.array([[self.smoothing]])


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        (WrongSlope(), "slope .* but a difference of values gives"),
        (WrongCurvature(), "curvature .* but a difference of slopes gives"),
        (WrongConjugate(), r"ℓ\(f\) \+ ℓ\*\(s\) = .* at s = ℓ'\(f\)"),
        (LargeConjugate(), r"must be at most ℓ\(f\) \+ ℓ\*\(s\)"),
        (Overflows(), "value is not finite at |f| = 1000"),
        (OverflowsInTiles(), "tile: value is not finite at |f| = 100 in float32"),
        (NotConvex(), "not convex"),
        (OtherTile(), "tile in float64: returns .* but the values sum to"),
        (OtherSlopes(), "tile in float64: writes other slopes"),
        (WritesPadding(), "writes over columns of padding"),
        (TakesAnything(), "encode: takes NaN; must raise BadInput"),
        (NotSeparable(), "separable, but no sum of that of each output"),
        (WrongLabels(), "encode: changes labels that are encoded already"),
        (WrongNumbers(), r"numbers\(\) must be a float64 vector"),
        (np.tanh, "not a subclass of Loss"),
    ],
    ids=lambda value: value.kind if isinstance(value, Loss) else "",
)
def test_a_planted_mistake_is_found(kind: Loss, says: str) -> None:
    with pytest.raises(AssertionError, match=says.replace("|", r"\|")) as refusal:
        losses.check(kind)
    assert "\n" not in str(refusal.value)
