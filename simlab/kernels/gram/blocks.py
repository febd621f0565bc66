"""Square blocks of a symmetric matrix in a file: where they lie, how they are written, whether they are as written.

K : (n, n) lies row by row from `offset` on. Blocks on and below the diagonal are computed; a block (rows, columns)
below it lies in the file twice, as it is and as its mirror (columns, rows). One checksum stands for both: XXH3 of the
block's bytes in C order, taken from memory as they are written.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import xxhash
from numpy.typing import NDArray

from simlab.record.checksum import Damaged

STRIP_ROWS = 256
"""Rows of the mirror that are transposed and written at a time."""
READ_STRIP_ROWS = 512
"""Rows of a block that are read at a time to check it: 25 MB of the largest."""
Block = tuple[slice, slice]


def blocks(n: int, step: int) -> list[Block]:
    """On and below the diagonal, row of blocks by row of blocks."""
    starts = range(0, n, step)
    return [(slice(i, min(i + step, n)), slice(j, min(j + step, n))) for i in starts for j in starts if j <= i]


def described(block: Block) -> str:
    """``rows 0 to 383, columns 0 to 383``"""
    rows, columns = block
    return f"rows {rows.start} to {rows.stop - 1}, columns {columns.start} to {columns.stop - 1}"


@dataclass(frozen=True)
class Matrix:
    """One matrix in an open file.

    descriptor: of the file.
    offset: of the matrix's first byte, in bytes.
    n: number of rows and columns.
    dtype: of its entries.
    """

    descriptor: int
    offset: int
    n: int
    dtype: np.dtype[Any]

    def write(self, block: Block, values: NDArray[Any]) -> str:
        """Write a block and its mirror, row by row; returns the checksum."""
        rows, columns = block
        digest = xxhash.xxh3_128()
        for i, line in enumerate(values):
            digest.update(line.data)  # the write finds the row in the cache: half the cost of a pass of its own
            self._write_row(rows.start + i, columns.start, line)
        if rows != columns:
            for begin in range(0, values.shape[1], STRIP_ROWS):
                strip = np.ascontiguousarray(values[:, begin : begin + STRIP_ROWS].T)
                for i, line in enumerate(strip):
                    self._write_row(columns.start + begin + i, rows.start, line)
        return digest.hexdigest()

    def damage(self, block: Block, claimed: str) -> list[Block]:
        """Where the file does not hold the block with this checksum: at the block itself, at its mirror."""
        rows, columns = block
        copies = [(block, self._strips(rows, columns))]
        if rows != columns:
            copies.append(((columns, rows), self._mirrored(rows, columns)))
        wrong = []
        for place, strips in copies:
            digest = xxhash.xxh3_128()
            for strip in strips:
                digest.update(strip.reshape(-1).view(np.uint8).data)
            if digest.hexdigest() != claimed:
                wrong.append(place)
        return wrong

    def _strips(self, rows: slice, columns: slice) -> Iterator[NDArray[Any]]:
        for begin in range(rows.start, rows.stop, READ_STRIP_ROWS):
            yield self._read(slice(begin, min(begin + READ_STRIP_ROWS, rows.stop)), columns)

    def _mirrored(self, rows: slice, columns: slice) -> Iterator[NDArray[Any]]:
        """The same strips, from the mirror."""
        for begin in range(rows.start, rows.stop, READ_STRIP_ROWS):
            strip = self._read(columns, slice(begin, min(begin + READ_STRIP_ROWS, rows.stop)))
            yield np.ascontiguousarray(strip.T)

    def _read(self, rows: slice, columns: slice) -> NDArray[Any]:
        values = np.empty((rows.stop - rows.start, columns.stop - columns.start), dtype=self.dtype)
        for i, line in enumerate(values):
            view, at = memoryview(line).cast("B"), self._place(rows.start + i, columns.start)
            while view:
                count = os.preadv(self.descriptor, [view], at)
                if not count:
                    raise Damaged(f"cut short at {at} bytes, in row {rows.start + i} of a matrix of {self.n} rows")
                view, at = view[count:], at + count
        return values

    def _write_row(self, row: int, column: int, values: NDArray[Any]) -> None:
        view, at = values.data.cast("B"), self._place(row, column)
        while view:
            written = os.pwrite(self.descriptor, view, at)
            view, at = view[written:], at + written

    def _place(self, row: int, column: int) -> int:
        return self.offset + (row * self.n + column) * self.dtype.itemsize
