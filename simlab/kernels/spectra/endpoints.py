"""The singularities of κ at u = ±1, which set the decay of its spectrum: known kernels, and what follows. MATH §4.

If κ(1−t) = poly + c₊ t^ν + … and κ(−1+t) = poly + c₋ t^ν + …, ν not an integer, then
μ_k ~ (c₊ + (−1)^k c₋) C(d,ν) Γ(k−ν)/Γ(k+ν+d−1),  C(d,ν) = 2^{d+ν−2} Γ(d/2) Γ(ν+(d−1)/2)/(√π Γ(−ν)).
`extract` (`simlab.kernels.spectra.extract`) finds ν, c₊ and c₋ of any kernel by numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln, gammasgn

from simlab.core.errors import BadInput

Floats = NDArray[np.float64]

A = 2 * math.sqrt(2) / (3 * math.pi)
"""a of MATH §4: κ1(1−t) = 1 − t + a t^{3/2} + …"""
B = math.sqrt(2) / math.pi
"""b: κ0(1−t) = 1 − b t^{1/2} + …"""


@dataclass(frozen=True)
class Endpoints:
    """The singularities of κ at u = ±1.

    exponent: ν; None for a kernel smooth at both ends.
    at_plus_one: c₊; 0.0 where the exponent at u = 1 is larger than ν.
    at_minus_one: c₋; 0.0 where the exponent at u = −1 is larger than ν.
    weaker: (exponent, coefficient) of the end with the larger exponent; None where it is smooth, or both are equal.
    """

    exponent: float | None
    at_plus_one: float = 0.0
    at_minus_one: float = 0.0
    weaker: tuple[float, float] | None = None

    @classmethod
    def of(cls, plus: tuple[float, float] | None, minus: tuple[float, float] | None) -> Endpoints:
        """From (exponent, coefficient) at u = +1 and u = −1, None where κ is smooth."""
        if plus is None or minus is None:
            nu, c = plus or minus or (None, 0.0)
            return cls(nu, c if plus else 0.0, c if minus else 0.0)
        if plus[0] == minus[0]:
            return cls(plus[0], plus[1], minus[1])
        return cls(plus[0], plus[1], 0.0, minus) if plus[0] < minus[0] else cls(minus[0], 0.0, minus[1], plus)

    def scaled(self, factor: float) -> Endpoints:
        """Of `factor` times the kernel."""
        weaker = None if self.weaker is None else (self.weaker[0], factor * self.weaker[1])
        return Endpoints(self.exponent, factor * self.at_plus_one, factor * self.at_minus_one, weaker)

    def terms(self) -> list[tuple[float, float, float]]:
        """(exponent, coefficient at +1, coefficient at −1), the leading one first."""
        if self.exponent is None:
            return []
        leading = [(self.exponent, self.at_plus_one, self.at_minus_one)]
        if self.weaker is None:
            return leading
        nu, c = self.weaker
        return [*leading, (nu, c, 0.0) if self.at_plus_one == 0 else (nu, 0.0, c)]


def log_decay_constant(dim: int, nu: float) -> tuple[float, float]:
    """(ln |C(d,ν)|, its sign); C itself leaves float64 from d ~ 200 on."""
    if dim < 2:
        raise BadInput(f"dim = {dim}: a sphere needs dimension 2 or more")
    if nu == round(nu):
        raise BadInput(f"nu = {nu}: an integer power of t is a polynomial and adds nothing to the decay")
    logs = gammaln(dim / 2) + gammaln(nu + (dim - 1) / 2) - gammaln(-nu) - 0.5 * math.log(math.pi)
    return (dim + nu - 2) * math.log(2) + float(logs), float(gammasgn(-nu))


def decay_constant(dim: int, nu: float) -> float:
    """C(d,ν) = 2^{d+ν−2} Γ(d/2) Γ(ν+(d−1)/2)/(√π Γ(−ν)); ±inf where float64 ends."""
    log, sign = log_decay_constant(dim, nu)
    return sign * (math.exp(log) if log < 709.7 else math.inf)


def predicted(endpoints: Endpoints, dim: int, degrees: ArrayLike) -> tuple[Floats, Floats]:
    """(log10 |μ_k|, sign of μ_k) by the leading singularity and the weaker end's; −inf and 0 where they vanish."""
    k = np.asarray(degrees, dtype=np.float64)
    parity = np.where(k % 2 == 0, 1.0, -1.0)
    logs, factors = [np.full(k.shape, -np.inf)], [np.zeros(k.shape)]
    for nu, plus, minus in endpoints.terms():
        log, sign = log_decay_constant(dim, nu)
        logs.append(log + gammaln(k - nu) - gammaln(k + nu + dim - 1))
        factors.append(sign * gammasgn(k - nu) * (plus + parity * minus))
    top = np.max(logs, axis=0)
    total = sum(f * np.exp(log - top) for f, log in zip(factors[1:], logs[1:], strict=True)) + np.zeros(k.shape)
    with np.errstate(divide="ignore"):
        size = np.where(total != 0, (top + np.log(np.abs(total))) / math.log(10), -np.inf)
    return size, np.sign(total)


