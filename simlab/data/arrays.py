"""Inputs from a file: the rows of an array (.npy, .npz, HDF5 or IDX), in random order, none twice.

``path`` is absolute or lies below the data directory (``--data DIR``, SIMLAB_DATA); ``X.npz::train`` names one array of
several. `sample` draws from all rows: `simlab.data.splits` is the way to training and test rows apart.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from simlab.core.errors import BadInput
from simlab.core.params import Params as Base
from simlab.data._rows import inputs, permuted, to_unit_norm
from simlab.data.directory import located
from simlab.data.files import SEPARATOR, read_array, state_of

FINITE = True


class Params(Base):
    path: str = Field(min_length=1, description="file, absolute or below the data directory; FILE::NAME for one array")
    normalise: bool = Field(False, description="divide each row by its norm")


EXAMPLES = ({"path": "inputs.npy"}, {"path": "inputs.npz::x", "normalise": True})


@functools.lru_cache(maxsize=2)  # a sweep asks again at every point; changed files have another time or size
def _read(source: str, changed: int, size: int) -> NDArray[Any]:
    array = read_array(source)
    if array.ndim != 2 or array.shape[1] == 0:
        raise BadInput(f"{source}: shape {array.shape} of {array.dtype}: must be (rows, d) of real numbers")
    return array


def _rows(params: Params) -> NDArray[Any]:
    file, _, name = params.path.partition(SEPARATOR)
    place = located(file)
    source = f"{place}{SEPARATOR}{name}" if name else str(place)
    state = state_of(place)
    return _read(source, state.st_mtime_ns, state.st_size)


def require(params: Params) -> None:
    """Refuse where the file or the array in it is not there."""
    dimension(params)


def dimension(params: Params) -> int:
    return int(_rows(params).shape[1])


def sample(params: Params, n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """X : (n, d)"""
    rows = _rows(params)
    chosen = permuted(len(rows), n, rng, params.path)
    X = inputs(rows[chosen], chosen, params.path)
    if params.normalise:
        to_unit_norm(X)
    return X
