"""The contract of an activation φ: compiled functions for the kernel recursion and the networks, and its facts.

For (z, z') centred Gaussian with variances q, p and correlation u = 1 − t = s − 1 (both t and s accurate to their last
digits, so that nothing is lost near u = ±1): F = E φ(z)φ(z'), Ḟ = E φ'(z)φ'(z').
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, NamedTuple

import numpy as np
from flint import arb
from numpy.typing import NDArray

from simlab.core.kinds import Kind

Floats = NDArray[np.float64]


class Compiled(NamedTuple):
    """The four compiled functions of an activation; ``a`` is its `numbers()`.

    phi: φ(z, a).
    dphi: φ'(z, a).
    variance: F(q, q, u = 1), as variance(q, a).
    dual: (q, p, A, B, t, s, a) → (τ, σ, Ḟ) with A = variance(q), B = variance(p): the correlation after the activation
        is F/√(AB) = 1 − τ = σ − 1. τ = σ = 1 where A or B is 0; τ is exactly 0 for q = p, t = 0; never NaN for finite
        q, p. Closed forms keep the digits of τ near u = 1 (of σ near u = −1 where φ is odd) for q = p; for q ≠ p they
        and the quadratures are right to about 1e-15 and 1e-12.
    """

    phi: Any
    dphi: Any
    variance: Any
    dual: Any


class Activation(Kind):
    """φ, φ' and their duals.

    bounded: whether |φ| ≤ a constant.
    has_arb: whether `arb_dual` can be had; not where φ is only known in float64.
    """

    lack: ClassVar[str] = "not an activation"
    bounded: ClassVar[bool] = False
    has_arb: ClassVar[bool] = True

    @abstractmethod
    def compiled(self) -> Compiled:
        """φ, φ', variance and dual."""

    def numbers(self) -> Floats:
        """The numbers ``a`` that the compiled functions need of the fields."""
        return np.zeros(0)

    @abstractmethod
    def arb_dual(self, q: arb, us: list[arb], tangent: bool) -> tuple[list[arb], list[arb] | None]:
        """F's and, with `tangent`, Ḟ's for variances q = p and correlations `us`, at Arb's current precision."""

    def homogeneity(self) -> int | None:
        """h with φ(λz) = λ^h φ(z) for λ > 0, 0 or 1; None where there is none."""
        return None

    def degree(self) -> int | None:
        """The degree of the polynomial that φ is; None where it is none."""
        return None

    def kink_points(self) -> tuple[float, ...]:
        """Where φ or φ' jumps."""
        return ()

    def jumps(self) -> bool:
        """Whether φ itself jumps: Ḟ is then infinite on the diagonal, and there is no tangent kernel."""
        return False
