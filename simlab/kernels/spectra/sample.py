"""Values of a kernel's profile κ(u) to a stated number of digits, and their fixed-point form."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from flint import arb, ctx, fmpz
from numpy.typing import NDArray

from simlab.core.errors import BadInput, SimlabError

Profile = Callable[[list[arb]], list[arb]]
"""κ at a list of cosines, at FLINT's current precision."""

Profile64 = Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]]
"""κ(t, s) in float64 at u = 1 − t = s − 1."""

LOG2_10 = math.log2(10)


def check_sphere(dim: int, max_degree: int) -> None:
    """Refuse what is no dimension of a sphere, or no degree."""
    if dim < 2:
        raise BadInput(f"dim = {dim}: a sphere needs dimension 2 or more")
    if max_degree < 0:
        raise BadInput(f"max_degree = {max_degree}: a degree is 0 or more")


def log2(x: arb) -> float:
    """log2 |x| of a midpoint, −inf for 0; no overflow."""
    mantissa, exponent = x.mid().man_exp()
    return math.log2(abs(int(mantissa))) + int(exponent) if mantissa != 0 else -math.inf


def fixed(x: arb, bits: int) -> fmpz:
    """⌊x 2^bits⌋ of the midpoint."""
    mantissa, exponent = x.mid().man_exp()
    shift = int(exponent) + bits
    return fmpz(mantissa) << shift if shift >= 0 else fmpz(mantissa) >> -shift


def sample(profile: Profile, points: Callable[[], list[arb]], digits: int) -> tuple[list[arb], list[arb], arb]:
    """(points, κ, max|κ|), every ball of κ narrower than 10^−digits · max|κ|.

    points: gives the cosines at FLINT's current precision; called again whenever more digits are needed. Near ±1 an
        arccos costs half of its digits: the balls' radii say how many more are needed.
    """
    bits = math.ceil(digits * LOG2_10) + 32
    for _ in range(10):
        with ctx.workprec(bits):
            us = points()
            values = profile(us)
        if len(values) != len(us):
            raise SimlabError(f"the kernel's profile gave {len(values)} values for {len(us)} cosines")
        bad = next((u for u, v in zip(us, values, strict=True) if not v.is_finite()), None)
        lost = bits / 2.0
        if bad is None:
            scale = max(abs(v.mid()) for v in values)
            lost = max(log2(v.rad()) for v in values) - log2(scale) + digits * LOG2_10 if scale > 0 else -1.0
            if lost <= 0.0:
                return us, values, scale
        bits += math.ceil(min(lost, float(bits))) + 32
    where = "" if bad is None else f": it is not a number at u = {bad.mid().str(10, radius=False)}"
    raise SimlabError(f"the kernel's profile cannot be evaluated to {digits} digits{where}")


def at_end(profile: Profile, sign: int, digits: int) -> arb:
    """κ(±1) in a ball narrower than 10^−digits of its size, or of 1 if that is more.

    A recursion may fail at the point itself, where a correlation rounded beyond 1 has no arccos. κ is continuous: then
    it is taken at u = ±(1 − 2^−m), with m doubled until the value no longer moves.
    """
    goal, width = -digits * LOG2_10, math.ceil(digits * LOG2_10)
    with ctx.workprec(width + 64):
        value = profile([arb(sign)])[0]
    if value.is_finite() and log2(value.rad()) < max(log2(value), 0.0) + goal:
        return value
    before, m = None, 2 * width
    while m < 1 << 18:
        with ctx.workprec(2 * m + width + 64):  # √(1 − u²) takes half of them
            value = profile([sign * (1 - arb((1, -m)))])[0]
            if before is not None and value.is_finite():
                moved = log2(abs(value - before).upper())
                if moved < max(log2(value), 0.0) + goal:
                    return value + arb(0, abs(value - before).upper())
            before, m = (value if value.is_finite() else None), 2 * m
    raise SimlabError(f"the kernel's profile cannot be evaluated to {digits} digits at u = {sign}")
