"""The journal of a Gram store: what is computed, where it lies in the file, and the checksum of every block there.

While the file is unfinished the journal lies beside it and is renewed by rename; behind the HDF5 data of a finished
file it stands once more, so that every block can be checked, and computed again, at any later time. It is one line of
JSON that ends with the checksum of the rest.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import xxhash

from simlab.kernels.gram.blocks import Block, blocks
from simlab.record.atomic import committing
from simlab.record.checksum import CHECKSUM, Damaged


@dataclass
class Journal:
    """What is known of a store.

    identity: what must agree for a file to be gone on with: kernels, inputs, dtype, code.
    n: rows of each matrix.
    block: rows per block.
    offsets: dataset → its first byte.
    size: bytes of the HDF5 file, without what is put behind it.
    frame: checksum of every byte of the HDF5 file outside the matrices.
    done: number of a block → its checksum in each dataset.
    """

    identity: Mapping[str, Any]
    n: int
    block: int
    offsets: dict[str, int] = field(default_factory=dict)
    size: int = 0
    frame: str = ""
    done: dict[int, list[str]] = field(default_factory=dict)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the matrices."""
        kind: np.dtype[Any] = np.dtype(self.identity["dtype"])
        return kind

    @property
    def blocks(self) -> list[Block]:
        """In the order of their numbers."""
        return blocks(self.n, self.block)

    def extents(self) -> list[tuple[int, int]]:
        """The bytes of the matrices, in order."""
        length = self.n**2 * self.dtype.itemsize
        return [(begin, begin + length) for begin in sorted(self.offsets.values()) if length]

    def text(self) -> str:
        """One line of JSON."""
        content = {
            "identity": self.identity,
            "n": self.n,
            "block": self.block,
            "offsets": self.offsets,
            "size": self.size,
            "frame": self.frame,
            "done": [[number, *sums] for number, sums in sorted(self.done.items())],
        }
        return json.dumps({**content, CHECKSUM: _checksum(content)})

    def commit(self, path: Path) -> None:
        """Write it to this file, by a rename."""
        with committing(path) as temporary:
            temporary.write_text(self.text(), encoding="utf-8")

    @classmethod
    def parse(cls, text: bytes, where: Path) -> Journal:
        """The journal whose `text` this is, to the last bit; refuses any other. `where` is the file, for the error."""
        try:
            content: dict[str, Any] = json.loads(text)
            content.pop(CHECKSUM)
            done = {int(number): [str(one) for one in sums] for number, *sums in content.pop("done")}
            journal = cls(**content, done=done)
            if journal.text().encode() == text:  # its checksum included
                last, each = len(journal.blocks) - 1, len(journal.extents())
                if all(0 <= number <= last and len(sums) == each for number, sums in done.items()):
                    return journal
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError, MemoryError):
            pass
        raise Damaged(f"{where}: damaged, or not a journal of this version of simlab")

    @classmethod
    def read(cls, path: Path) -> Journal:
        """From the file that `commit` wrote."""
        return cls.parse(path.read_bytes(), path)


def _checksum(content: Mapping[str, Any]) -> str:
    return xxhash.xxh3_128_hexdigest(json.dumps(content).encode())
