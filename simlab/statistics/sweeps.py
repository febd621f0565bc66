"""Numbers of a sweep: its points, what its spec says, means over seeds, ends and suprema of trajectories."""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from simlab.record.reader import Results
from simlab.record.schema import RECORD
from simlab.statistics.means import standard_error
from simlab.statistics.power_law import PowerLaw, fit_cautious_power

Floats = NDArray[np.float64]
Where = dict[str, Any]
"""Coordinates of a point: name of an axis → value."""


def points_of(results: Results, name: str, without: tuple[str, ...] = ()) -> Iterator[Where]:
    """The coordinates of every point along the sweep's axes that `name` has, but those in `without`."""
    inner = {"degree", "ridge", *without}
    dims = [dim for dim in results.dims[name] if dim not in inner]
    for values in itertools.product(*(results[dim].tolist() for dim in dims)):
        yield dict(zip(dims, values, strict=True))


def setting(results: Results, table: str, key: str) -> Any:
    """What the spec of a run says under ``[table] key``; None where it says nothing, or the sweep changes it."""
    if f"{table}.{key}" in results:
        return None
    return tomllib.loads(str(results.attrs.get("spec", ""))).get(table, {}).get(key)


def mean_over_seeds(results: Results, name: str, at: Mapping[str, Any]) -> tuple[Floats, Floats]:
    """The mean over seeds at these coordinates, and its standard error (0 where there are no seeds)."""
    values = results.select(name, at)
    dims = [dim for dim in results.dims[name] if dim not in {results.dims[key][0] for key in at}]
    if "seed" not in dims:
        return values, np.zeros_like(values)
    axis, count = dims.index("seed"), values.shape[dims.index("seed")]
    mean = values.mean(axis=axis)
    return mean, standard_error(values, axis) if count > 1 else np.zeros_like(mean)


def each_seed(results: Results, name: str, at: Mapping[str, Any]) -> list[NDArray[Any]]:
    """A trajectory at these coordinates, without padding, of every seed; of one where the sweep has none."""
    if "seed" not in results.dims["length"] or "seed" in at:
        return [results.select(name, at)]
    return [results.select(name, {**at, "seed": seed}) for seed in results["seed"].tolist()]


def last_or_largest(
    results: Results, name: str, at: Mapping[str, Any], of: Literal["end", "largest"] = "largest"
) -> Floats:
    """A recorded name at these coordinates, reduced to one number per trajectory: its last or its largest."""
    values = np.asarray(results.select(name, at), dtype=np.float64)
    if RECORD not in results.dims[name]:
        return values
    if not values.shape[-1]:  # every point failed
        return np.full(values.shape[:-1], np.nan)
    recorded = np.asarray(results.select("length", at))[..., np.newaxis] - 1
    if of == "end":
        return np.asarray(np.take_along_axis(values, recorded, axis=-1)[..., 0])
    # A NaN that was recorded stays one, so does a point without records; padding behind a trajectory does not count.
    counts = (np.arange(values.shape[-1]) <= recorded) | (recorded < 0)
    return np.asarray(np.where(counts, values, -np.inf).max(axis=-1))


def sup_power(results: Results, axis: str, name: str, at: Mapping[str, Any]) -> PowerLaw | None:
    """The power law in `axis` of the supremum of a trajectory; the seeds are the repetitions."""
    return fit_cautious_power(results[axis], last_or_largest(results, name, at, "largest"))
