"""What the claims about spectra share: the points of a sweep of kernels, and measured over predicted eigenvalues."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from simlab.figures.spectra import compensated_axes, eigenvalue_axes, eigenvalue_lines, law_power
from simlab.record.reader import Results
from simlab.statistics.sweeps import points_of

Floats = NDArray[np.float64]

RELU_SPEC = """
[experiment]
kind = "spectrum"
seed = 1
max_degree = {degree}
[kernel]
activation = "relu"
[sweep]
"kernel.kind" = ["nngp", "ntk"]
"kernel.depth" = {depths}
"experiment.dim" = {dims}
"""


def kernels_of(results: Results) -> Iterator[dict[str, Any]]:
    """The coordinates of every kernel and dimension of the sweep."""
    return points_of(results, "trace")


def number(results: Results, name: str, at: dict[str, Any]) -> float:
    return float(results.select(name, at))


def over_predicted(results: Results, at: dict[str, Any]) -> Floats:
    """μ_k over the end points' prediction, for each degree; NaN at exact zeros and where nothing is predicted."""
    measured, law = results.select("log10_eigenvalue", at), results.select("log10_predicted", at)
    both = np.isfinite(measured) & np.isfinite(law)
    return np.asarray(10.0 ** np.where(both, measured - np.where(both, law, 0.0), np.nan))


def decay_panels(
    pair: tuple[Axes, Axes],
    source: Results,
    lines: list[tuple[dict[str, Any], Any, str]],
    title: str,
    claimed: float = np.nan,
) -> None:
    """Eigenvalues in the largest dimension above, compensated ones, μ_k k^p, in the smallest below.

    lines: coordinates of a kernel but the dimension, its colour, its name. The law in its plain form k^{−p} is reached
    for k ≫ d² alone: hence the smallest dimension. claimed: ν to compensate by where a kernel, a control's, has none.
    """
    above, below = pair
    dims, laws = source["experiment.dim"], set()
    low, high = int(dims.min()), int(dims.max())
    for at, shade, text in lines:
        for axis, dim in ((above, high), (below, low)):
            here = at | {"experiment.dim": dim}
            log10, law = source.select("log10_eigenvalue", here), source.select("log10_predicted", here)
            own = number(source, "exponent", here)
            power = law_power(dim, own if np.isfinite(own) else claimed) if axis is below else 0.0
            if np.isfinite(power):
                eigenvalue_lines(axis, source["degree"], log10, law, shade, text, power)
                laws |= {power} if axis is below else set()
    eigenvalue_axes(above, f"{title}, $d = {high}$")
    compensated_axes(below, low, min(laws, default=np.nan), law="p" if len(laws) > 1 else "")


def label(at: dict[str, Any]) -> str:
    """``ntk, depth 3, dim 10``"""
    kind = [str(at["kernel.kind"])] if "kernel.kind" in at else []
    return ", ".join([*kind, *(f"{key.rpartition('.')[2]} {at[key]}" for key in at if key != "kernel.kind")])
