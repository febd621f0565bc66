"""Training, validation and test inputs of one point: of a law independent draws, of a stored set rows apart."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from simlab.core.params import Params, module_of
from simlab.core.rng import Streams


def draw(params: Params, counts: Mapping[str, int], streams: Streams) -> dict[str, NDArray[np.float64]]:
    """Inputs by name, in the order asked for, each from the stream of that name.

    Of a kind that is ``FINITE`` all come from one random order of its rows, the stream ``data``: those held out first,
    ``data`` last, so that no row is in two of them and more training inputs change none of the others.
    """
    module = module_of(params)
    if not getattr(module, "FINITE", False):
        return {name: module.sample(params, n, streams[name]) for name, n in counts.items()}
    order = sorted(counts, key=lambda name: name == "data")
    X = module.sample(params, sum(counts.values()), streams["data"])
    ends = np.cumsum([counts[name] for name in order])[:-1]
    parts = dict(zip(order, np.split(X, ends), strict=True))
    return {name: np.ascontiguousarray(parts[name]) for name in counts}
