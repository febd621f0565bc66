"""The absolute loss with its kink smoothed, ℓ(f, y) = √(r² + ε²) − ε, r = f − y, for real labels. MATH §10.

With h = √(r² + ε²): ℓ = r²/(h + ε), which keeps its digits near r = 0; ℓ' = r/h; ℓ'' = ε²/h³. |r| − ε ≤ ℓ ≤ |r|.
ℓ*(s) = sy + ε(1 − √(1 − s²)) for |s| ≤ 1, infinite elsewhere.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from simlab.core.jit import jit
from simlab.losses.loss import Scalars, Separable

Floats = NDArray[np.float64]


@jit
def value(f: Any, y: Any, a: Floats) -> Any:
    r, epsilon = f - y, type(f)(a[0])
    return r * r / (math.sqrt(r * r + epsilon * epsilon) + epsilon)


@jit
def slope(f: Any, y: Any, a: Floats) -> Any:
    r, epsilon = f - y, type(f)(a[0])
    return r / math.sqrt(r * r + epsilon * epsilon)


@jit
def curvature(f: Any, y: Any, a: Floats) -> Any:
    r, epsilon = f - y, type(f)(a[0])
    h = math.sqrt(r * r + epsilon * epsilon)
    return (epsilon / h) * (epsilon / h) / h


@jit
def conjugate(s: Any, y: Any, a: Floats) -> Any:
    if abs(s) > 1.0:
        return math.inf
    return s * y + a[0] * s * s / (1.0 + math.sqrt((1.0 - s) * (1.0 + s)))


class Absolute(Separable):
    """ℓ(f, y) = √(r² + ε²) − ε, r = f − y"""

    examples: ClassVar[tuple[dict[str, Any], ...]] = ({}, {"smoothing": 0.5})

    smoothing: float = Field(0.01, ge=1e-9, le=1e9, description="ε, the residual below which the loss is rounded off")

    def scalars(self) -> Scalars:
        return Scalars(value, slope, curvature, conjugate)

    def numbers(self) -> Floats:
        """(ε,)"""
        return np.array([self.smoothing])

    def largest_curvature(self) -> float:
        return 1.0 / self.smoothing
