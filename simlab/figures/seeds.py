"""Repetitions on an axis: their mean as a line, their range from the least to the largest as a band.

With `MANY_SEEDS` seeds or more the band is the middle 80 % of them, because the range grows with their number.

On a logarithmic axis the mean is the geometric one. Where the trajectory of one seed ends before the others, the mean
ends too, at a cross: a mean over the remaining seeds would be one of survivors. They go on as thin lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray
from pydantic import Field

from simlab.record.reader import Results
from simlab.statistics.means import MANY_SEEDS, centre, seed_range
from simlab.statistics.sweeps import each_seed

Floats = NDArray[np.float64]
Seeds = Literal["band", "lines"]
SEEDS = Annotated[
    Seeds,
    Field(description="mean over seeds with a band (their range; of 10 or more the middle 80 %), or a line per seed"),
]
THIN_POINTS = 0.9
"""Width of the line of a single seed."""


def band(axis: Axes, x: Any, values: Floats, colour: Any) -> None:
    """The range, or middle 80 %, over seeds. The first band of an axis has an entry in the legend.

    x: (k,).
    values: (k, seeds).
    """
    count = values.shape[1]
    if count < 2:
        return
    first = not any(str(some.get_label()).startswith("band:") for some in axis.collections)
    text = f"band: {'middle 80 %' if count >= MANY_SEEDS else 'range'} of {count} seeds" if first else None
    low, high = seed_range(values)
    axis.fill_between(x, low, high, color=colour, alpha=0.18, lw=0, label=text)


def course(
    axis: Axes,
    x: Sequence[NDArray[Any]],
    y: Sequence[NDArray[Any]],
    style: str = "-",
    *,
    log: bool = False,
    geometric: bool | None = None,
    seeds: Seeds = "band",
    **look: Any,
) -> None:
    """Trajectories of one point of the sweep: a mean over seeds and a band, or a line per seed.

    Seeds that were recorded at different x have no mean: they are drawn as lines.

    x, y: one array per seed, without padding.
    style: matplotlib's format of the line, such as "o-".
    log: whether y will be logarithmic.
    geometric: whether the mean is the geometric one; by default it is on a logarithmic axis.
    seeds: mean and band, or a line per seed.
    look: matplotlib's ``color``, ``label``, ``lw``, ``ms`` …
    """
    label, look = look.pop("label", None), {"lw": 1.4, **look}
    curves = [np.asarray(values, dtype=np.float64) for values in y]
    curves = [np.where(values > 0, values, np.nan) if log else values for values in curves]
    least = min(map(len, curves))
    apart = any(not np.array_equal(one[:least], x[0][:least]) for one in x)
    if len(curves) == 1 or seeds == "lines" or apart:
        for i, (one, values) in enumerate(zip(x, curves, strict=True)):
            thin = look | ({"lw": THIN_POINTS} if len(curves) > 1 else {})
            axis.plot(one, values, style, label=None if i else label, **thin)
        return
    # Values that are not positive stay in the band, which then reaches the foot of a log axis; means are left out.
    both = np.stack([np.asarray(values, dtype=np.float64)[:least] for values in y], axis=1)
    mean = centre(both, log if geometric is None else geometric)
    axis.plot(x[0][:least], np.where(mean > 0, mean, np.nan) if log else mean, style, label=label, **look)
    band(axis, x[0][:least], both, look["color"])
    longer = [(one, values) for one, values in zip(x, curves, strict=True) if len(values) > least]
    for one, values in longer:
        axis.plot(one[least - 1 :], values[least - 1 :], style, color=look["color"], lw=THIN_POINTS)
    if longer and least:
        first = not any(str(line.get_label()).startswith("×") for line in axis.lines)
        text = "×: a seed ends, others go on" if first else None
        ended = [values[-1] for values in curves if len(values) == least]
        axis.plot([x[0][least - 1]] * len(ended), ended, "x", ms=6, color=look["color"], label=text)


def courses(
    axis: Axes,
    results: Results,
    name: str,
    at: dict[str, Any],
    style: str = "-",
    *,
    x: str = "step",
    first: int = 0,
    **rest: Any,
) -> None:
    """`course` of a recorded trajectory.

    name: what is drawn.
    at: coordinates of the point.
    style: matplotlib's format of the line, such as "o-".
    x: recorded name along the horizontal axis, or "record" for the number of the record.
    first: the record to begin with; 1 leaves out time 0, which a logarithmic axis does not have.
    rest: keywords of `course`; ``color`` is needed.
    """
    y = each_seed(results, name, at)
    places = [np.arange(len(values)) for values in y] if x == "record" else each_seed(results, x, at)
    course(axis, [one[first:] for one in places], [one[first:] for one in y], style, **rest)
