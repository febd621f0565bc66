"""Training, validation and test inputs of one point: of a law independent draws, of a stored set rows apart.

`draw` gives inputs alone, `draw_labelled` the rows of a stored set with their labels.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from simlab.core.errors import BadInput
from simlab.core.rng import Streams
from simlab.data._rows import permuted
from simlab.data.law import Floats, Labelled, Law


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


def draw_labelled(law: Law, counts: Mapping[str, int], streams: Streams) -> dict[str, Labelled]:
    """Rows with their labels by name, in the order asked for.

    law: a stored set that carries labels.
    counts: "data", "validation" and "test" → number of rows.

    The training part is put in one random order, of the stream ``data``: validation rows first, ``data`` after them.
    Test rows come from the test part, in an order of the stream ``test``; where the set has none, they are the last
    ones of the order of the training part. So no row is in two of them, and neither does the number of test rows
    change the others, nor the number of training rows those held out.
    """
    total, apart = law.row_count(), not law.has_test_part()
    test, validation, train = (counts.get(name, 0) for name in ("test", "validation", "data"))
    if (asked := train + validation + test * apart) > total:
        words = ", ".join(f"{counts[name]} of {name}" for name in counts if apart or name != "test")
        raise BadInput(f"{asked} rows asked for ({words}): {law!r} has {total} for training, and none is drawn twice")
    order = permuted(total, total, streams["data"], repr(law))
    found = {
        "validation": law.labelled_rows(order[:validation]),
        "data": law.labelled_rows(order[validation : validation + train]),
    }
    if "test" in counts:
        found["test"] = (
            law.labelled_rows(order[total - test :]) if apart else law.sample_labelled(test, streams["test"], "test")
        )
    return {name: found[name] for name in counts}
