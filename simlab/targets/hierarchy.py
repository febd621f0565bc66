"""Hierarchical targets H(x) = F(x) + αG(F(x)), of k outputs. MATH §9.

F carries most of the signal; αG(F) is the part that is hard for a learner which does not know F. On the cube {±s}^d a
target may know its Walsh expansion H = Σ_S c_S χ_S, χ_S(x) = ∏_{i∈S} sign x_i, c_S ∈ R^k.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator, Field

from simlab.core import checks

Floats = NDArray[np.float64]
Terms = dict[tuple[int, ...], Floats]
"""Walsh expansion: the coordinates S, increasing → c_S (k,)."""


def _small(alpha: float) -> float:
    if not 0.0 <= alpha < 1.0:
        raise ValueError("must be 0 or more and less than 1")
    return alpha


Alpha = Annotated[float, AfterValidator(_small), Field(description="size α of the composed part, in [0, 1)")]


@dataclass(frozen=True)
class Learned:
    """Least squares f ≈ p F + q αG(F) over all outputs together.

    simple: p; 1 where all of F is learned.
    composed: q; 1 where all of G(F) is learned.
    error_simple: (1 − p)² E‖F‖².
    error_composed: (1 − q)² α² E‖G(F)‖².
    error_rest: E‖f − p F − q αG(F)‖².

    Expectations are means over the inputs. Where F and G(F) are uncorrelated the three errors add up to E‖f − H‖².
    """

    simple: float
    composed: float
    error_simple: float
    error_composed: float
    error_rest: float


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """H(x) = F(x) + αG(F(x)).

    inner: F, X (n, d) → (n, k).
    outer: G, (n, k) → (n, k).
    alpha: α.
    dim: d.
    coordinates: indices of the coordinates of x that H depends on; None where these are all.
    walsh: s → the Walsh expansion of H on the cube {±s}^d; None where it is not known.
    """

    inner: Callable[[Floats], Floats]
    outer: Callable[[Floats], Floats]
    alpha: float
    dim: int
    coordinates: NDArray[np.int64] | None = None
    walsh: Callable[[float], Terms] | None = None

    def parts(self, X: Floats) -> tuple[Floats, Floats]:
        """F(X) and G(F(X)) : (n, k) each"""
        X = checks.matrix(X, dim=self.dim)
        F = self.inner(X)
        return F, self.outer(F)

    def learned(self, f: Floats, parts: tuple[Floats, Floats]) -> Learned:
        """Least squares of f on F and αG(F).

        f: values of the learner at n inputs, (n, k).
        parts: F and G(F) at the same inputs, as `parts` gives them.
        """
        basis = np.stack([parts[0].ravel(), self.alpha * parts[1].ravel()])
        # Least norm where α = 0: q is 0 then.
        (p, q), *_ = np.linalg.lstsq(basis.T, f.ravel(), rcond=None)
        powers = np.einsum("in,in->i", basis, basis) / len(f)
        missing = (1.0 - np.array([p, q])) ** 2 * powers
        rest = f.ravel() - p * basis[0] - q * basis[1]
        return Learned(float(p), float(q), float(missing[0]), float(missing[1]), float(rest @ rest) / len(f))

    def __call__(self, X: Floats) -> Floats:
        F, G = self.parts(X)
        return np.asarray(F + self.alpha * G)
