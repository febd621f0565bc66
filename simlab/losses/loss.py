"""The contract of a loss ℓ(f, y): its value, slope and curvature in f, and the labels that it takes. MATH §10.

>>> from simlab import losses
>>> loss = losses.Logistic()
>>> y = loss.encode([1, -1, 1], outputs=1)                  # (3, 1), checked
>>> f = np.zeros((3, 1))
>>> loss.value(f, y), loss.slope(f, y)                      # (3,), (3, 1)

Shapes: f and y are (n, c), c the number of outputs; y is what `encode` gives. R(f) = (1/n) Σ_i ℓ(f(x_i), y_i).

A loss that is a sum over the outputs subclasses `Separable`, and defines the functions of one output.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simlab.core.kinds import Kind
from simlab.losses import _elementwise, _labels, tiles
from simlab.losses.tiles import Scalar

Floats = NDArray[np.float64]


class Loss(Kind):
    """ℓ(f, y), convex in f.

    labels: what y may be: "real" numbers; "signs" ±1, one per output; "classes", one class per sample, y one-hot.
    smooth: ℓ is twice differentiable in f, so that `curvature` is its second derivative everywhere.
    separable: ℓ is a sum over the outputs, so that its curvature is diagonal.
    quadratic: ℓ = ½‖f − y‖²: flows are linear in f, which closed forms need.
    """

    lack: ClassVar[str] = "no loss"
    shown: ClassVar[tuple[str, ...]] = ("conjugate", "curvature", "encode", "labels", "slope", "value")
    labels: ClassVar[Literal["real", "signs", "classes"]] = "real"
    smooth: ClassVar[bool] = True
    separable: ClassVar[bool] = True
    quadratic: ClassVar[bool] = False

    @abstractmethod
    def tile(self) -> tuple[Callable[..., float], Floats]:
        """(loss, a): the compiled loop of `simlab.losses.tiles`, for both float types, and its numbers."""

    @abstractmethod
    def value(self, f: ArrayLike, y: ArrayLike) -> Floats:
        """ℓ(f_i, y_i) : (n,)"""

    def mean(self, f: ArrayLike, y: ArrayLike) -> float:
        """R = (1/n) Σ_i ℓ(f_i, y_i), n ≥ 1; a loss overrides this where its sum has an order of its own."""
        return float(np.mean(self.value(f, y)))

    @abstractmethod
    def slope(self, f: ArrayLike, y: ArrayLike) -> Floats:
        """∂ℓ/∂f : (n, c); at a kink one of the subgradients, the same that `tile` takes."""

    @abstractmethod
    def curvature(self, f: ArrayLike, y: ArrayLike) -> Floats:
        """∂²ℓ/∂f² : (n, c) where `separable`, its diagonal; otherwise (n, c, c). 0 at kinks."""

    @abstractmethod
    def conjugate(self, s: ArrayLike, y: ArrayLike) -> Floats:
        """ℓ*(s, y) = sup_f ⟨s, f⟩ − ℓ(f, y) : (n,), for s : (n, c); infinite where the supremum is."""

    def largest_curvature(self) -> float:
        """A bound on the eigenvalues of ∂²ℓ/∂f² for all f and y; infinite where there is none, and at kinks of ℓ."""
        return math.inf

    def numbers(self) -> Floats:
        """The numbers ``a`` that the compiled functions need of the fields."""
        return np.zeros(0)

    def encode(self, y: Any, outputs: int, name: str = "y", *, several: bool = True) -> Floats:
        """The labels as loops take them, (n, outputs) in float64; BadInput, one line, where they do not fit the loss.

        y: as the user gave them. "real": (n,) or (n, c). "signs" with one output: all −1 or +1, or all 0 or 1.
            "signs" with more outputs and "classes": class numbers (n,) from 0 to c − 1, or one-hot (n, c); signs also
            as ±1, (n, c).
        outputs: number c of outputs of the network.
        name: what the error calls them.
        several: whether two or more samples that are all of one class are refused. False for test sets and batches.
        """
        return _labels.encode(self.labels, y, outputs, name, several=several, loss=self.kind)


class Scalars(NamedTuple):
    """Compiled functions of one output and its label, by `simlab.core.jit.jit` without signatures.

    They compute in the float type of their first argument: constants are converted, as in ``type(f)(0.5)``. ``a`` is
    the loss's `numbers()`.

    value: ℓ(f, y).
    slope: ∂ℓ/∂f, at a kink one of the subgradients.
    curvature: ∂²ℓ/∂f², 0 at a kink.
    conjugate: ℓ*(s, y), as conjugate(s, y, a).
    """

    value: Scalar
    slope: Scalar
    curvature: Scalar
    conjugate: Scalar


class Separable(Loss):
    """ℓ(f, y) = Σ_c ℓ₁(f_c, y_c): everything follows from the functions of one output."""

    @abstractmethod
    def scalars(self) -> Scalars:
        """ℓ₁, its slope, curvature and conjugate."""

    def tile(self) -> tuple[Callable[..., float], Floats]:
        functions = self.scalars()
        return tiles.separable(functions.value, functions.slope, self.kind), self.numbers()

    def value(self, f: ArrayLike, y: ArrayLike) -> Floats:
        each = _elementwise.through(self.scalars().value, self.numbers(), f, y)
        return np.asarray(each.sum(axis=1))

    def slope(self, f: ArrayLike, y: ArrayLike) -> Floats:
        return _elementwise.through(self.scalars().slope, self.numbers(), f, y)

    def curvature(self, f: ArrayLike, y: ArrayLike) -> Floats:
        return _elementwise.through(self.scalars().curvature, self.numbers(), f, y)

    def conjugate(self, s: ArrayLike, y: ArrayLike) -> Floats:
        each = _elementwise.through(self.scalars().conjugate, self.numbers(), s, y, "s")
        return np.asarray(each.sum(axis=1))
