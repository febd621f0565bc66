"""The leading non-integer power of a kernel at u = ±1, found by numbers. MATH §4.

f(t) = κ(±(1−t)) at t = 2^{−m}, 2^{−m−1}, …: the difference f(t/2) − 2^{−i} f(t) kills t^i and multiplies t^ν by
2^{−ν} − 2^{−i}. After i = 0 … p what is left is c t^ν ∏(2^{−ν} − 2^{−i}) and smaller terms: two neighbours give ν, then
one gives c. The next term is t^δ smaller: with m doubled until ν stands still to 1e-9 its error at 2m is about 1e-16.
Kernels smooth up to order p have nothing left but t^{p+1}.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

from flint import arb, ctx

from simlab.core.errors import SimlabError
from simlab.kernels.spectra.endpoints import Endpoints
from simlab.kernels.spectra.sample import Profile, log2

ORDER = 8
"""Integer powers killed at first: a kernel without a non-integer power below t^9 is called smooth."""

START_EXPONENT, MAX_EXPONENT = 160, 1 << 15  # of 2 in t = 2^−m
MAX_BITS = 1 << 17


def extract(profile: Profile) -> Endpoints:
    """ν, c₊ and c₋ of κ = `profile`, to about 15 digits; None for ν where κ is smooth at both ends."""
    return Endpoints.of(_end(profile, 1), _end(profile, -1))


def _remainder(profile: Profile, sign: int, m: int, order: int) -> list[arb]:
    """Three neighbours of f after the powers 0 … order are killed, t = 2^{−m}, 2^{−m−1}, 2^{−m−2}."""
    # t^{order+1} must be seen; balls tell where the recursion took more digits than were there.
    bits = (order + 4) * (m + order + 4) + 256
    while True:
        with ctx.workprec(bits):
            values = profile([sign * (1 - arb((1, -m - j))) for j in range(order + 4)])
            if all(v.is_finite() for v in values):
                goal = max(log2(v) for v in values) - (order + 1) * (m + order + 4) - 64
                for i in range(order + 1):
                    values = [b - a * arb((1, -i)) for a, b in itertools.pairwise(values)]
                if all(v.rad() == 0 or log2(v.rad()) < goal for v in values):
                    return values
        bits *= 2
        if bits > MAX_BITS:
            raise SimlabError(f"the kernel's profile is not a number near u = {sign}, or not to {bits // 2} bits")


def _exponent(values: list[arb]) -> float | None:
    """log2 of the ratio of neighbours; None where rounding is all that is left."""
    if any(v.mid() == 0 or log2(v.rad()) > log2(v) - 60 for v in values):
        return None
    with ctx.workprec(128):
        return float((values[0] / values[1]).log() / arb(2).log()) if values[0] / values[1] > 0 else math.nan


def _end(profile: Profile, sign: int) -> tuple[float, float] | None:
    """(ν, c) at u = `sign`, or None."""
    rough = _exponent(_remainder(profile, sign, START_EXPONENT, ORDER))
    if rough is None or rough > ORDER + 0.5:
        return None
    if math.isnan(rough):
        rough = float(ORDER)
    m, before, order = START_EXPONENT, rough, min(ORDER, math.ceil(rough) + 1)
    while m < MAX_EXPONENT:
        m *= 2
        values = _remainder(profile, sign, m, order)
        nu = _exponent(values)
        if nu is None or not math.isfinite(nu):
            break
        if abs(nu - before) < 1e-9:
            nu = _recognised(nu)
            if nu == round(nu):
                break
            return nu, _coefficient(values[0], m, nu, order)
        before = nu
    raise SimlabError(
        f"the kernel at u = {sign}: neither smooth nor led by one non-integer power of t (the exponent was last "
        f"{before:.6g}); a logarithm, or two powers that lie too close"
    )


def _recognised(nu: float) -> float:
    """The simple fraction or short decimal within 1e-13, else the number itself."""
    for candidate in (
        Fraction(nu).limit_denominator(64),
        Fraction(round(nu * 4096), 4096),
        Fraction(repr(round(nu, 9))),
    ):
        if abs(float(candidate) - nu) < 1e-13:
            return float(candidate)
    return nu


def _coefficient(value: arb, m: int, nu: float, order: int) -> float:
    """c of c t^ν ∏_{i ≤ order} (2^{−ν} − 2^{−i}) = value at t = 2^{−m}."""
    with ctx.workprec(256):
        half = arb(2) ** -arb(nu)
        for i in range(order + 1):
            value = value / (half - arb((1, -i)))
        return float(value * arb(2) ** (arb(nu) * m))
