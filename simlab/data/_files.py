"""Arrays from files: .npy, .npz, HDF5 and the IDX format of MNIST, gzipped or not.

``X.npz::train`` and ``X.h5::/group/x`` name one array of several. An .npy file is mapped, not read. Images of an IDX
file are flattened, one a row; its header is 0, 0, a type code, the number of dimensions, then the sizes, big-endian.
"""

from __future__ import annotations

import gzip
import math
import zipfile
import zlib
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from simlab.core.errors import BadInput, nearest, one_of

IDX_TYPES = {0x08: ">u1", 0x09: ">i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
SEPARATOR = "::"


def read_array(source: str | Path) -> NDArray[Any]:
    """The array in a file, one input a row."""
    text, _, name = str(source).partition(SEPARATOR)
    path = Path(text)
    if path.is_dir():
        raise BadInput(f"{path}: is a directory; give a file (.npy, .npz, .h5 or IDX)")
    if not path.exists():
        raise BadInput(f"{path}: no such file")
    with path.open("rb") as file:
        head = file.read(8)
    try:
        if head.startswith(b"\x93NUMPY"):
            return _whole(cast(NDArray[Any], np.load(path, mmap_mode="r", allow_pickle=False)), path, name)
        if head.startswith(b"PK"):
            # Opened here: of a damaged archive np.load leaves its own file open.
            with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
                return np.asarray(archive[_one(name, archive.files, path)])
        if head.startswith(b"\x89HDF"):
            return _from_hdf5(path, name)
        if head.startswith(b"\x1f\x8b"):
            with gzip.open(path) as unzipped:
                return _whole(_from_idx(cast(BinaryIO, unzipped), path), path, name)
        if head.startswith(b"\x00\x00"):
            with path.open("rb") as plain:
                return _whole(_from_idx(plain, path), path, name)
    except (OSError, ValueError, EOFError, OverflowError, MemoryError, zlib.error, zipfile.BadZipFile) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise BadInput(f"{path}: cannot be read: {reason}") from None
    raise BadInput(f"{path}: not a file of a known format (.npy, .npz, HDF5 or IDX, gzipped or not)")


def _one(name: str, names: list[str], path: Path) -> str:
    if name and name not in names:
        raise BadInput(f"{path}{SEPARATOR}{name}: no such array{nearest(name, names)} ({one_of(names)})")
    if not name and len(names) != 1:
        raise BadInput(f"{path} holds {len(names)} arrays: name one as {path}{SEPARATOR}NAME ({one_of(names)})")
    return name or names[0]


def _whole(array: NDArray[Any], path: Path, name: str) -> NDArray[Any]:
    if name:
        raise BadInput(f"{path}{SEPARATOR}{name}: the file holds one array, without a name")
    return array


def _from_hdf5(path: Path, name: str) -> NDArray[Any]:
    import h5py

    try:
        with h5py.File(path, "r") as file:
            names: list[str] = []
            file.visititems(lambda key, item: names.append(key) if isinstance(item, h5py.Dataset) else None)
            dataset = file[_one(name.strip("/"), names, path)]
            if dataset.shape is None:
                raise BadInput(f"{path}: {dataset.name} is empty")
            return np.asarray(dataset)
    except (RuntimeError, KeyError, TypeError) as error:  # what h5py makes of a damaged file
        raise BadInput(f"{path}: cannot be read as HDF5: {str(error).splitlines()[0]}") from None


def _from_idx(file: BinaryIO, path: Path) -> NDArray[Any]:
    magic = file.read(4)
    if len(magic) < 4 or magic[:2] != b"\0\0" or magic[2] not in IDX_TYPES:
        raise BadInput(f"{path}: not an IDX file: its first bytes are {magic!r}")
    shape = tuple(np.frombuffer(file.read(4 * magic[3]), dtype=">u4").tolist())
    dtype = np.dtype(IDX_TYPES[magic[2]])
    content = file.read(math.prod(shape) * dtype.itemsize + 1)
    if len(shape) != magic[3] or len(content) != math.prod(shape) * dtype.itemsize:
        raise BadInput(f"{path}: an IDX file of shape {shape} that is cut short or too long")
    array = np.frombuffer(content, dtype=dtype).reshape(shape)
    return array.reshape(shape[0], math.prod(shape[1:])) if len(shape) > 2 else array
