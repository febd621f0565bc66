"""What the claims about one rate for all share: every exponent near it, and panels with the lines and their fits."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from simlab.claims._numbers import exponent_numbers, short_exponents
from simlab.claims.claim import Judgement
from simlab.figures.powers import legend_below, power_line, reference_line
from simlab.figures.style import colours
from simlab.statistics.power_law import PowerLaw

RATE = -0.5
"""That of a mean of independent terms."""


def judge_rate(powers: Mapping[str, PowerLaw | None], tolerance: float) -> Judgement:
    """Whether the whole 95 % interval of every exponent lies within `tolerance` of −1/2."""
    fitted = [power for power in powers.values() if power is not None]
    holds = len(fitted) == len(powers) and all(power.within(RATE, tolerance) for power in fitted)
    worst = max(fitted, key=lambda power: abs(power.exponent - RATE), default=None)
    measured = (
        f"exponents {min(p.exponent for p in fitted):.3f} to {max(p.exponent for p in fitted):.3f} over "
        f"{len(powers)} fits, the farthest from -1/2 {worst}"
        if len(fitted) == len(powers)
        else f"no power law in {len(powers) - len(fitted)} of {len(powers)} cases"
    )
    numbers = {name: exponent_numbers(power) for name, power in powers.items()}
    short = f"exponents {short_exponents(powers.values())}, {len(powers)} fits"
    return Judgement(bool(holds), measured, {"exponents": numbers}, short)


def rate_lines(axis: Axes, x: NDArray[np.int64], lines: Mapping[str, NDArray[np.float64]]) -> None:
    """One fitted line per name, of values : (x, repetitions), and the rate as a dotted line above them."""
    for (name, values), shade, mark in zip(lines.items(), colours(len(lines)), cycle("os^D"), strict=False):
        power_line(axis, x, values, shade, name, f"{mark}-")
    reference_line(axis, x, 1.5 * max(np.mean(values, axis=-1).max() for values in lines.values()), RATE)
    legend_below(axis, "fitted exponents")
