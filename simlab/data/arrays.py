"""Inputs from a file: the rows of an array (.npy, .npz, HDF5 or IDX), in random order, none twice.

``path`` is absolute or lies below the data directory (``--data DIR``, SIMLAB_DATA); ``X.npz::train`` names one array of
several. `sample` draws from all rows: `simlab.data.splits` is the way to training and test rows apart.
"""

from __future__ import annotations

import functools
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from simlab.core.errors import BadInput
from simlab.data._rows import inputs, permuted, to_unit_norm
from simlab.data.directory import located
from simlab.data.files import SEPARATOR, read_array, state_of
from simlab.data.law import Floats, Law


class Arrays(Law):
    """The rows of a stored array."""

    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {"path": "inputs.npy"},
        {"path": "inputs.npz::x", "normalise": True},
    )
    finite: ClassVar[bool] = True
    reads_files: ClassVar[bool] = True

    path: str = Field(min_length=1, description="file, absolute or below the data directory; FILE::NAME for one array")
    normalise: bool = Field(False, description="divide each row by its norm")

    def _rows(self) -> NDArray[Any]:
        file, _, name = self.path.partition(SEPARATOR)
        place = located(file)
        source = f"{place}{SEPARATOR}{name}" if name else str(place)
        state = state_of(place)
        return _read(source, state.st_mtime_ns, state.st_size)

    def require(self) -> None:
        self.dimension()

    def dimension(self) -> int:
        return int(self._rows().shape[1])

    def sample(self, n: int, rng: np.random.Generator) -> Floats:
        rows = self._rows()
        chosen = permuted(len(rows), n, rng, self.path)
        X = inputs(rows[chosen], chosen, self.path)
        if self.normalise:
            to_unit_norm(X)
        return X


@functools.lru_cache(maxsize=2)  # a sweep asks again at every point; changed files have another time or size
def _read(source: str, changed: int, size: int) -> NDArray[Any]:
    array = read_array(source)
    if array.ndim != 2 or array.shape[1] == 0:
        raise BadInput(f"{source}: shape {array.shape} of {array.dtype}: must be (rows, d) of real numbers")
    return array
