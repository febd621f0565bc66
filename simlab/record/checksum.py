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
SMALL_BYTES = 1 << 25
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
        if not self.is_text:
            self._digest.update(np.ascontiguousarray(part).reshape(-1).view(np.uint8).data)
            return
        for text in part.ravel().tolist():
            encoded = text if isinstance(text, bytes) else str(text).encode()
            self._digest.update(b"%d " % len(encoded))
            self._digest.update(encoded)

    def hexdigest(self) -> str:
        return self._digest.hexdigest()


def of_array(values: NDArray[Any]) -> str:
    """Of an array's bytes in C order, its type and its shape; of text, of every string."""
    digest = ArrayDigest(values.dtype, values.shape)
    digest.update(values)
    return digest.hexdigest()


def of_text(text: str) -> str:
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


def check_small(path: Path) -> None:
    """Check the seal of a file that has one and is small, before HDF5 looks at it.

    Of damage to its heap of texts HDF5 makes an endless loop (seen once in 800 damaged segments). Larger files are read
    part by part, each with its own checksum: there texts are a small part.
    """
    if path.stat().st_size <= SMALL_BYTES:
        try:
            seal_of(path)
        except Damaged:
            return  # of an older format, or told by what is missing in it
        check_seal(path)


def check_seal(path: Path, skip: Ranges = ()) -> str:
    """The checksum of a sealed file, every byte of which was read and is as it was written; refuses any other."""
    claimed = seal_of(path)
    if of_file(path, path.stat().st_size - SEAL_BYTES, skip) != claimed:
        raise Damaged(f"{path}: damaged: not the bytes that were written (its seal differs)")
    return claimed
