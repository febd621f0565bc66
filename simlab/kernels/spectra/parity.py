"""Which eigenvalues are exactly 0: an even or odd part of κ that is a polynomial. MATH §4.

P_k has the parity of k, so μ_k sees only κ(u) ± κ(−u), and is 0 where this part is a polynomial of degree below k: a
constant, c·u (ReLU of depth 2: odd k ≥ 3 vanish), 0. In v = u² the even part, and the odd part over u, are then
polynomials; Newton's divided differences over 24 values of v vanish from one on. They are formed in balls of 300
digits: a part that is not a polynomial shows a difference that is not 0, unless it lies below 10^−200.
"""

from __future__ import annotations

import itertools

from flint import arb, ctx, fmpq

from simlab.core.errors import SimlabError
from simlab.kernels.spectra.sample import Profile, sample

POINTS = 24
SPARE = 8
"""Differences that must vanish before a part is taken for a polynomial: degrees up to 2 · (24 − 8 − 1) are seen."""


def differences(values: list[arb], points: list[fmpq]) -> list[arb]:
    """Newton's divided differences [v_0], [v_0 v_1], … of the values."""
    column = list(values)
    result = [column[0]]
    for order in range(1, len(points)):
        column = [(b - a) / arb(points[i + order] - points[i]) for i, (a, b) in enumerate(itertools.pairwise(column))]
        result.append(column[0])
    return result


def _terms(values: list[arb], points: list[fmpq]) -> int | None:
    """Number of terms of the polynomial in v through all values, 0 for the zero polynomial; None: it is not one."""
    nonzero = [i for i, difference in enumerate(differences(values, points)) if not difference.contains(0)]
    terms = nonzero[-1] + 1 if nonzero else 0
    return terms if terms <= POINTS - SPARE else None


def vanishing(profile: Profile, digits: int) -> tuple[int | None, int | None]:
    """(first even degree, first odd degree) from which on every μ_k of that parity is exactly 0; None: none is."""
    cosines = [fmpq(2 * i + 1, 2 * POINTS + 2) for i in range(POINTS)]
    _, kappa, scale = sample(profile, lambda: [arb(u) for u in cosines] + [arb(-u) for u in cosines], digits)
    if not scale > 0:
        return 0, 1
    with ctx.workdps(2 * digits):
        pairs = list(zip(cosines, kappa[:POINTS], kappa[POINTS:], strict=True))
        squares = [u * u for u in cosines]
        even = _terms([a + b for _, a, b in pairs], squares)
        odd = _terms([(a - b) / arb(u) for u, a, b in pairs], squares)
    return None if even is None else 2 * even, None if odd is None else 2 * odd + 1


def _vanishing(profile: Profile) -> tuple[int | None, int | None]:
    """`vanishing` at 60 digits, which settles a part that is no polynomial; one that looks like it is looked at again.

    A profile that is a series (tanh, softplus) cannot be had to 300 digits: there the first look stands.
    """
    first = vanishing(profile, 60)
    if first == (None, None):
        return first
    try:
        return vanishing(profile, 300)
    except SimlabError:
        return first


def wanted(profile: Profile, max_degree: int, degree: int | None) -> list[bool]:
    """For k = 0 … max_degree whether μ_k may differ from 0; `degree` is that of κ where it is a polynomial."""
    first = _vanishing(profile)
    return [
        (degree is None or k <= degree) and ((bound := first[k & 1]) is None or k < bound)
        for k in range(max_degree + 1)
    ]
