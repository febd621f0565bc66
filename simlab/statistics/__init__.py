"""statistics: what is read out of recorded numbers. Judges decide by it, figures draw it.

power_law: exponents and their intervals; slopes.
means: means over repetitions, their standard errors and ranges.
sweeps: numbers of a sweep: its points, means over seeds, ends and suprema of trajectories.
degrees: the power of a residual by degree.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simlab.core import catalogue
from simlab.statistics.degrees import degrees_present, predicted_slope
from simlab.statistics.means import centre, seed_range, standard_error
from simlab.statistics.power_law import (
    PowerLaw,
    fit_cautious_power,
    fit_power,
    fit_weighted_power,
    slope,
    slope_through_origin,
)
from simlab.statistics.sweeps import each_seed, last_or_largest, mean_over_seeds, points_of, setting, sup_power

__all__ = [
    "PowerLaw",
    "centre",
    "degrees_present",
    "each_seed",
    "fit_cautious_power",
    "fit_power",
    "fit_weighted_power",
    "last_or_largest",
    "mean_over_seeds",
    "points_of",
    "predicted_slope",
    "seed_range",
    "setting",
    "slope",
    "slope_through_origin",
    "standard_error",
    "sup_power",
]

if not TYPE_CHECKING:  # mypy reads the files themselves
    __getattr__, __dir__ = catalogue.attributes(__name__)
