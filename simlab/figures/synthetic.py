"""Made-up results for any spec, so that its figure can be drawn without a run.

Every name that the spec's points record is there, with its dimensions. The numbers mean nothing:

- floats are positive, fall along a trajectory, and differ between points and seeds;
- steps and times rise;
- ``…_low`` is below and ``…_high`` above the other numbers, ``…_total`` above all;
- exponents have two decimals.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simlab.lab.results import merged_outputs
from simlab.lab.spec import Spec
from simlab.record.reader import Results
from simlab.record.schema import RECORD

ENDS = {"_low": 0.1, "_high": 0.95, "_total": 2.0}
"""End of a name → the value of what is so named, outside the range of the other numbers."""
UNNAMED_SIZE = 3
"""Length of a dimension that has no coordinates."""
MOST_RECORDS = 6
"""Most records of a trajectory, unless asked for more."""


class SyntheticResults(Results):
    """Results of a spec that was never run.

    records: length of every trajectory; by default what the spec asks for, but at most `MOST_RECORDS`.
    values: recorded name → number or array, for names whose numbers must make sense.
    """

    def __init__(self, spec: Spec, records: int | None = None, **values: Any) -> None:
        self._spec, rng = spec, np.random.default_rng(1)
        self._names, self._read = {}, {}
        asked = spec.tables["experiment"].get("records", MOST_RECORDS)
        records = min(MOST_RECORDS, asked) if records is None else records
        sizes = {RECORD: records}
        for dimension in spec.sweep.dimensions:
            sizes[dimension.name] = dimension.size
            for name, given in dimension.coords.items():
                array = np.array(given)
                text = array.dtype.kind in "US" or array.dtype == object
                self._add(name, (dimension.name,), np.array([str(one) for one in given]) if text else array)
        axes = tuple(dimension.name for dimension in spec.sweep.dimensions)
        outputs = merged_outputs(spec)
        for output in outputs.values():
            for name, coords in output.coords.items():
                sizes[name] = len(coords)
                self._add(name, (name,), np.asarray(coords))
        self._add("length", axes, np.full([sizes[dim] for dim in axes], records))
        rising = np.arange(records) * 10
        for name, output in outputs.items():
            dims = (*axes, *output.dims)
            shape = [sizes.setdefault(dim, UNNAMED_SIZE) for dim in dims]
            if name in ("step", "time"):
                array = np.broadcast_to(rising, shape).astype(output.dtype)
            elif np.dtype(output.dtype).kind == "i":
                array = np.zeros(shape, dtype=output.dtype) if output.codes else rng.integers(1, 9, shape)
            else:
                array = rng.uniform(0.2, 0.9, shape)
                if output.is_trajectory:
                    fall = np.exp(-0.4 * np.arange(records))
                    array = array * fall.reshape(-1, *[1] * (len(output.dims) - 1))
                array = array.round(2) if name == "exponent" else array
            self._add(name, dims, array)
        values = {name: value for name in outputs for end, value in ENDS.items() if name.endswith(end)} | values
        for name, array in values.items():
            self._add(name, self._names[name], np.broadcast_to(array, self._read[name].shape))

    def _add(self, name: str, dims: tuple[str, ...], array: Any) -> None:
        self._names[name], self._read[name] = dims, array

    @property
    def attrs(self) -> dict[str, Any]:
        return {"spec": self._spec.text, "spec_hash": self._spec.hash}
