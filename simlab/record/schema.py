"""What an experiment declares of each number it records, and the version of the file formats.

The attributes of a dataset in results.h5 follow the CF conventions (https://cfconventions.org), which xarray, Panoply
and others read: ``long_name``, ``units``, ``_FillValue``, ``flag_values`` with ``flag_meanings``, ``coordinates``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

SEGMENT_SCHEMA = 2
RESULTS_SCHEMA = 1
RECORD = "record"
COORDINATES = ("step", "time")
"""Trajectories that say where along the flow a record lies: coordinates of every other trajectory."""
MISSING = "missing_count"
"""Attribute of an integer output: how many of its values are the fill value -1."""
SEGMENTS = "segments"
"""Attribute of results.h5: a JSON list of the segments that it was made from, each with its name and checksum."""
CHECKSUMS = "checksums"
"""Attribute of results.h5: JSON, the checksum of each of its other attributes that is a text."""
RESERVED = ("length", "status", "error", "seed", "entry")
"""Names that results.h5 uses itself: no output may have them."""


@dataclass(frozen=True)
class Output:
    """One recorded name.

    A trajectory has ``record`` as its first dimension and gets one row per record. Anything else is recorded once per
    point.

    description: what it is.
    dims: dimensions, after the sweep's axes.
    unit: unit of its values; "" for none.
    dtype: a float or a signed integer.
    coords: dimension → coordinate values, of dimensions other than ``record`` that have any.
    codes: of an integer, value → what it stands for; added to the description.
    """

    description: str
    dims: tuple[str, ...] = ()
    unit: str = ""
    dtype: str = "float64"
    coords: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    codes: Mapping[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if np.dtype(self.dtype).kind not in "fi":
            raise ValueError(f"dtype {self.dtype!r}: must be a float or a signed integer, as NaN and -1 mark no value")
        flags(self.codes, np.dtype(self.dtype))  # refuses codes without words

    @property
    def is_trajectory(self) -> bool:
        """Whether it is recorded once per record, not once per point."""
        return self.dims[:1] == (RECORD,)

    @property
    def inner(self) -> tuple[str, ...]:
        """The dimensions of one row."""
        return self.dims[1:] if self.is_trajectory else self.dims

    def attributes(self) -> dict[str, Any]:
        """What results.h5 says of the dataset."""
        words = "; ".join(f"{code}: {text}" for code, text in self.codes.items())
        found = {"long_name": self.description, "description": ". ".join(filter(None, (self.description, words)))}
        if self.unit:
            found["units"] = self.unit
        return {**found, **flags(self.codes, np.dtype(self.dtype))}


def flags(codes: Mapping[int, str], dtype: np.dtype[Any]) -> dict[str, Any]:
    """The CF attributes of a dataset of codes; meanings are single words of ASCII, separated by blanks."""
    if not codes:
        return {}
    words = [re.sub(r"[^0-9A-Za-z.+@-]+", "_", text).strip("_.") for text in codes.values()]
    if "" in words or len(set(words)) < len(words):
        raise ValueError(f"codes {dict(codes)}: each must have a meaning of its own, in ASCII letters")
    return {"flag_values": np.array(list(codes), dtype=dtype), "flag_meanings": " ".join(words)}


def fill_value(dtype: np.dtype[Any]) -> Any:
    """What stands where a point has no value: NaN in floats, -1 in integers."""
    return np.nan if dtype.kind == "f" else -1
