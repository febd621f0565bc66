"""The IDX format of MNIST, gzipped or not.

The header is 0, 0, a type code, the number of dimensions, then the sizes, big-endian. Images are flattened, one per
row.
"""

from __future__ import annotations

import gzip
import math
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from simlab.core.errors import BadInput, shown
from simlab.data._limits import refuse_beyond_memory

TYPES = {0x08: ">u1", 0x09: ">i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
DEFLATE = 1032
"""The most bytes that a byte of gzip can become."""


def read(path: Path, zipped: bool) -> NDArray[Any]:
    most = path.stat().st_size * (DEFLATE if zipped else 1)
    if not zipped:
        with path.open("rb") as plain:
            return _array(plain, path, most)
    with gzip.open(path) as unzipped:
        return _array(cast(BinaryIO, unzipped), path, most)


def _array(file: BinaryIO, path: Path, most: int) -> NDArray[Any]:
    """most: bytes that the file can hold."""
    magic = file.read(4)
    if len(magic) < 4 or magic[:2] != b"\0\0" or magic[2] not in TYPES:
        raise BadInput(f"{path}: not an IDX file: its first bytes are {magic!r}")
    shape = tuple(np.frombuffer(file.read(4 * magic[3]), dtype=">u4").tolist())
    dtype = np.dtype(TYPES[magic[2]])
    size = math.prod(shape) * dtype.itemsize
    if len(shape) == magic[3] and size <= most:
        refuse_beyond_memory(size, str(path))
        content = file.read(size + 1)
        if len(content) == size:
            array = np.frombuffer(content, dtype=dtype).reshape(shape)
            return array.reshape(shape[0], math.prod(shape[1:])) if len(shape) > 2 else array
    raise BadInput(f"{path}: an IDX file of shape {shown(shape)} that is cut short or too long")
