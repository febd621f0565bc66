"""Arrays from files: .npy, .npz, HDF5 and the IDX format of MNIST, gzipped or not.

``X.npz::train`` and ``X.h5::/group/x`` name one array of several. An .npy file is mapped, not read. Whatever a file
holds, the answer is an array of real numbers or one line that says why not; nothing is unpickled, no other file is
opened, and nothing is read that memory has no room for.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simlab.core.errors import BadInput, shown
from simlab.data import _hdf5, _idx, _npy, _records
from simlab.data._limits import refuse_unless_real

SEPARATOR = "::"


def read_array(source: str | Path) -> NDArray[Any]:
    """The array in a file, one input per row."""
    text, _, name = str(source).partition(SEPARATOR)
    path = Path(text)
    with _readable(path):
        array = _read(path, name)
    refuse_unless_real(array.dtype, f"{path}{SEPARATOR + name if name else ''}")
    return array


def read_records(path: Path, size: int) -> NDArray[np.uint8]:
    """The bytes of a file that is nothing but records of `size` bytes each, gzipped or not: (n, size)."""
    with _readable(path):
        return _records.read(path, size)


@contextlib.contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Whatever goes wrong in reading the file becomes one line."""
    state_of(path)
    try:
        yield
    except BadInput:
        raise
    except Exception as error:  # of damaged files libraries raise nearly anything, MemoryError and KeyError included
        reason = (str(error).splitlines() or [""])[0] or type(error).__name__
        raise BadInput(f"{path}: cannot be read: {reason}") from None


def state_of(path: Path) -> os.stat_result:
    """Size and time of a regular file; refuses where there is none."""
    try:
        state = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        raise BadInput(f"{path}: no such file") from None
    except (OSError, ValueError) as error:
        reason = isinstance(error, OSError) and error.strerror
        raise BadInput(f"{shown(str(path))}: cannot be read: {reason or error}") from None
    if stat.S_ISDIR(state.st_mode):
        raise BadInput(f"{path}: is a directory; give a file (.npy, .npz, .h5 or IDX)")
    if not stat.S_ISREG(state.st_mode):
        raise BadInput(f"{path}: not a regular file; copy what it gives into one")
    return state


def _read(path: Path, name: str) -> NDArray[Any]:
    with path.open("rb") as file:
        head = file.read(8)
    if head.startswith(b"\x93NUMPY"):
        return _npy.mapped(_unnamed(path, name))
    if head.startswith(b"PK"):
        return _npy.from_archive(path, name)
    if head.startswith(b"\x89HDF"):
        return _hdf5.read(path, name)
    if head.startswith((b"\x1f\x8b", b"\x00\x00")):
        return _idx.read(_unnamed(path, name), zipped=head.startswith(b"\x1f"))
    raise BadInput(f"{path}: not a file of a known format (.npy, .npz, HDF5 or IDX, gzipped or not)")


def _unnamed(path: Path, name: str) -> Path:
    if name:
        raise BadInput(f"{path}{SEPARATOR}{shown(name)}: the file holds one array, without a name")
    return path
