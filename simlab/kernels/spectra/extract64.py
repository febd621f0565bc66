"""The leading non-integer power at u = ±1 of a kernel known in float64 only: a few digits, or a refusal. MATH §4.

The differences of `extract` over t = 2^−3 … 2^−40. Smaller t means a smaller next term but more rounding; the best t
is where neighbouring exponents, carried on geometrically to their limit (Aitken), move least.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from simlab.core.errors import SimlabError
from simlab.kernels.spectra.endpoints import Endpoints
from simlab.kernels.spectra.sample import Profile64

Floats = NDArray[np.float64]

COARSEST, FINEST = 3, 40  # exponents m of t = 2^−m
KILLED = 3
"""Powers 0 … 3 are killed: a kernel that leaves t^4, or nothing, is called smooth."""

TOLERANCE = 0.01  # largest error of the exponent


def extract64(profile64: Profile64, *, noise: float = 2.0**-50) -> Endpoints:
    """ν, c₊ and c₋ from κ(t, s), for exponents below 4; `noise` is κ's relative error.

    The multiple of 1/2 or 1/2^j that the error allows is taken for the exponent.
    """
    return Endpoints.of(_end(profile64, 1, noise), _end(profile64, -1, noise))


def _limit(sequence: Floats, noise: Floats) -> tuple[float, float, int]:
    """(limit, its error, index) where a sequence that converges geometrically is known best."""
    with np.errstate(divide="ignore", invalid="ignore"):
        step = np.diff(sequence)
        ratio = step[1:] / step[:-1]
        good = (ratio > 0) & (ratio < 0.97)
        more = np.where(good, step[1:] * ratio / (1 - ratio), 0.0)
    error = np.where(good, np.abs(more), 4 * np.abs(step[1:])) + np.abs(step[1:]) * 1e-3 + noise[2:]
    best = int(np.nanargmin(error))
    return float(sequence[best + 2] + more[best]), float(error[best]), best + 2


def _end(profile64: Profile64, sign: int, noise: float) -> tuple[float, float] | None:
    t = 2.0 ** -np.arange(COARSEST, FINEST + KILLED + 2, dtype=np.float64)
    f = np.asarray(profile64(t, 2.0 - t) if sign > 0 else profile64(2.0 - t, t), dtype=np.float64)
    if not np.isfinite(f).all():
        raise SimlabError(f"the kernel's profile is not a number near u = {sign}")
    rounding = 5 * noise * float(np.abs(f).max())  # ∏(1 + 2^{−i}) < 5
    for i in range(KILLED + 1):
        f = f[1:] - 2.0**-i * f[:-1]
    t = t[: f.size]
    clear = np.abs(f) > 100 * rounding
    end = f.size if clear.all() else int(np.argmin(clear))
    f, t = f[:end], t[:end]
    with np.errstate(invalid="ignore", divide="ignore"):
        nus = np.log2(f[:-1] / f[1:])
    if nus.size >= 1 and nus[-1] > KILLED + 0.75:
        return None
    if nus.size < 4:
        if end == 0:
            return None
        raise SimlabError(f"the kernel at u = {sign}: float64 does not tell a non-integer power from rounding")
    nu, error, _ = _limit(nus, 3 * rounding / np.abs(f[1:]))
    simple = [Fraction(round(nu * 2**j), 2**j) for j in range(7) if 2.0**-j > 8 * error]
    nearest = next((float(x) for x in simple if abs(float(x) - nu) <= 2 * error + 1e-6), nu)
    if not error < TOLERANCE or nearest == round(nearest) or abs(nu - round(nu)) < 0.02:
        raise SimlabError(
            f"the kernel at u = {sign}: float64 does not tell its exponent, {nu:.3g} within {error:.1g}; "
            "a profile in Arb would"
        )
    scale = math.prod(2.0**-nearest - 2.0**-i for i in range(KILLED + 1))
    c = _limit(f / (scale * t**nearest), rounding / np.abs(scale * t**nearest))[0]
    return nearest, c
