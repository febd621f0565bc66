"""The writer of segments: buffers rows and marks, commits them with checkpoints, merges what has grown old.

Merging keeps the files of a long run few. MERGE_SEGMENTS segments of one level become one of the next level, without
checkpoints that later ones have replaced. It is committed as any segment is, then the parts are unlinked. A kill in
between leaves both: the attribute `replaces` tells the index which files to leave out.
"""

from __future__ import annotations

import contextlib
import json
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from simlab.core.errors import WriteFailed
from simlab.record.atomic import committing_hdf5, unlink_file
from simlab.record.checked import Mismatch, claimed, mark, put, put_attributes
from simlab.record.checksum import ArrayDigest, Damaged
from simlab.record.schema import SEGMENT_SCHEMA
from simlab.record.segments import (
    Checkpoint,
    Columns,
    Failure,
    Segment,
    Signature,
    Table,
    dump_checkpoint,
    dump_marks,
    newest_checkpoints,
    newest_failures,
    reading,
)

MERGE_SEGMENTS = 8  # each row is copied log_8 times in all
MERGE_BYTES = 1 << 30  # one merge copies at most this much: a second or two
COPY_BYTES = 1 << 25  # held in memory at a time while rows are joined or copied


@dataclass
class _Table:
    """Rows of one shape, not committed yet.

    blocks: per block its point, first record and number of rows.
    parts: per block its columns.
    """

    blocks: list[tuple[int, int, int]] = field(default_factory=list)
    parts: list[Columns] = field(default_factory=list)


class Writer:
    """Buffers rows and marks, and commits them. One writer per process; its files are its own."""

    def __init__(
        self,
        directory: Path,
        spec_hash: str,
        provenance: Mapping[str, Any],
        say: Callable[[str], None] = lambda line: None,
    ) -> None:
        self.directory = directory
        self.say = say
        self.token = uuid.uuid4().hex[:12]
        self.spec_hash = spec_hash
        self.provenance = json.dumps(dict(provenance), sort_keys=True)
        self.number = 0
        self.levels: dict[int, list[Path]] = {}
        self._clear()

    def _clear(self) -> None:
        self.nbytes = 0
        self.finished: dict[int, int] = {}
        self.failed: dict[int, Failure] = {}
        self._tables: dict[Signature, _Table] = {}

    def add(self, point: int, first: int, columns: Columns) -> None:
        """Rows of one point, records `first`, `first + 1`, …; `first` = -1 for values given once per point.

        The arrays are kept, not copied, until the commit.
        """
        if not columns:
            return
        rows = {len(column) for column in columns.values()}
        if len(rows) != 1:
            lengths = {name: len(column) for name, column in columns.items()}
            raise ValueError(f"columns of unequal length: {lengths}")
        count = rows.pop()
        if not count:
            return
        signature = tuple(sorted((name, c.dtype.str, c.shape[1:]) for name, c in columns.items()))
        table = self._tables.setdefault(signature, _Table())
        table.blocks.append((point, first, count))
        table.parts.append(columns)
        self.nbytes += sum(column.nbytes for column in columns.values())

    def finish(self, point: int, length: int) -> None:
        """Mark a point as finished, with its number of records."""
        self.finished[point] = length

    def fail(self, point: int, attempt: int, error: str, traceback: str) -> None:
        """Mark a failure and drop the point's rows since its last commit."""
        self.failed[point] = Failure(attempt, _storable(error), _storable(traceback))
        for table in self._tables.values():
            others = [i for i, block in enumerate(table.blocks) if block[0] != point]
            table.blocks = [table.blocks[i] for i in others]
            table.parts = [table.parts[i] for i in others]

    @property
    def pending(self) -> bool:
        """Whether there is anything to commit."""
        return bool(self._tables or self.finished or self.failed)

    def commit(self, checkpoints: Mapping[int, Checkpoint]) -> Path | None:
        """Make everything since the last commit durable, in one rename; None if there was nothing."""
        if not (self.pending or checkpoints):
            return None
        with self._new_segment(level=0) as (path, file):
            tables = (table for table in self._tables.values() if table.blocks)
            for i, table in enumerate(tables):
                group = file.create_group(f"tables/{i}")
                put(group, "blocks", np.array(table.blocks, dtype=np.int64))
                for name in table.parts[0]:
                    _write_parts(group, f"columns/{name}", [part[name] for part in table.parts])
            for point, checkpoint in checkpoints.items():
                dump_checkpoint(file.create_group(f"checkpoints/{point}"), checkpoint)
            dump_marks(file, self.finished, self.failed)
        self._clear()
        self._merge()
        return path

    def adopt(self, segments: Iterable[Segment]) -> None:
        """Take over what earlier writers of this run left, so that it is merged too."""
        for segment in segments:
            self.levels.setdefault(segment.level, []).append(segment.path)
        self._merge()

    def _merge(self) -> None:
        level = 0
        while level <= max(self.levels, default=0):
            paths = self.levels[level] = [path for path in self.levels.get(level, []) if path.exists()]
            sizes = np.cumsum([path.stat().st_size for path in paths])
            few = int(np.searchsorted(sizes, MERGE_BYTES, side="right"))
            if len(paths) >= MERGE_SEGMENTS and few > 1 and (parts := self._sound(level, paths[:few])):
                # Merging is tidiness: where there is no room for it, the run goes on without.
                with contextlib.suppress(WriteFailed):
                    self.merge(parts, level + 1)
                    self.levels[level] = paths[few:]
            level += 1

    def _sound(self, level: int, paths: list[Path]) -> list[Segment]:
        """The segments, read and checked; none where one is damaged: it is said, and left alone from then on."""
        parts = []
        for path in paths:
            try:
                part = Segment.read(path)
                part.check_whole()
                parts.append(part)
            except Damaged as error:
                self.levels[level].remove(path)
                self.say(str(error))
        return parts if len(parts) == len(paths) else []

    def merge(self, parts: Sequence[Segment], level: int, dropped: Set[int] = frozenset()) -> Path:
        """One segment in place of several, without the checkpoints that later ones made dead.

        parts: checked by the caller; those of which everything is in the new segment are unlinked.
        dropped: points of which nothing is copied.
        """
        with self._new_segment(level, parts, dropped) as (path, file):
            _copy_tables(file, parts, dropped)
            finished = {p: length for part in parts for p, length in part.finished.items() if p not in dropped}
            for point, reference in newest_checkpoints(parts).items():
                if point not in finished and point not in dropped:
                    _copy_checkpoint(file, reference.segment, point)
            failed = {p: failure for p, failure in newest_failures(parts).items() if p not in dropped}
            dump_marks(file, finished, failed)
        if not dropped:
            for part in parts:
                unlink_file(part.path)
        return path

    @contextlib.contextmanager
    def _new_segment(
        self, level: int, parts: Sequence[Segment] = (), dropped: Set[int] = frozenset()
    ) -> Iterator[tuple[Path, h5py.File]]:
        path = self.directory / f"{self.token}-{self.number:06d}.h5"
        self.number += 1
        with committing_hdf5(path, sealed=True, libver=("v110", "v110")) as file:
            # Rows keep the provenance of those who computed them, not of those who copied them.
            made_by = {text for part in parts for text in part.provenance} or {self.provenance}
            about: dict[str, int | str] = {
                "simlab_segment": SEGMENT_SCHEMA,
                "spec_hash": self.spec_hash,
                "level": level,
                "replaces": json.dumps([part.path.name for part in parts]),
                "dropped": json.dumps(sorted(dropped)),
                "provenance": json.dumps(sorted(made_by)),
            }
            put_attributes(file, about)
            yield path, file
        self.levels.setdefault(level, []).append(path)


