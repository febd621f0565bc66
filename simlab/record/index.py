"""The index over a run's segments: which points are finished, failed or under way, and where their rows lie."""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from simlab.core.errors import BadInput
from simlab.record import atomic
from simlab.record.segments import NAME, CheckpointAt, Segment, newest_checkpoints, newest_failures

HALF_WRITTEN = re.compile(NAME.pattern + atomic.HALF_WRITTEN)
READ_AGAIN = 20  # a merge takes files away under a reader at most a few times in a row


class Status(enum.IntEnum):
    """What a point's `status` in results.h5 means."""

    PENDING = 0
    UNFINISHED = 1
    FINISHED = 2
    FAILED = 3


@dataclass(frozen=True)
class Index:
    """Every live segment of a run, first by name first; `replaced` are parts that a merged segment stands for."""

    segments: tuple[Segment, ...]
    replaced: tuple[Path, ...]

    @classmethod
    def read(cls, directory: Path, spec_hash: str) -> Index:
        """Read the segments of a run. Also safe beside a running one: a file merged away meanwhile is read anew."""
        for _ in range(READ_AGAIN):
            try:
                segments = [Segment.read(path) for path in cls.files(directory)]
                break
            except FileNotFoundError as error:
                gone = error
        else:
            raise BadInput(f"{gone.filename or directory}: cannot be opened; move it away to go on")
        for segment in segments:
            if segment.spec_hash != spec_hash:
                raise BadInput(f"{segment.path}: belongs to a run of another spec; move it away to go on")
        replaced = {name for segment in segments for name in segment.replaces}
        return cls(
            tuple(s for s in segments if s.path.name not in replaced),
            tuple(s.path for s in segments if s.path.name in replaced),
        )

    @staticmethod
    def files(directory: Path) -> list[Path]:
        """The segments of a directory in order of name; anything else there is named and refused."""
        paths = []
        for path in sorted(directory.iterdir()) if directory.exists() else []:
            if NAME.fullmatch(path.name):
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
    def failed(self) -> dict[int, tuple[int, str, str]]:
        """Point → attempt, error, traceback, for points that failed and have not been taken up again since."""
        newest = newest_failures(self.segments)
        attempts = {point: at.attempt for point, at in self.checkpoints.items()}
        return {
            point: failure
            for point, failure in newest.items()
            if point not in self.finished and attempts.get(point, -1) <= failure[0]
        }

    def lengths(self, points: int) -> NDArray[np.int64]:
        """The number of valid records of each point: rows past the checkpoint do not count."""
        lengths = np.zeros(points, dtype=np.int64)
        for point, at in self.checkpoints.items():
            lengths[point] = at.records
        for point, length in self.finished.items():
            lengths[point] = length
        return lengths

    def status(self, points: int) -> NDArray[np.int8]:
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
        lengths = self.lengths(points)
        blocks = self._trajectory_blocks()
        have = np.zeros(points, dtype=np.int64)
        np.add.at(have, blocks[:, 0], blocks[:, 2])
        # More rows than the length is no proof of completeness: some may be there twice.
        for point in np.flatnonzero((have != lengths) & (lengths > 0)):
            mine = blocks[blocks[:, 0] == point]
            covered = 0
            for _, first, count in mine[np.argsort(mine[:, 1])]:
                if first > covered:
                    break
                covered = max(covered, first + count)
            if covered < lengths[point]:
                raise BadInput(
                    f"segments: record {covered} of point {point} is missing although {lengths[point]} were"
                    " committed: a segment was removed; put it back, or start again with --overwrite"
                )

    def _trajectory_blocks(self) -> NDArray[np.int64]:
        """One row a block: point, first record, count. A record lies in one table, whatever it holds."""
        found: list[NDArray[np.int64]] = [np.empty((0, 3), dtype=np.int64)]
        for segment in self.segments:
            for table in segment.tables:
                found.append(table.blocks[table.blocks[:, 1] >= 0])
        return np.concatenate(found)

    def provenance(self) -> list[str]:
        return sorted({text for segment in self.segments for text in segment.provenance})

    @property
    def nbytes(self) -> int:
        return sum(segment.path.stat().st_size for segment in self.segments if segment.path.exists())
