"""What the claims about rates of training share: exponents in one axis of suprema over a trajectory. MATH §6."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from numpy.typing import ArrayLike

from simlab.figures.powers import Floats, Power, fit_power, reduced
from simlab.record.reader import Results


def rate(x: ArrayLike, y: Floats) -> Power | None:
    """The fitted power of y : (k, repetitions), its interval wide enough for the repetitions and for the fit.

    Repetitions alone would call a curve that bends the same way in each of them a precise power law.
    """
    over_seeds, of_fit = fit_power(x, y), fit_power(x, y.mean(axis=1))
    if over_seeds is None or of_fit is None:
        return None
    half = max(over_seeds.high - over_seeds.low, of_fit.high - of_fit.low) / 2
    return replace(over_seeds, low=over_seeds.exponent - half, high=over_seeds.exponent + half)


def sup_rate(results: Results, axis: str, name: str, at: Mapping[str, Any]) -> Power | None:
    """The exponent in `axis` of the supremum of a trajectory; the seeds are the repetitions."""
    return rate(results[axis], reduced(results, name, at, "largest"))
