"""NumPy's .npy files, mapped, and .npz archives of them.

The header of an .npy file is the text of a dict with ``descr``, ``fortran_order`` and ``shape``. It is read here, not
by NumPy, which on a damaged one may raise anything, warn, or allocate what the header claims.
"""

from __future__ import annotations

import ast
import math
import re
import warnings
import zipfile
from collections import Counter
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simlab.core.errors import BadInput, shown
from simlab.data._limits import chosen, refuse_beyond_memory, refuse_unless_real

LONGEST_HEADER_BYTES = 10_000
VERSIONS = {(1, 0): 2, (2, 0): 4, (3, 0): 4}
"""Version → bytes of the header's length."""
PIECE_BYTES = 1 << 24
"""Bytes read at a time."""


class Header(NamedTuple):
    """What an .npy file says of itself.

    dtype: type of the numbers.
    shape: shape of the array.
    order: "C" or "F".
    begin: where the numbers begin, in bytes.
    """

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    order: Any
    begin: int

    @property
    def size(self) -> int:
        """Bytes of the numbers."""
        return math.prod(self.shape) * self.dtype.itemsize


def mapped(path: Path) -> NDArray[Any]:
    """The array of an .npy file, of which pages are read as they are needed."""
    with path.open("rb") as file:
        header = _header(file, str(path))
    _refuse_other_size(header, path.stat().st_size, str(path))
    if not header.size:
        return np.empty(header.shape, dtype=header.dtype, order=header.order)
    return np.memmap(path, header.dtype, "r", header.begin, header.shape, header.order)


def from_archive(path: Path, name: str) -> NDArray[Any]:
    """One array of an .npz archive."""
    with zipfile.ZipFile(path) as archive:
        members = [member for member in archive.infolist() if member.filename.endswith(".npy")]
        names = [member.filename.removesuffix(".npy") for member in members]
        if twice := [one for one, count in Counter(names).items() if count > 1]:
            raise BadInput(f"{path}: holds {shown(twice[0])} twice, and no name tells them apart")
        member = members[names.index(chosen(name, names, path))]
        what = f"{path}::{member.filename.removesuffix('.npy')}"
        if member.flag_bits & 1:
            raise BadInput(f"{what}: is encrypted; save it without a password")
        with archive.open(member) as file:
            header = _header(file, what)
            _refuse_other_size(header, member.file_size, what)
            refuse_beyond_memory(header.size, what)
            return _filled(file, header, what)


def _filled(file: IO[bytes], header: Header, what: str) -> NDArray[Any]:
    content = np.empty(header.size, dtype=np.uint8)
    view, at = content.data, 0
    while piece := file.read(PIECE_BYTES):  # to the end, where the checksum of the archive is compared
        if at + len(piece) > len(view):
            raise BadInput(f"{what}: longer than its header says")
        view[at : at + len(piece)] = piece
        at += len(piece)
    if at < len(view):
        raise BadInput(f"{what}: cut short")
    return content.view(header.dtype).reshape(header.shape, order=header.order)


def _header(file: IO[bytes], what: str) -> Header:
    start = file.read(8)
    version = tuple(start[6:8])
    if start[:6] != b"\x93NUMPY":
        raise BadInput(f"{what}: not an array of NumPy's: its first bytes are {start!r}")
    if version not in VERSIONS:
        raise BadInput(f"{what}: version {'.'.join(map(str, version))} of the .npy format: must be 1.0, 2.0 or 3.0")
    digits = VERSIONS[version]
    length = int.from_bytes(file.read(digits), "little")
    if length > LONGEST_HEADER_BYTES:
        raise BadInput(f"{what}: damaged: a header of {length} bytes")
    text = file.read(length)
    if len(text) < length:
        raise BadInput(f"{what}: damaged: cut short in its header")
    try:
        fields = _evaluated(text.decode("utf-8" if version == (3, 0) else "latin-1"))
        descr, fortran, shape = (fields.pop(key) for key in ("descr", "fortran_order", "shape"))
        sound = not fields and isinstance(fortran, bool) and isinstance(shape, tuple) and isinstance(descr, str | list)
        if not sound or not all(type(count) is int and count >= 0 for count in shape):
            raise ValueError
        dtype = np.dtype(descr) if isinstance(descr, str) else np.dtype("V1")  # a list: records
    except (ValueError, TypeError, KeyError, AttributeError, SyntaxError, MemoryError, RecursionError):
        raise BadInput(f"{what}: damaged: its header reads {shown(text)}") from None
    refuse_unless_real(dtype, what)
    return Header(dtype, shape, "F" if fortran else "C", 8 + digits + length)


def _evaluated(text: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the compiler, on numbers and letters run together
        # Python 2 wrote long integers as 3L.
        return ast.literal_eval(re.sub(r"(?<=\d)L(?=[,)])", "", text.strip()))


def _refuse_other_size(header: Header, size: int, what: str) -> None:
    """A header that claims less than there is has lost something, too."""
    if size != header.begin + header.size:
        raise BadInput(
            f"{what}: shape {shown(header.shape)} of {header.dtype} makes {header.begin + header.size} bytes,"
            f" but there are {size}: cut short or damaged"
        )
