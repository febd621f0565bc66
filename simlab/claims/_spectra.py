"""What the claims about spectra share: the points of a sweep of kernels, and measured over predicted eigenvalues."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simlab.record.reader import Results

Floats = NDArray[np.float64]


def points(results: Results) -> Iterator[dict[str, Any]]:
    """The coordinates of every point of the sweep."""
    dims = results.dims["trace"]
    for values in itertools.product(*(results[dim].tolist() for dim in dims)):
        yield dict(zip(dims, values, strict=True))


def number(results: Results, name: str, at: dict[str, Any]) -> float:
    return float(results.select(name, at))


def over_predicted(results: Results, at: dict[str, Any]) -> Floats:
    """μ_k over the end points' prediction a degree; NaN at exact zeros and where nothing is predicted."""
    measured, law = results.select("log10_eigenvalue", at), results.select("log10_predicted", at)
    both = np.isfinite(measured) & np.isfinite(law)
    return np.asarray(10.0 ** np.where(both, measured - np.where(both, law, 0.0), np.nan))


def label(at: dict[str, Any]) -> str:
    """``ntk, depth 3, dim 10``"""
    kind = [str(at["kernel.kind"])] if "kernel.kind" in at else []
    return ", ".join([*kind, *(f"{key.rpartition('.')[2]} {at[key]}" for key in at if key != "kernel.kind")])