def _copy_checkpoint(file: h5py.File, part: Segment, point: int) -> None:
    if not part.is_sealed:  # has no checksums to copy
        dump_checkpoint(file.create_group(f"checkpoints/{point}"), part.checkpoint(point))
        return
    with reading(part.path), h5py.File(part.path) as source:
        source.copy(f"checkpoints/{point}", file.require_group("checkpoints"))


def _storable(text: str) -> str:
    """Text as HDF5 can hold it: UTF-8 without NUL."""
    return text.replace("\0", "\\0").encode("utf-8", "backslashreplace").decode()


def _write_parts(group: h5py.Group, name: str, parts: list[NDArray[Any]]) -> None:
    if len(parts) == 1:
        put(group, name, parts[0])
        return
    # Joined in slices of bounded size: a commit must not need its rows twice in memory.
    column = _Column(group, name, sum(map(len, parts)), parts[0].dtype, parts[0].shape[1:])
    batch: list[NDArray[Any]] = []
    size = 0
    for i, part in enumerate(parts):
        batch.append(part)
        size += part.nbytes
        if i == len(parts) - 1 or size > COPY_BYTES:
            column.append(np.concatenate(batch))
            batch, size = [], 0
    column.close()


class _Column:
    """A dataset written from its first row to its last, with the checksum of the whole."""

    def __init__(self, group: h5py.Group, name: str, rows: int, dtype: Any, shape: tuple[int, ...]) -> None:
        self.dataset = group.create_dataset(name, shape=(rows, *shape), dtype=dtype)
        self.digest = ArrayDigest(np.dtype(dtype), (rows, *shape))
        self.row = 0

    def append(self, rows: NDArray[Any]) -> None:
        self.dataset[self.row : self.row + len(rows)] = rows
        self.digest.update(rows)
        self.row += len(rows)

    def close(self) -> None:
        mark(self.dataset, self.digest.hexdigest())


def _copy_tables(file: h5py.File, parts: Sequence[Segment], dropped: Set[int]) -> None:
    by_signature: dict[Signature, list[tuple[Segment, Table, NDArray[np.bool_]]]] = {}
    for part in parts:
        for table in part.tables:
            copied = ~np.isin(table.blocks[:, 0], sorted(dropped))
            if copied.any():
                by_signature.setdefault(table.signature, []).append((part, table, copied))
    for i, (signature, sources) in enumerate(by_signature.items()):
        group = file.create_group(f"tables/{i}")
        blocks = np.concatenate([table.blocks[copied] for _, table, copied in sources])
        put(group, "blocks", blocks)
        for name, dtype, shape in signature:
            target = _Column(group, f"columns/{name}", int(blocks[:, 2].sum()), dtype, shape)
            for part, table, copied in sources:
                _copy_column(target, part, table, name, copied)
            target.close()


def _copy_column(target: _Column, part: Segment, table: Table, name: str, copied: NDArray[np.bool_]) -> None:
    """Append the rows of the blocks that are `copied`; the checksum of the whole column is checked on the way."""
    with reading(part.path), h5py.File(part.path) as source:
        column = source[f"{table.group}/columns/{name}"]
        digest = ArrayDigest(column.dtype, column.shape)
        chosen = np.repeat(copied, table.blocks[:, 2])
        step = max(1, COPY_BYTES // max(1, column.dtype.itemsize * int(np.prod(column.shape[1:]))))
        for at in range(0, table.rows, step):
            rows = column[at : at + step]
            digest.update(rows)
            target.append(rows if copied.all() else rows[chosen[at : at + step]])
        if part.is_sealed and digest.hexdigest() != claimed(column):
            raise Mismatch(f"the checksum of {column.name} differs")
