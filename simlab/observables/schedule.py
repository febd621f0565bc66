"""When to record: the instants of a flow at which observables are measured, always with the first and the last.

- linear: at equal distances;
- log: at equal ratios, from the last instant down, and at 0;
- listed: at the given instants, at 0, and at the last.

`schedule` is for a descent, which counts steps, `instants` for a flow in time. Where rounding gives a step twice it is
recorded once, so there may be fewer records than asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from simlab.core.errors import shown

Spacing = Literal["linear", "log", "listed"]


def schedule(steps: int, records: int, spacing: Spacing, listed: Sequence[int] = ()) -> NDArray[np.int64]:
    """The steps to record, (r,) and increasing.

    steps: the last step.
    records: the most steps to record, 0 and the last among them; not used where they are listed.
    listed: steps to record beside 0 and the last, with spacing = "listed".
    """
    if spacing == "listed":
        return np.unique(np.array([0, *listed, steps], dtype=np.int64))
    # geomspace goes from the last step down, so that with records = 2 these are 0 and `steps`.
    log = np.append(np.geomspace(steps, 1, records - 1), 0.0)
    at = np.linspace(0, steps, records) if spacing == "linear" else log
    return np.unique(np.round(at).astype(np.int64))


def instants(
    last: float, records: int, spacing: Spacing, first: float, listed: Sequence[float] = ()
) -> NDArray[np.float64]:
    """The times to record, (r,) and increasing.

    last: the last time.
    records, listed: as in `schedule`, times instead of steps.
    first: the first time after 0, with spacing = "log".
    """
    if spacing == "listed":
        return np.unique(np.array([0.0, *listed, last], dtype=np.float64))
    if spacing == "linear":
        return np.linspace(0.0, last, records)
    at = np.append(np.minimum(np.geomspace(last, min(first, last), records - 1), last), 0.0)
    at[0] = last  # exactly: geomspace rounds
    return np.unique(at)


def check_listed(listed: Sequence[float], spacing: Spacing, last: float, key: str = "listed") -> None:
    """Raise ValueError, naming `key`, where listed instants are given but not used, or missing, or out of range.

    listed: steps or times.
    last: the last step or time.
    """
    if (spacing == "listed") is not (len(listed) > 0):
        wanted = "give the instants to record" if spacing == "listed" else 'only with spacing = "listed"'
        raise ValueError(f"{key} = {shown(list(listed))}: {wanted}")
    for instant in listed:
        if not 0 <= instant <= last:
            raise ValueError(f"{key} = {shown(list(listed))}: {instant} is not between 0 and the last, {last}")
