"""The writer of segments: buffers rows and marks, commits them with checkpoints, merges what has grown old.

Merging keeps the files of a long run few: MERGE_AT segments of one level become one of the next level, without the
checkpoints that later ones made dead, by the same commit rule; the parts are unlinked after. A kill between leaves
both: `replaces` tells the index which files to leave out.
"""

from __future__ import annotations

import contextlib
import json
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from simlab.core.errors import WriteFailed
from simlab.record.atomic import committing_hdf5
from simlab.record.schema import SEGMENT_SCHEMA
from simlab.record.segments import (
    Checkpoint,
    Columns,
    Segment,
    Signature,
    Table,
    dump_checkpoint,
    dump_marks,
    newest_checkpoints,
    newest_failures,
)

MERGE_AT = 8  # each row is copied log_8 times in all
MERGE_BYTES = 1 << 30  # one merge copies at most this much: a second or two
COPY_BYTES = 1 << 25


@dataclass
class _Table:
    blocks: list[tuple[int, int, int]] = field(default_factory=list)
    parts: list[Columns] = field(default_factory=list)


class Writer:
    """Buffers rows and marks, and commits them. One writer a process; its files are its own."""

    def __init__(self, directory: Path, spec_hash: str, provenance: Mapping[str, Any]) -> None:
        self.directory = directory
        self.token = uuid.uuid4().hex[:12]
        self.spec_hash = spec_hash
        self.provenance = json.dumps(dict(provenance), sort_keys=True)
        self.number = 0
        self.levels: dict[int, list[Path]] = {}
        self._clear()

    def _clear(self) -> None:
        self.nbytes = 0
        self.finished: dict[int, int] = {}
        self.failed: dict[int, tuple[int, str, str]] = {}
        self._tables: dict[Signature, _Table] = {}

    def add(self, point: int, first: int, columns: Columns) -> None:
        """Rows of one point, records `first`, `first + 1`, …; `first` = -1 for values given once a point.

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
        self.finished[point] = length

    def fail(self, point: int, attempt: int, error: str, traceback: str) -> None:
        """Mark a failure and drop the point's rows since its last commit."""
        self.failed[point] = (attempt, error, traceback)
        for table in self._tables.values():
            kept = [i for i, block in enumerate(table.blocks) if block[0] != point]
            table.blocks = [table.blocks[i] for i in kept]
            table.parts = [table.parts[i] for i in kept]

    @property
    def pending(self) -> bool:
        return bool(self._tables or self.finished or self.failed)

    def commit(self, checkpoints: Mapping[int, Checkpoint]) -> Path | None:
        """Make everything since the last commit durable, in one rename; None if there was nothing."""
        if not (self.pending or checkpoints):
            return None
        with self._new_segment(level=0) as (path, file):
            tables = (table for table in self._tables.values() if table.blocks)
            for i, table in enumerate(tables):
                group = file.create_group(f"tables/{i}")
                group["blocks"] = np.array(table.blocks, dtype=np.int64)
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
            paths = self.levels.get(level, [])
            sizes = np.cumsum([path.stat().st_size for path in paths])
            few = int(np.searchsorted(sizes, MERGE_BYTES, side="right"))
            if len(paths) >= MERGE_AT and few > 1:
                # Merging is tidiness: where there is no room for it, the run goes on without.
                with contextlib.suppress(WriteFailed):
                    self._merge_paths(paths[:few], level + 1)
                    self.levels[level] = paths[few:]
            level += 1

    def _merge_paths(self, paths: list[Path], level: int) -> None:
        """One segment in place of several, without the checkpoints that later ones made dead."""
        parts = [Segment.read(path) for path in paths]
        with self._new_segment(level, parts) as (_, file):
            _copy_tables(file, parts)
            finished = {point: length for part in parts for point, length in part.finished.items()}
            for point, reference in newest_checkpoints(parts).items():
                if point not in finished:
                    with h5py.File(reference.segment.path) as source:
                        source.copy(f"checkpoints/{point}", file.require_group("checkpoints"))
            dump_marks(file, finished, newest_failures(parts))
        for path in paths:
            path.unlink()

    @contextlib.contextmanager
    def _new_segment(self, level: int, parts: Sequence[Segment] = ()) -> Iterator[tuple[Path, h5py.File]]:
        path = self.directory / f"{self.token}-{self.number:06d}.h5"
        self.number += 1
        with committing_hdf5(path) as file:
            file.attrs["simlab_segment"] = SEGMENT_SCHEMA
            file.attrs["spec_hash"] = self.spec_hash
            file.attrs["level"] = level
            file.attrs["replaces"] = json.dumps([part.path.name for part in parts])
            # Rows keep the provenance of those who computed them, not of those who copied them.
            made_by = {text for part in parts for text in part.provenance} or {self.provenance}
            file.attrs["provenance"] = json.dumps(sorted(made_by))
            yield path, file
        self.levels.setdefault(level, []).append(path)


def _write_parts(group: h5py.Group, name: str, parts: list[NDArray[Any]]) -> None:
    if len(parts) == 1:
        group[name] = parts[0]
        return
    # Joined in slices of bounded size: a commit must not need its rows twice in memory.
    total = sum(map(len, parts))
    dataset = group.create_dataset(name, shape=(total, *parts[0].shape[1:]), dtype=parts[0].dtype)
    start, batch, size = 0, [], 0
    for part in parts:
        batch.append(part)
        size += part.nbytes
        if size > COPY_BYTES:
            start = _put(dataset, start, batch)
            batch, size = [], 0
    if batch:
        _put(dataset, start, batch)


def _put(dataset: h5py.Dataset, start: int, batch: list[NDArray[Any]]) -> int:
    rows = np.concatenate(batch)
    dataset[start : start + len(rows)] = rows
    return start + len(rows)


def _copy_tables(file: h5py.File, parts: list[Segment]) -> None:
    by_signature: dict[Signature, list[tuple[Segment, Table]]] = {}
    for part in parts:
        for table in part.tables:
            by_signature.setdefault(table.signature, []).append((part, table))
    for i, (signature, sources) in enumerate(by_signature.items()):
        group = file.create_group(f"tables/{i}")
        group["blocks"] = np.concatenate([table.blocks for _, table in sources])
        total = sum(table.rows for _, table in sources)
        for name, dtype, shape in signature:
            target = group.create_dataset(f"columns/{name}", shape=(total, *shape), dtype=dtype)
            start = 0
            for part, table in sources:
                with h5py.File(part.path) as source:
                    column = source[f"{table.group}/columns/{name}"]
                    rows = max(1, COPY_BYTES // max(1, column.dtype.itemsize * int(np.prod(shape))))
                    for at in range(0, table.rows, rows):
                        stop = min(at + rows, table.rows)
                        target[start + at : start + stop] = column[at:stop]
                start += table.rows
