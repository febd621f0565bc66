"""When to record: the steps of a descent at which observables are measured, always with the first and the last."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

Spacing = Literal["linear", "log"]


def schedule(steps: int, records: int, spacing: Spacing) -> NDArray[np.int64]:
    """At most `records` distinct steps from 0 to `steps`."""
    if spacing == "linear":
        at = np.linspace(0, steps, records)
    else:
        at = np.concatenate([[0.0], np.geomspace(1, steps, records - 1)])
    return np.unique(np.round(at).astype(np.int64))
