"""Checksums: of an array, of a text, and the seal of a whole file.

XXH3 with 128 bits: a changed bit goes unseen once in 2^128. It tells damage, not malice: who can write a file can write
its checksum too. 64 MB take 3 ms, where zlib's CRC-32 takes 17 ms and SHA-256 40 ms.

A seal is one line of text behind the last byte of an HDF5 file, where HDF5 does not look: the checksum of every byte
before it. It is the last thing written; a file is sealed or not whole. Bytes that are skipped (large arrays with
checksums of their own) are told by whoever seals and checks.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import xxhash
from numpy.typing import NDArray

from simlab.core.errors import BadInput

CHECKSUM = "checksum"
"""Attribute of a dataset in a segment or a Gram store."""
SEAL = re.compile(rb"\nsimlab seal 1 xxh3 ([0-9a-f]{32})\n")
SEAL_BYTES = len(b"\nsimlab seal 1 xxh3 \n") + 32
READ_BYTES = 1 << 22
SMALL_BYTES = 64 << 20
"""A sealed file up to this size is checked before HDF5 opens it, in milliseconds."""
Ranges = Sequence[tuple[int, int]]


class Damaged(BadInput):
    """A file that is not as it was written."""


class ArrayDigest:
    """The checksum of an array that comes in parts along its first axis: the same as `of_array` of the whole.

    dtype: of the whole array.
    shape: of the whole array.
    """

    def __init__(self, dtype: np.dtype[Any], shape: tuple[int, ...]) -> None:
        self.is_text = dtype.kind == "O"  # text of any length
        self._digest = xxhash.xxh3_128(f"{'text' if self.is_text else dtype.str} {shape}".encode())

    def update(self, part: NDArray[Any]) -> None:
        """Add the next rows."""
        if not self.is_text:
            self._digest.update(np.ascontiguousarray(part).reshape(-1).view(np.uint8).data)
            return
        for text in part.ravel().tolist():
            encoded = text if isinstance(text, bytes) else str(text).encode()
            self._digest.update(b"%d " % len(encoded))
            self._digest.update(encoded)

    def hexdigest(self) -> str:
        """The checksum of all rows so far, in hexadecimal."""
        return self._digest.hexdigest()


def of_array(values: NDArray[Any]) -> str:
    """Of an array's bytes in C order, its type and its shape; of text, of every string."""
    digest = ArrayDigest(values.dtype, values.shape)
    digest.update(values)
    return digest.hexdigest()


def of_text(text: str) -> str:
    """Of a text in UTF-8."""
    return xxhash.xxh3_128(text.encode()).hexdigest()


def of_file(path: Path, end: int | None = None, skip: Ranges = ()) -> str:
    """Of the bytes of a file before `end`, without those in `skip` (begin, end), which are in order and apart."""
    digest = xxhash.xxh3_128()
    buffer = memoryview(bytearray(READ_BYTES))
    with path.open("rb", buffering=0) as file:
        stop = os.fstat(file.fileno()).st_size if end is None else end
        at = 0
        for begin, behind in [*skip, (stop, stop)]:
            file.seek(at)
            while at < begin:
                count = file.readinto(buffer[: min(READ_BYTES, begin - at)])
                if not count:
                    raise Damaged(f"{path}: cut short at {at} of {stop} bytes")
                digest.update(buffer[:count])
                at += count
            at = behind
    return digest.hexdigest()


def seal(path: Path, skip: Ranges = ()) -> str:
    """Put a seal behind a file that is written and closed; returns its checksum."""
    found = of_file(path, skip=skip)
    with path.open("ab") as file:
        file.write(b"\nsimlab seal 1 xxh3 %s\n" % found.encode())
    return found


def seal_of(path: Path) -> str:
    """The checksum that a file's seal claims; refuses a file without one."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - SEAL_BYTES))
        seal = SEAL.fullmatch(file.read())
    if seal is None:
        raise Damaged(f"{path}: damaged: no seal at its end ({size} bytes)")
    return seal[1].decode()


def check_seal(path: Path, skip: Ranges = ()) -> str:
    """The checksum of a sealed file, every byte of which was read and is as it was written; refuses any other."""
    claimed = seal_of(path)
    if of_file(path, path.stat().st_size - SEAL_BYTES, skip) != claimed:
        raise Damaged(f"{path}: damaged: not the bytes that were written (its seal differs)")
    return claimed


FileKey = tuple[str, int, int, int, int]
_checked: set[FileKey] = set()


def file_key(path: Path) -> FileKey:
    """Tells a file that was read already, where files are replaced and never written to."""
    stat = path.lstat()
    return (path.name, stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns)


def check_seal_once(path: Path) -> None:
    """`check_seal`, at most once per process and file."""
    if (key := file_key(path)) not in _checked:
        check_seal(path)
        _checked.add(key)


def check_small(path: Path) -> None:
    """Check a file of at most SMALL_BYTES that has a seal, before HDF5 opens it.

    HDF5 finds most damage by itself, but a changed page of its heap of texts, which has no checksum, can send it round
    for ever. A file without a seal may be of an earlier version or changed since by another program: HDF5 cuts the seal
    off when it opens a file for writing.
    """
    if not path.is_file() or path.stat().st_size > SMALL_BYTES:
        return
    try:
        seal_of(path)
    except Damaged:
        return
    check_seal_once(path)
