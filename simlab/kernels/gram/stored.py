"""Gram matrices in files: whether each byte is as it was written.

A finished file is an HDF5 file with a dataset per kernel and, behind the HDF5 data, where HDF5 does not look, three
lines: the journal with the checksum of every block, its length, and a seal over every byte outside the matrices. So a
single flipped bit anywhere is found, and a damaged block is known by its rows and columns.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import h5py

from simlab.core.errors import BadInput
from simlab.kernels.gram.blocks import Matrix, described
from simlab.kernels.gram.journal import Journal
from simlab.record.checksum import SEAL_BYTES, Damaged, check_seal, of_file, seal

LENGTH = re.compile(rb"\nsimlab gram 1 ([0-9]{12})")  # the second of the three lines
LENGTH_BYTES = len(b"\nsimlab gram 1 ") + 12
CHECKSUMS_ATTRIBUTE = "checksums"
CHECKSUMS_VALUE = "XXH3 of each block, behind the HDF5 data; simlab gram checks them"
"""Attribute of the file and its value, which tell a damaged file from one of an earlier version."""
HEAD_BYTES = 1 << 14  # within them CHECKSUMS_VALUE stands


class Frame(NamedTuple):
    """What a file says of itself, without a look at its blocks.

    lines: one per damage.
    journal: None where the blocks cannot be found or checked.
    """

    lines: list[str]
    journal: Journal | None


def verify_gram(path: Path | str) -> list[str]:
    """Read every byte of a finished Gram file; one line per damage, none where it is as it was written.

    A damaged block is named by its dataset, rows and columns. A file of an earlier version, or one that another program
    has copied dataset by dataset, has no checksums: that is one line too.
    """
    place = Path(path)
    if not place.is_file():
        raise BadInput(f"{place}: {'not a file' if place.exists() else 'no such file'}")
    try:
        lines, journal = frame_of(place)
        return lines if journal is None else [*lines, *lines_of(place, damaged_blocks(place, journal))]
    except OSError as error:
        return [f"{place}: cannot be read: {error.strerror or error}"]


def frame_of(path: Path) -> Frame:
    """The journal in a finished file, and what is wrong outside the matrices."""
    try:
        journal = _journal_in(path)
    except Damaged as error:
        if not is_gram(path):
            return Frame([f"{path}: not a Gram matrix of simlab, or damaged beyond recognition"], None)
        if not path.stat().st_size:
            return Frame([f"{path}: is empty"], None)
        if not has_checksums(path):
            return Frame([f"{path}: holds no checksums (of an earlier version), so it cannot be checked"], None)
        return Frame([str(error)], None)
    if not frame_is_sound(path, journal):
        return Frame([f"{path}: damaged outside the matrices"], journal)
    try:
        check_seal(path, journal.extents())
    except Damaged as error:
        return Frame([str(error)], journal)
    missing = len(journal.blocks) - len(journal.done)
    return Frame([f"{path}: {missing} blocks are missing"] if missing else [], journal)


def frame_is_sound(path: Path, journal: Journal) -> bool:
    """Whether the bytes of the HDF5 file outside the matrices are those that were made with it."""
    try:
        return of_file(path, journal.size, journal.extents()) == journal.frame
    except Damaged:  # cut short
        return False


def damaged_blocks(
    path: Path, journal: Journal, say: Callable[[str], None] = lambda line: None
) -> dict[int, list[str]]:
    """Number of a block that is not as it was written → where."""
    found: dict[int, list[str]] = {}
    places = journal.blocks
    with opened(path) as descriptor:
        size = os.fstat(descriptor).st_size
        if size > 1e9:
            say(f"{path}: reading {size / 1e9:.1f} GB to check them")
        for number, checksums in sorted(journal.done.items()):
            for (name, offset), claimed in zip(journal.offsets.items(), checksums, strict=True):
                matrix = Matrix(descriptor, offset, journal.n, journal.dtype)
                try:
                    wrong = [f"{name}, {described(place)}" for place in matrix.damage(places[number], claimed)]
                except Damaged as error:
                    wrong = [f"{name}, {described(places[number])}: {error}"]
                if wrong:
                    found.setdefault(number, []).extend(wrong)
    return found


def lines_of(path: Path, damage: dict[int, list[str]]) -> list[str]:
    """What `damaged_blocks` found, one line per place."""
    return [f"{path}: damaged: {place}" for places in damage.values() for place in places]


def finish(part: Path, journal: Journal) -> None:
    """Put the journal and the seal behind the HDF5 data. May be done again after a kill."""
    if not frame_is_sound(part, journal):
        raise Damaged(f"{part}: damaged outside the matrices while it was written; --repair sets it aside")
    text = journal.text().encode()
    with opened(part, write=True) as descriptor:
        os.ftruncate(descriptor, journal.size)
        write_all(descriptor, text + b"\nsimlab gram 1 %012d" % len(text), journal.size)
        seal(part, journal.extents())
        os.fsync(descriptor)


def write_all(descriptor: int, content: bytes, at: int) -> None:
    """Also where one call writes only some of it."""
    view = memoryview(content)
    while view:
        written = os.pwrite(descriptor, view, at)
        view, at = view[written:], at + written


def is_gram(path: Path) -> bool:
    """Whether a file is empty or was written here, by any version."""
    return path.stat().st_size == 0 or _has(path, "code", "dtype", "inputs") or has_checksums(path)


def has_checksums(path: Path) -> bool:
    """Whether a file was written here with checksums, damaged or not."""
    try:
        _journal_in(path)
        return True
    except Damaged:
        with path.open("rb") as file:  # HDF5 opens no file that is cut short
            return CHECKSUMS_VALUE.encode() in file.read(HEAD_BYTES) or _has(
                path, CHECKSUMS_ATTRIBUTE, "code", "dtype", "inputs"
            )


def _has(path: Path, *names: str) -> bool:
    try:
        with h5py.File(path, "r") as file:
            return set(names) <= set(file.attrs)
    except (OSError, RuntimeError, KeyError, ValueError):
        return False


@contextmanager
def opened(path: Path, write: bool = False) -> Iterator[int]:
    """A descriptor of a file; to write, never of what a link leads to."""
    descriptor = os.open(path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) if write else os.O_RDONLY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _journal_in(path: Path) -> Journal:
    """What stands behind the HDF5 data."""
    with path.open("rb") as file:
        end = file.seek(0, os.SEEK_END) - SEAL_BYTES - LENGTH_BYTES
        if end > 0:
            file.seek(end)
            length = LENGTH.fullmatch(file.read(LENGTH_BYTES))
            if length and 0 < int(length[1]) <= end:
                file.seek(end - int(length[1]))
                journal = Journal.parse(file.read(int(length[1])), path)
                if journal.size != end - int(length[1]):
                    raise Damaged(f"{path}: damaged: {journal.size} bytes of HDF5 data should come first")
                return journal
    raise Damaged(f"{path}: damaged: no checksums behind its HDF5 data")
