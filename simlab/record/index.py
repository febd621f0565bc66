"""The index over a run's segments: which points are finished, failed or under way, and where their rows lie."""

from __future__ import annotations

import contextlib
import enum
import re
import shlex
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from simlab.core.errors import BadInput
from simlab.record import atomic
from simlab.record.checksum import FileKey, file_key
from simlab.record.replacing import replaces, stands_for
from simlab.record.segments import (
    NAME,
    CheckpointAt,
    Failure,
    Segment,
    damaged,
    newest_checkpoints,
    newest_failures,
)

HALF_WRITTEN = re.compile(NAME.pattern + atomic.HALF_WRITTEN)
KNOWN_DIRECTORIES = 8  # whose indices are kept in memory
READ_ATTEMPTS = 20  # a merge takes files away from a reader at most a few times in a row


class Status(enum.IntEnum):
    """What a point's `status` in results.h5 means."""

    PENDING = 0
    UNFINISHED = 1
    FINISHED = 2
    FAILED = 3


@dataclass(frozen=True)
class Index:
    """Every segment of a run that counts.

    segments: those that count, in order of name.
    replaced: files that no longer count: a merged segment stands for them.
    removable: those of `replaced` of which everything is in the merged segment.
    """

    segments: tuple[Segment, ...]
    replaced: tuple[Path, ...]
    removable: frozenset[Path] = frozenset()

    @classmethod
    def read(cls, directory: Path, spec_hash: str, points: int | None = None) -> Index:
        """Read the segments of a run, also while it goes on: where a file is merged away meanwhile, all is read again.

        points: number of points of the sweep; a segment that names others is refused.
        """
        for _ in range(READ_ATTEMPTS):
            try:
                return cls._read(directory, spec_hash, points)
            except FileNotFoundError as error:
                gone = error
        raise BadInput(f"{gone.filename or directory}: cannot be opened; move it away to go on")

    @classmethod
    def _read(cls, directory: Path, spec_hash: str, points: int | None) -> Index:
        known = _known.get(directory)
        keys = {path: file_key(path) for path in cls.files(directory)}
        of = (spec_hash, points, tuple(keys.values()))
        if known is not None and known.of == of:
            return known.index
        before = known.segments if known else {}
        segments = {key: before.get(key) or Segment.read(path) for path, key in keys.items()}
        index = cls.of(list(segments.values()), spec_hash, points)
        _known.pop(directory, None)
        while len(_known) >= KNOWN_DIRECTORIES:
            del _known[next(iter(_known))]
        _known[directory] = _Known(of, segments, index)
        return index

    @classmethod
    def of(cls, segments: list[Segment], spec_hash: str, points: int | None = None) -> Index:
        """The index over segments that were read."""
        for segment in segments:
            segment_belongs(segment, spec_hash, points)
        replaced = replaced_by(segments)
        return cls(
            tuple(s for s in segments if s.path not in replaced),
            tuple(s.path for s in segments if s.path in replaced),
            frozenset(
                s.path
                for s in segments
                if s.path in replaced and (not replaced[s.path].dropped or stands_for(replaced[s.path], s))
            ),
        )

    def check_whole(self) -> None:
        """Check every byte of every live segment, once per process."""
        for segment in self.segments:
            segment.check_whole()

    def contents(self) -> list[tuple[str, str]]:
        """Name and checksum of every live segment: what results.h5 was made from."""
        return [(segment.path.name, segment.identity) for segment in self.segments]

    @staticmethod
    def files(directory: Path) -> list[Path]:
        """The segments of a directory in order of name; anything else there is named and refused."""
        if directory.is_symlink():
            raise BadInput(f"{directory}: is a link; a run keeps its segments in a directory of its own")
        paths = []
        for path in sorted(directory.iterdir()) if directory.exists() else []:
            if NAME.fullmatch(path.name):
                with contextlib.suppress(FileNotFoundError):  # merged away meanwhile
                    if not stat.S_ISREG(path.lstat().st_mode):
                        raise BadInput(f"{path}: not a file of this run (a link or a directory); move it away to go on")
                    paths.append(path)
            elif not path.name.startswith(".") and not HALF_WRITTEN.fullmatch(path.name):
                raise BadInput(f"{path}: not a segment of simlab; move it away to go on")
        return paths

    @staticmethod
    def half_written(directory: Path) -> list[Path]:
        """What killed writers left."""
        return [path for path in directory.iterdir() if HALF_WRITTEN.fullmatch(path.name)]

    @cached_property
    def finished(self) -> dict[int, int]:
        """Point → number of its records."""
        return {point: length for s in self.segments for point, length in s.finished.items()}

    @cached_property
    def checkpoints(self) -> dict[int, CheckpointAt]:
        """Where to go on with the points that were begun and are not finished."""
        newest = newest_checkpoints(self.segments)
        return {point: at for point, at in newest.items() if point not in self.finished}

    @cached_property
    def failed(self) -> dict[int, Failure]:
        """Point → why, for points that failed and have not been tried again since."""
        attempts = {point: at.reached.attempt for point, at in self.checkpoints.items()}
        return {
            point: failure
            for point, failure in newest_failures(self.segments).items()
            if point not in self.finished and attempts.get(point, -1) <= failure.attempt
        }

    def lengths(self, points: int) -> NDArray[np.int64]:
        """The number of valid records of each point: rows past the checkpoint do not count."""
        lengths = np.zeros(points, dtype=np.int64)
        lengths[list(self.checkpoints)] = [at.reached.records for at in self.checkpoints.values()]
        lengths[list(self.finished)] = list(self.finished.values())
        return lengths

    def status(self, points: int) -> NDArray[np.int8]:
        """(points,) a `Status` per point."""
        status = np.full(points, Status.PENDING, dtype=np.int8)
        for mark, marked in (
            (Status.UNFINISHED, self.checkpoints),
            (Status.FAILED, self.failed),
            (Status.FINISHED, self.finished),
        ):
            status[list(marked)] = mark
        return status

    def check_rows(self, points: int) -> None:
        """Refuse to go on where committed rows are gone, as after a segment was deleted by hand."""
        lengths, covered = self.lengths(points), self.covered(points)
        for point in np.flatnonzero(covered < lengths):
            home = self.segments[0].path.parent.parent
            raise BadInput(
                f"segments: record {covered[point]} of point {point} is missing although {lengths[point]} were"
                f" committed: a segment was removed; put it back, or `simlab resume --repair {shlex.quote(str(home))}`"
                " computes its points again"
            )

    def covered(self, points: int) -> NDArray[np.int64]:
        """How many records each point has from its first on, without a gap."""
        blocks = self._trajectory_blocks()
        # More rows than the length is no proof of completeness: some may be there twice.
        point, first, count = blocks[np.lexsort((blocks[:, 1], blocks[:, 0]))].T
        end = first + count
        covered = np.zeros(points, dtype=np.int64)
        if not len(point):
            return covered
        begins = np.flatnonzero(np.diff(point, prepend=-1))
        group = np.cumsum(np.isin(np.arange(len(point)), begins)) - 1
        # Of each point the largest end so far: ends of different points are kept apart by a multiple of the largest.
        most = int(end.max()) + 1
        reached = np.maximum.accumulate(group * most + end) - group * most
        before = np.concatenate([[0], reached[:-1]])
        before[begins] = 0
        gap = first > before
        gaps = np.maximum.reduceat(np.where(gap, np.arange(len(point))[::-1] + 1, 0), begins)  # the first of each
        last = np.concatenate([begins[1:], [len(point)]]) - 1
        at = np.where(gaps > 0, len(point) - gaps, 0)
        covered[point[begins]] = np.where(gaps > 0, before[at], reached[last])
        return covered

    def _trajectory_blocks(self) -> NDArray[np.int64]:
        """One row per block: point, first record, count. A record lies in one table, whatever it holds."""
        found: list[NDArray[np.int64]] = [np.empty((0, 3), dtype=np.int64)]
        for segment in self.segments:
            for table in segment.tables:
                found.append(table.blocks[table.blocks[:, 1] >= 0])
        return np.concatenate(found)

    def provenance(self) -> list[str]:
        """JSON of every machine and set of versions that computed rows."""
        return sorted({text for segment in self.segments for text in segment.provenance})

    @property
    def nbytes(self) -> int:
        """Bytes of all segments that count."""
        total = 0
        for segment in self.segments:
            with contextlib.suppress(FileNotFoundError):  # merged away meanwhile
                total += segment.path.stat().st_size
        return total


def segment_belongs(segment: Segment, spec_hash: str, points: int | None) -> None:
    """Refuse a segment of another run."""
    if segment.spec_hash != spec_hash:
        raise BadInput(f"{segment.path}: belongs to a run of another spec; move it away to go on")
    if points is not None and segment.last_point >= points:
        raise damaged(segment.path, f"it tells of point {segment.last_point}, and there are {points}")


def replaced_by(segments: Iterable[Segment]) -> dict[Path, Segment]:
    """The parts that are still there although a merged segment stands for them; refuses one that does not."""
    by_name = {segment.path.name: segment for segment in segments}
    found: dict[Path, Segment] = {}
    for segment in by_name.values():
        for name in segment.replaces & by_name.keys():
            if not replaces(segment, by_name[name]):
                raise damaged(segment.path, f"it claims to replace {name}, whose rows it does not hold")
            found[by_name[name].path] = segment
    return found


@dataclass(frozen=True)
class _Known:
    """What a process read last of a directory: segments are immutable, so only new ones are read again."""

    of: tuple[str, int | None, tuple[FileKey, ...]]
    segments: dict[FileKey, Segment]
    index: Index


_known: dict[Path, _Known] = {}
