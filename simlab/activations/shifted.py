"""A shifted activation, φ(z) = ψ(z + b), ψ = ReLU or tanh: neither odd nor homogeneous. MATH §9.

Centred Gaussians see odd and even parts of it alike, so that nothing is out of reach of a net without biases: a ReLU
without a shift cannot learn z₁z₂z₃, tanh not z₁z₂. The dual is by quadrature (`_numeric`), refined about z = −b, where
ψ varies; what a ReLU far below 0 leaves (−b beyond 8.5 standard deviations) counts as 0. No more digits than float64.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, field_validator

from simlab.activations._numeric import PAIR, numeric_dual, numeric_variance
from simlab.activations.activation import Activation, Compiled
from simlab.activations.signature import DUAL, PHI, VARIANCE
from simlab.activations.tanh import pair as tanh_pair
from simlab.core.jit import jit

Floats = NDArray[np.float64]
CODES = {"relu": 0.0, "tanh": 1.0}


@jit(signatures=[PHI])
def phi(z: float, a: Floats) -> float:
    x = z - a[0]
    return max(x, 0.0) if a[1] == 0.0 else math.tanh(x)


@jit(signatures=[PHI])
def dphi(z: float, a: Floats) -> float:
    x = z - a[0]
    if a[1] == 0.0:
        return 1.0 if x > 0.0 else 0.0
    return tanh_pair(x, a)[1]


@jit(signatures=[PAIR])
def relu_pair(z: float, a: Floats) -> tuple[float, float]:
    x = z - a[0]
    return (x, 1.0) if x > 0.0 else (0.0, 0.0)


@jit(signatures=[PAIR])
def shifted_tanh_pair(z: float, a: Floats) -> tuple[float, float]:
    return tanh_pair(z - a[0], a)


@jit(signatures=[VARIANCE])
def variance(q: float, a: Floats) -> float:
    centre = a[:1]
    return numeric_variance(relu_pair, q, centre) if a[1] == 0.0 else numeric_variance(shifted_tanh_pair, q, centre)


@jit(signatures=[DUAL])
def dual(q: float, p: float, A: float, B: float, t: float, s: float, a: Floats) -> tuple[float, float, float]:
    centre = a[:1]
    if a[1] == 0.0:
        return numeric_dual(relu_pair, q, p, A, B, t, s, centre)
    return numeric_dual(shifted_tanh_pair, q, p, A, B, t, s, centre)


class Shifted(Activation):
    """φ(z) = ψ(z + b)"""

    examples: ClassVar[tuple[dict[str, Any], ...]] = ({}, {"of": "tanh", "shift": 0.5}, {"shift": 0.3})
    has_arb: ClassVar[bool] = False

    of: Literal["relu", "tanh"] = Field("relu", description="ψ")
    shift: float = Field(1.0, ge=-100.0, le=100.0, description="b, other than 0")

    @field_validator("shift")
    @classmethod
    def _shifts(cls, value: float) -> float:
        if value == 0.0:
            raise ValueError("must not be 0; without a shift use relu or tanh themselves")
        return value

    def compiled(self) -> Compiled:
        return Compiled(phi, dphi, variance, dual)

    def numbers(self) -> Floats:
        """(−b, code of ψ)"""
        return np.array([-self.shift, CODES[self.of]])

    def kink_points(self) -> tuple[float, ...]:
        return (-self.shift,) if self.of == "relu" else ()

    def relu_shift(self) -> float | None:
        return float(self.shift) if self.of == "relu" else None
