"""What an experiment declares of each number it records, and the version of the file formats."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

SEGMENT_SCHEMA = 1
RESULTS_SCHEMA = 1
RECORD = "record"
RESERVED = ("length", "status", "error", "seed", "entry")
"""Names that results.h5 uses itself: no output may have them."""


@dataclass(frozen=True)
class Output:
    """One recorded name. `dims` are the dimensions after the sweep's axes.

    A trajectory has ``record`` as its first dimension and gets one row a record; without it the value is given once
    a point. `coords` holds the coordinate values of dimensions other than ``record`` where they have any, `codes` what
    the values of an integer stand for, in words.
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

    @property
    def is_trajectory(self) -> bool:
        return self.dims[:1] == (RECORD,)

    @property
    def inner(self) -> tuple[str, ...]:
        """The dimensions of one row."""
        return self.dims[1:] if self.is_trajectory else self.dims


def fill_value(dtype: np.dtype[Any]) -> Any:
    """What stands where a point has no value: NaN in floats, -1 in integers."""
    return np.nan if dtype.kind == "f" else -1
