"""Training, validation and test inputs of one point: of a law independent draws, of a stored set rows apart."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from simlab.core.rng import Streams
from simlab.data.law import Floats, Law


def draw(law: Law, counts: Mapping[str, int], streams: Streams) -> dict[str, Floats]:
    """Inputs by name, in the order asked for, each from the stream of that name.

    law: where inputs come from.
    counts: name of a stream → number of inputs.

    Of a `finite` law all come from one random order of its rows, the stream ``data``: those held out first, ``data``
    last, so that no row is in two of them and more training inputs change none of the others.
    """
    if not law.finite:
        return {name: law.sample(n, streams[name]) for name, n in counts.items()}
    order = sorted(counts, key=lambda name: name == "data")
    X = law.sample(sum(counts.values()), streams["data"])
    ends = np.cumsum([counts[name] for name in order])[:-1]
    parts = dict(zip(order, np.split(X, ends), strict=True))
    return {name: np.ascontiguousarray(parts[name]) for name in counts}
