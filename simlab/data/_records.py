"""Files that are nothing but records of a fixed number of bytes, gzipped or not, as CIFAR's binary files are.

They have no header: that a file is whole shows in its size alone.
"""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
from numpy.typing import NDArray

from simlab.core.errors import BadInput
from simlab.data._limits import refuse_beyond_memory

PIECE_BYTES = 1 << 24
"""Bytes unpacked at a time."""
GZIP = b"\x1f\x8b"


def read(path: Path, size: int) -> NDArray[np.uint8]:
    """Records of `size` bytes, one per row: (n, size)."""
    with path.open("rb") as file:
        zipped = file.read(2) == GZIP
        file.seek(0)
        if not zipped:
            length = path.stat().st_size
            _refuse_broken(length, size, path)
            refuse_beyond_memory(length, str(path))
            content = file.read(length)
        else:
            with gzip.open(file) as unzipped:
                content = _unpacked(cast(IO[bytes], unzipped), path)
    _refuse_broken(len(content), size, path)
    return np.frombuffer(content, dtype=np.uint8).reshape(-1, size)


def _unpacked(file: IO[Any], path: Path) -> bytes:
    """All of it; memory is asked for piece by piece, since a gzipped file does not say its size reliably."""
    content = bytearray()
    while piece := file.read(PIECE_BYTES):
        refuse_beyond_memory(2 * (len(content) + len(piece)), str(path))  # twice: grown by copying
        content += piece
    return bytes(content)


def _refuse_broken(length: int, size: int, path: Path) -> None:
    if length == 0 or length % size:
        raise BadInput(f"{path}: {length} bytes: must be records of {size} bytes each, one or more: cut short?")
