"""Results put together by hand, where a test says which numbers were recorded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simlab.record.reader import Results
from simlab.record.schema import RECORD


class StandInResults(Results):
    """Results that no run recorded.

    coords: axis → its values.
    recorded: name → (its dimensions, values); values alone lie along all axes in their order, then along the records.
    zipped: coordinate → (the axis that it lies on, values).
    spec: TOML text of the run.
    """

    def __init__(
        self,
        coords: Mapping[str, ArrayLike],
        recorded: Mapping[str, Any],
        zipped: Mapping[str, tuple[str, ArrayLike]] | None = None,
        spec: str = "",
    ) -> None:
        self.attrs = {"spec": spec}
        self._names = {name: (name,) for name in coords}
        self._read = {name: np.array(values) for name, values in coords.items()}
        for name, (axis, values) in (zipped or {}).items():
            self._names[name], self._read[name] = (axis,), np.array(values)
        for name, given in recorded.items():
            dims, values = given if isinstance(given, tuple) else ((*coords, RECORD)[: np.ndim(given)], given)
            self._names[name], self._read[name] = dims, np.array(values)
            if RECORD in dims and "length" not in recorded:  # every trajectory is as long as its array
                *outer, records = self._read[name].shape[: dims.index(RECORD) + 1]
                self._names["length"], self._read["length"] = dims[: len(outer)], np.full(outer, records)
        self._names.setdefault("length", ())

    def __setitem__(self, name: str, values: NDArray[Any]) -> None:
        self._read[name] = values

    def transpose(self, name: str, dims: tuple[str, ...]) -> None:
        """Store a name with its dimensions in another order."""
        self._read[name] = self[name].transpose([self.dims[name].index(dim) for dim in dims])
        self._names[name] = dims