def _arc_cosine(u: float) -> tuple[float, float]:
    """(κ0, κ1)"""
    theta = math.acos(max(-1.0, min(1.0, u)))
    return 1 - theta / math.pi, (math.sin(theta) + (math.pi - theta) * math.cos(theta)) / math.pi


def _check(depth: int) -> None:
    if depth < 1:
        raise BadInput(f"depth = {depth}: must be 1 or more")


def _product(depth: int) -> float:
    """Π_L = ∏_{l=2}^{L−1} κ0(κ^l(−1)) of ReLU."""
    product, kappa = 1.0, 0.0  # κ²(−1) = 0
    for _ in range(2, depth):
        kappa0, kappa = _arc_cosine(kappa)
        product *= kappa0
    return product


def relu_rf(depth: int) -> Endpoints:
    """Random features of ReLU, normalised: ν = 3/2, c₊ = (L−1)a, c₋ = aΠ_L. Depth 1 is κ = u."""
    _check(depth)
    return Endpoints(1.5, (depth - 1) * A, A * _product(depth)) if depth > 1 else Endpoints(None)


def relu_ntk(depth: int) -> Endpoints:
    """NTK of ReLU, normalised: ν = 1/2, c₊ = −bL(L−1)/2, c₋ = −bΠ_L. Depth 1 is κ = u."""
    _check(depth)
    return Endpoints(0.5, -B * depth * (depth - 1) / 2, -B * _product(depth)) if depth > 1 else Endpoints(None)


def step_rf(depth: int) -> Endpoints:
    """Random features of the step, normalised: ν = 2^{1−L}, c₊ = −b^{2−2^{2−L}}; c₋ = b for L = 2.

    For L ≥ 3 the end −1 is weaker: ν = 1/2, coefficient b ∏_{l=2}^{L−1} κ0'(κ^l(−1)), κ0'(u) = 1/(π√(1−u²)).
    """
    _check(depth)
    if depth == 1:
        return Endpoints(None)
    nu, plus = 2.0 ** (1 - depth), -(B ** (2 - 2.0 ** (2 - depth)))
    if depth == 2:
        return Endpoints(nu, plus, B)
    coefficient, kappa = B, 0.0
    for _ in range(2, depth):
        coefficient /= math.pi * math.sqrt(1 - kappa * kappa)
        kappa = _arc_cosine(kappa)[0]
    return Endpoints(nu, plus, 0.0, (0.5, coefficient))


def power_exponential(c: float, gamma: float) -> Endpoints:
    """exp(−c(1−u)^γ): ν = γ, c₊ = −c; smooth for an integer γ (the Gaussian).

    At −1 it is analytic for every γ.
    """
    return Endpoints(None) if c == 0 or gamma == round(gamma) else Endpoints(float(gamma), -float(c))
