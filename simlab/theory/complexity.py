"""What learning F + αG(F) costs a three-layer ResNet, and what kernels cannot do with as many samples. MATH §9.

    C_s(F) = C Σ (i+1)|c_i|,     C_α(F) = Σ (C^i + (C √(log(1/α)/i))^i) |c_i|,     F(z) = Σ c_i z^i  about 0;

the second power is 1 at i = 0, its limit, so that c_0 counts 2|c_0|. Each output is a sum of p_F (p_G) functions of one
direction, with signs ±1. For the ResNet of k outputs, trained by SGD, with B = k p_G C_s(G) (Theorem 3.1):

    α < 1/B,   δ > α⁴ B⁴ (1 + √k p_F C_s(F))²,   T = (k p_F C_s(F))²/min(1, δ²) samples,   risk ≤ α⁴ B⁴;
    ‖F‖ ≤ √k p_F C_s(F),   ‖G(F)‖ ≤ k p_F C_s(F) p_G C_s(G),   G is √k p_G C_s(G)-Lipschitz.

Separation class, x ∈ {±1/√d}^d: F(x) = √d (x_{i_1}, …, x_{i_k}), G(y) = ∏ y_j in every output. N = k²d/α⁸ samples give
the ResNet α⁴ 2^{O(k)}; any kernel machine with N ≤ C(d,k)/1000 samples (linear regression on as many features alike)
keeps a risk > α²/16 for 99 % of the class (Theorem 4.2). Learning F alone leaves E‖αG(F)‖² = kα².

The theorems hide constants and logarithms (Θ̃, Õ): here all of them are 1, C too unless given, so that the numbers say
how things grow and not how large they are. α⁴ 2^{O(k)} is B⁴α⁴, and B does not grow faster than 2^{O(k)}.
Source: Allen-Zhu & Li, What Can ResNet Learn Efficiently, Going Beyond Kernels?, arXiv:1905.10337.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from simlab.core import checks
from simlab.core.errors import BadInput
from simlab.theory._series import Series, as_arb, weighted_sum

MOST_FACTORS = 20  # 2^20 directions of 20 signs: 20 MB
MOST_OUTPUTS = 256
MOST_CHOSEN = 10_000


def c_s(series: Series, C: float = 1.0) -> float:
    """C Σ (i+1)|c_i| of coefficients, of a callable i → c_i, or of an activation."""
    scale = as_arb("C", float(_positive("C", C)))
    return weighted_sum(series, lambda i: scale * (i + 1), "C_s")


def c_alpha(series: Series, alpha: float, C: float = 1.0) -> float:
    """Σ (C^i + (C √(log(1/α)/i))^i) |c_i|, which sets the width that the theorem asks for."""
    base = as_arb("C", float(_positive("C", C)))
    exact = as_arb("alpha", float(_alpha(alpha)))

    def weight(i: int) -> arb:
        return base**i + (base * (-exact.log() / i).sqrt()) ** i if i else arb(2)

    return weighted_sum(series, weight, f"C_α at C = {C:g}", reach=C)


@dataclass(frozen=True)
class Powers:
    """∏_j y_j = factor · Σ_i signs_i (directions_i · y)^k.

    directions: (2^k, k) unit vectors.
    signs: (2^k,) of ±1.
    """

    directions: NDArray[Any]
    signs: NDArray[np.int8]
    factor: Fraction | float


def product_powers(k: int, unit: bool = False) -> Powers:
    """∏ y_j = (1/(2^k k!)) Σ_{ε ∈ {±1}^k} (∏ε_j) (ε·y)^k, in integers; ε/√k and k^{k/2}/(2^k k!) where `unit`.

    ε and −ε give the same term, so that 2^{k−1} would do; the source counts p_G = 2^k.
    """
    k = checks.whole(k, "k", least=1, most=MOST_FACTORS)
    directions = (1 - 2 * (np.arange(2**k)[:, None] >> np.arange(k) & 1)).astype(np.int8)
    signs = np.prod(directions, axis=1, dtype=np.int8)
    if checks.flag(unit, "unit"):
        return Powers(directions / math.sqrt(k), signs, _power_coefficient(k))
    return Powers(directions, signs, Fraction(1, 2**k * math.factorial(k)))


def _power_coefficient(k: int) -> float:
    """k^{k/2}/(2^k k!), by an exact ratio: its parts overflow from k = 150 on."""
    return float(Fraction(k ** (k // 2), 2**k * math.factorial(k))) * (math.sqrt(k) if k % 2 else 1.0)


@dataclass(frozen=True)
class Concept:
    """A class of functions F + αG(F), by what the theorem asks of it.

    k: number of outputs.
    p_F, p_G: functions of one direction that each output of F, of G, is a sum of.
    C_F, C_G: C_s(F), C_s(G).
    """

    k: int
    p_F: int
    C_F: float
    p_G: int
    C_G: float

    def __post_init__(self) -> None:
        for name in ("k", "p_F", "p_G"):
            object.__setattr__(self, name, checks.whole(getattr(self, name), name, least=1, most=checks.MOST_WHOLE))
        for name in ("C_F", "C_G"):
            _positive(name, getattr(self, name))

    @property
    def B(self) -> float:
        """k p_G C_s(G)"""
        return self.k * self.p_G * self.C_G

    @property
    def largest_alpha(self) -> float:
        """1/(k p_G C_s(G)), and 1 at most, as α is of every class."""
        return min(1.0, 1.0 / self.B)

    @property
    def norm_F(self) -> float:
        """√k p_F C_s(F) ≥ ‖F(x)‖"""
        return math.sqrt(self.k) * self.p_F * self.C_F

    @property
    def norm_GF(self) -> float:
        """k p_F C_s(F) p_G C_s(G) ≥ ‖G(F(x))‖"""
        return self.p_F * self.C_F * self.B

    @property
    def lipschitz_G(self) -> float:
        """√k p_G C_s(G)"""
        return math.sqrt(self.k) * self.p_G * self.C_G

    def risk(self, alpha: float) -> float:
        """α⁴ (k p_G C_s(G))⁴, reached with T samples where the best possible is 0."""
        return (self._alpha(alpha) * self.B) ** 4

    def delta(self, alpha: float) -> float:
        """α⁴ (k p_G C_s(G))⁴ (1 + √k p_F C_s(F))²: δ must be greater."""
        return self.risk(alpha) * (1.0 + self.norm_F) ** 2

    def samples(self, delta: float) -> float:
        """T = (k p_F C_s(F))²/min(1, δ²), one sample per step; inf beyond the floats."""
        root = self.k * self.p_F * self.C_F / min(1.0, _positive("delta", delta))
        return root * root

    def _alpha(self, alpha: float) -> float:
        if _alpha(alpha) >= self.largest_alpha:
            raise BadInput(f"alpha = {alpha:g}: must be less than 1/(k p_G C_s(G)) = {self.largest_alpha:g}")
        return alpha


def separation(dim: int, k: int, C: float = 1.0) -> Concept:
    """The separation class: F has √d z (p_F = 1), G 2^k powers of unit directions."""
    dim, k = _sizes(dim, k)
    if k > MOST_OUTPUTS:
        raise BadInput(f"k = {k}: must be {MOST_OUTPUTS} or less, beyond which C_s(G) is no float")
    C_G = c_s([0] * k + [_power_coefficient(k)], C)
    return Concept(k=k, p_F=1, C_F=c_s([0.0, math.sqrt(dim)], C), p_G=2**k, C_G=C_G)


def resnet_samples(dim: int, k: int, alpha: float) -> float:
    """N = k²d/α⁸ on the separation class, T at δ = α⁴; inf beyond the floats."""
    dim, k = _sizes(dim, k)
    inverse = 1.0 / _alpha(alpha)
    squared = inverse * inverse
    fourth = squared * squared
    return float(k) ** 2 * dim * fourth * fourth


def resnet_error(alpha: float, k: int | None = None, C: float = 1.0) -> float:
    """α⁴; where k is given times what stands for 2^{O(k)}, (k p_G C_s(G))⁴ of the separation class."""
    return _alpha(alpha) ** 4 * (
        1.0 if k is None else separation(checks.whole(k, "k", least=2, most=checks.MOST_WHOLE), k, C).B ** 4
    )


def kernel_samples(dim: int, k: int) -> int:
    """⌊C(d,k)/1000⌋: with no more samples kernel machines keep their risk."""
    dim, k = _sizes(dim, k)
    if min(k, dim - k) > MOST_CHOSEN:
        raise BadInput(f"k = {k}: must be at most {MOST_CHOSEN}, or dim - k")
    return math.comb(dim, k) // 1000


def kernel_features(dim: int, k: int) -> int:
    """The same number of features D, for linear regression on any of them."""
    return kernel_samples(dim, k)


def kernel_risk(alpha: float) -> float:
    """α²/16"""
    return _alpha(alpha) ** 2 / 16.0


def simple_line(k: int, alpha: float) -> float:
    """kα² = E‖αG(F)‖², what learning F alone leaves of a class whose G(F) has entries ±1."""
    return checks.whole(k, "k", least=1, most=checks.MOST_WHOLE) * _alpha(alpha, zero=True) ** 2


@dataclass(frozen=True)
class Consequence:
    """What the ResNet needs, and what is not enough for kernels, at α = d^{−power}.

    alpha: α.
    resnet_exponent, resnet_samples: the ResNet takes d^exponent samples.
    kernel_exponent, kernel_samples: kernels fail with d^exponent ≪ d^k samples.
    """

    alpha: float
    resnet_exponent: float
    resnet_samples: float
    kernel_exponent: float
    kernel_samples: float


def consequence(dim: int, k: int, power: float = 0.1) -> Consequence:
    """k constant, N = d/α⁸ = d^{1+8·power} (d^{1.8} at 0.1), and N^{k/2} for kernels.

    N^{k/2} = o(d^k) only for power < 1/8, and only for very large d is it below C(d,k)/1000: at k = 2 and 0.1 from
    d = 2000⁵ = 3.2e16 on, at k = 4 from 24000^{5/2} = 8.9e10.
    """
    dim, k = _sizes(dim, k)
    power = checks.number(power, "power")
    if not 0.0 < power < 0.125:
        raise BadInput(f"power = {power}: must be greater than 0 and less than 1/8, where N^(k/2) comes up to d^k")
    mine = 1.0 + 8.0 * power
    theirs = 0.5 * k * mine
    return Consequence(dim**-power, mine, _power(dim, mine), theirs, _power(dim, theirs))


def _power(dim: int, exponent: float) -> float:
    return float(dim) ** exponent if exponent * math.log2(dim) < 1024.0 else math.inf


def _sizes(dim: int, k: int) -> tuple[int, int]:
    dim = checks.whole(dim, "dim", least=2, most=checks.MOST_WHOLE)
    k = checks.whole(k, "k", least=2, most=checks.MOST_WHOLE)
    if k > dim:
        raise BadInput(f"k = {k}: must be 2 to dim = {dim}")
    return dim, k


def _positive(name: str, value: float) -> float:
    return checks.number(value, name, above=0)


def _alpha(alpha: float, zero: bool = False) -> float:
    return checks.number(alpha, "alpha", least=0 if zero else None, above=None if zero else 0, below=1)
