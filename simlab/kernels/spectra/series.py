"""Eigenvalues of exp(−c(1−u)^γ) on the sphere by their exact series, no quadrature. MATH §4.

μ_k = Σ_j (−c)^j/j! · m_k(γj),  m_k(ν) = 2^{d+ν−2} Γ(d/2) Γ(ν+(d−1)/2)/√π · (−ν)_k/Γ(k+ν+d−1),
the eigenvalue of (1−u)^ν in the form that allows integer ν (it is then 0 for k > ν: the sum starts at j = k for the
Gaussian). Every term follows the one before, m_{k+1}(ν) = m_k(ν)·(k−ν)/(k+ν+d−1). |m_k(ν)| ≤ 2^ν bounds what is left
after J terms by x^J/J!/(1 − x/(J+1)), x = c 2^γ. Terms cancel (by e^{2x} at least): they are balls, whose width is
the error, and digits are added until it is small at every degree: rounding is bounded, not estimated.
"""

from __future__ import annotations

import math

import numpy as np
from flint import arb, ctx

from simlab.core.errors import BadInput, SimlabError
from simlab.kernels.spectra.result import Eigenvalues
from simlab.kernels.spectra.sample import LOG2_10, check_sphere, log2
from simlab.sphere.multiplicity import log10_multiplicity

MAX_DIGITS = 12_000


def power_exponential_eigenvalues(
    c: float, gamma: float, dim: int, max_degree: int, rtol: float = 1e-15
) -> Eigenvalues:
    """μ_0 … μ_{max_degree} of exp(−c(1−u)^γ) on S^{dim−1}, relative error ≤ rtol/100."""
    check_sphere(dim, max_degree)
    if not (math.isfinite(c) and math.isfinite(gamma) and gamma > 0):
        raise BadInput(f"c = {c}, gamma = {gamma}: both must be finite and gamma positive")
    if c == 0:
        return Eigenvalues([arb(1), *[arb(0)] * max_degree], np.zeros(max_degree + 1), 0, 0, "series")
    goal = rtol / 100
    x = abs(c) * 2.0**gamma
    guess = _log10_smallest(c, gamma, dim, max_degree)
    digits = math.ceil(30 - math.log10(goal) + 2 * x / math.log(10) + guess)
    worst = max_degree
    while digits <= MAX_DIGITS:
        tail = math.ceil(x / math.log(10)) - digits  # log10 of what may be left out
        terms = _count(x, tail)
        with ctx.workprec(math.ceil(digits * LOG2_10) + 64):
            values = [v + arb(0, arb(10) ** tail) for v in _sums(c, gamma, dim, max_degree, terms)]
        logs = [(log2(v.rad()), log2(v)) for v in values]
        errors = np.array([2.0 ** min(width - size, 1000.0) for width, size in logs])
        worst = int(np.argmax(errors))
        if errors[worst] <= goal:
            return Eigenvalues([v.mid() for v in values], errors, digits, terms, "series")
        # A ball around 0 does not tell how small the eigenvalue is.
        digits += math.ceil(math.log10(errors[worst] / goal)) + 10 if errors[worst] < 1.0 else digits
    raise SimlabError(
        f"exp(-c(1-u)^gamma), c = {c}, gamma = {gamma}: degree {worst} in dimension {dim} needs {digits} digits, more "
        f"than the {MAX_DIGITS} that are tried; use a smaller c or fewer degrees"
    )


def _log10_smallest(c: float, gamma: float, dim: int, degree: int) -> float:
    """−log10 |μ_K|, roughly: N μ ~ K^{−2γ−1} for a power, c^K/(2^K (d/2)_K) for the Gaussian."""
    if gamma == round(gamma):
        rising = math.lgamma(dim / 2 + degree) - math.lgamma(dim / 2)
        return max(0.0, (rising + degree * math.log(2 / abs(c)) + abs(c)) / math.log(10)) + 5
    size = log10_multiplicity(dim, degree) + (2 * gamma + 1) * math.log10(degree + 1) + 5
    return size + max(0.0, -math.log10(abs(c)))


def _count(x: float, log10_tail: float) -> int:
    """Terms J for which x^J/J!/(1 − x/(J+1)) < 10^log10_tail."""
    count = max(8, math.ceil(2 * x))
    while count * math.log(max(x, 1e-300)) - math.lgamma(count + 1) + math.log(2) > log10_tail * math.log(10):
        count += max(1, count // 8)
    return count


def _sums(c: float, gamma: float, dim: int, max_degree: int, terms: int) -> list[arb]:
    """Σ_{j<terms} for every degree, in balls at FLINT's current precision."""
    half = arb(dim) / 2
    nus = [arb(gamma) * j for j in range(terms)]
    constant = arb(2) ** (dim - 2) * half.gamma() / arb.pi().sqrt()
    two, shift, rate = arb(2) ** arb(gamma), half - arb(1) / 2, arb(-c)
    coefficient, column = constant, []
    for j, nu in enumerate(nus):
        if j > 0:
            coefficient *= rate * two / j
        column.append(coefficient * (nu + shift).gamma() * (nu + dim - 1).rgamma())
    sums = []
    for k in range(max_degree + 1):
        sums.append(sum(column, arb(0)))
        column = [m * (k - nu) / (nu + (k + dim - 1)) for m, nu in zip(column, nus, strict=True)]
    return sums
