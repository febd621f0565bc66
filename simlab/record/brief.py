"""The values of a recorded name in brief: their range over all points, at the first and the last record."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simlab.record.reader import Results
from simlab.record.schema import RECORD

MOST_NUMBERS = 20_000_000
"""Numbers that are read to be described; of a larger dataset only dimensions and text are told."""
MOST_TEXTS = 5


def brief(results: Results, name: str) -> dict[str, Any]:
    """Ranges [low, high], ready for JSON.

    first, last: of a trajectory, over all points, at each point's first and last record.
    range: of anything else.
    texts: the first different texts of a name that holds text.
    """
    shape = results.shape(name)
    if not shape:
        values = np.asarray(results[name])
        return {"range": _range(values)} if values.dtype.kind in "biuf" else {"texts": [str(values)]}
    if int(np.prod(shape)) > MOST_NUMBERS:
        return {}
    values = np.asarray(results[name])
    if values.dtype.kind not in "biuf":
        return {"texts": list(dict.fromkeys(map(str, values.ravel().tolist())))[:MOST_TEXTS]}
    dims = results.dims[name]
    if RECORD not in dims or dims == (RECORD,) or "length" not in results:
        return {"range": _range(values)}
    axis = dims.index(RECORD)
    lengths = np.asarray(results["length"]).reshape(-1)
    sound = lengths.dtype.kind == "i" and np.all(lengths <= shape[axis])
    if not sound or math.prod(shape[:axis]) != lengths.size:  # not as simlab writes it
        return {"range": _range(values)}
    # One row per point, then its records: the sweep's axes come before the records.
    points = values.reshape(lengths.size, values.shape[axis], -1)
    begun = np.flatnonzero(lengths > 0)
    return {
        "first": _range(points[begun, 0]),
        "last": _range(points[begun, lengths[begun] - 1]),
    }


def _range(values: NDArray[Any]) -> list[float] | None:
    """The smallest and the largest finite value; of integers -1, which marks no value, does not count."""
    numbers = values[np.isfinite(values)] if values.dtype.kind == "f" else values[values != -1]
    return [numbers.min().item(), numbers.max().item()] if numbers.size else None
