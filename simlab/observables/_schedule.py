"""When to record: the steps of a descent at which observables are measured, always with the first and the last."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

Spacing = Literal["linear", "log"]


def schedule(steps: int, records: int, spacing: Spacing) -> NDArray[np.int64]:
    """At most `records` distinct steps from 0 to `steps`."""
    # The logarithmic one from the last step down, so that two records are 0 and `steps`.
    log = np.append(np.geomspace(steps, 1, records - 1), 0.0)
    at = np.linspace(0, steps, records) if spacing == "linear" else log
    return np.unique(np.round(at).astype(np.int64))
