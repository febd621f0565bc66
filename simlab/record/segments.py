"""Segments: the unit of commit. One immutable, uncompressed HDF5 file with rows *and* the checkpoints they belong to.

A segment is written as ``….tmp``, closed, sealed, fsynced and renamed, then the directory is fsynced: after ``kill -9``
it is there whole or not at all (0 rows lost in 448 kills, where appending in place lost some in 5 %).

Layout of ``segments/<writer>-<number>.h5``::

    attributes            simlab_segment (format), spec_hash, provenance (JSON list), level, replaces (JSON list),
                          dropped (JSON list of points whose rows a repair left out of what it replaces)
    tables/<i>/blocks     (blocks, 3) int64: point, first record (-1: given once per point), number of rows
    tables/<i>/columns/*  (rows, …) the rows of all blocks, in the order of the blocks; a table holds rows of one shape
    checkpoints/<point>   attributes attempt, serial, records, scalars (JSON); one dataset per array of the state
    finished              (points, 2) int64: point, length
    failed                (failures, 2) int64: point, attempt;  failed_text  JSON: [error, traceback] of each

Every dataset, and every group with attributes, has the attribute ``checksum``; a seal of the whole file is behind its
end (`simlab.record.checksum`). Files of format 1 have neither, and are read all the same.

A row's identity is (point, record). Rows committed are never past the checkpoint committed with them: the rows of a
point that fails are dropped back to its last commit.
"""

from __future__ import annotations

import contextlib
import errno
import json
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import h5py
import numpy as np
from numpy.typing import NDArray

from simlab.core.errors import BadInput, SimlabError, shown
from simlab.core.rng import dump_generator, load_generator
from simlab.record import checked
from simlab.record.checked import Mismatch, get, get_attributes, get_texts, members, put, put_attributes, put_texts
from simlab.record.checksum import Damaged, check_seal, check_seal_once, check_small, of_file, seal_of
from simlab.record.schema import SEGMENT_SCHEMA

NAME = re.compile(r"[0-9a-f]{12}-\d{6}\.h5")
ABOUT = {"simlab_segment": int, "spec_hash": str, "provenance": str, "level": int, "replaces": str}
ABOUT_CHECKPOINT = {"attempt": int, "serial": int, "records": int, "scalars": str}
NOT_DAMAGE = (errno.EACCES, errno.EPERM, errno.EMFILE, errno.ENFILE, errno.ENOMEM)
"""What the system may say of a file that is sound."""
State = dict[str, Any]
Columns = Mapping[str, NDArray[Any]]
Signature = tuple[tuple[str, str, tuple[int, ...]], ...]


class Failure(NamedTuple):
    """Why a point failed.

    attempt: which attempt failed, counted from 0.
    error: the error in one line.
    traceback: the whole traceback.
    """

    attempt: int
    error: str
    traceback: str


class Reached(NamedTuple):
    """How far a checkpoint is. Of two of one point the larger tuple is the newer: the order of the fields matters.

    attempt: which attempt, counted from 0; a point that failed is tried again as the next one.
    serial: number of commits made of this point so far.
    records: number of records so far.
    """

    attempt: int
    serial: int
    records: int


@dataclass
class Checkpoint:
    """Where a point stands.

    state: arrays, numbers, texts and generators by name.
    records, attempt, serial: as of `Reached`.
    """

    state: State
    records: int
    attempt: int
    serial: int


def dump_checkpoint(group: h5py.Group, checkpoint: Checkpoint) -> None:
    """Write a checkpoint into a group: arrays as datasets, all else as attributes."""
    scalars: dict[str, Any] = {}
    for key, value in checkpoint.state.items():
        if isinstance(value, np.random.Generator):
            scalars[key] = {"generator": dump_generator(value)}
        elif isinstance(value, np.ndarray | np.generic):
            if isinstance(value, np.ndarray) and not value.flags.c_contiguous:
                # Another memory order takes another path through BLAS: resumed bits would differ.
                raise ValueError(f"state[{key!r}] must be C-contiguous")
            put(group, key, value)
        elif isinstance(value, bool | int | float | str):
            scalars[key] = value
        else:
            raise TypeError(f"state[{key!r}] is a {type(value).__name__}; allowed: arrays, numbers, str, Generator")
    counts = {"attempt": checkpoint.attempt, "serial": checkpoint.serial, "records": checkpoint.records}
    put_attributes(group, {**counts, "scalars": json.dumps(scalars)})


def _load_checkpoint(group: h5py.Group, sealed: bool) -> Checkpoint:
    about = get_attributes(group, ABOUT_CHECKPOINT, sealed)
    state: State = {key: get(dataset, sealed) for key, dataset in members(group).items()}
    for key, value in json.loads(about["scalars"]).items():
        state[key] = load_generator(value["generator"]) if isinstance(value, dict) else value
    return Checkpoint(state, about["records"], about["attempt"], about["serial"])


def dump_marks(file: h5py.File, finished: Mapping[int, int], failed: Mapping[int, Failure]) -> None:
    """Write which points finished and which failed."""
    if finished:
        put(file, "finished", np.array(list(finished.items()), dtype=np.int64))
    if failed:
        put(file, "failed", np.array([(p, attempt) for p, (attempt, _, _) in failed.items()], dtype=np.int64))
        put_texts(file, "failed_text", [[error, traceback] for _, error, traceback in failed.values()])


@dataclass(frozen=True)
class Table:
    """Where the rows of one shape lie in a segment.

    group: name of the HDF5 group.
    signature: per column its name, type and the shape of a row.
    blocks: (blocks, 3) point, first record (-1: given once per point), number of rows.
    offsets: (blocks,) the first row of each block.
    """

    group: str
    signature: Signature
    blocks: NDArray[np.int64]
    offsets: NDArray[np.int64]

    @property
    def rows(self) -> int:
        """Number of rows."""
        return int(self.blocks[:, 2].sum())


@dataclass(frozen=True)
class CheckpointAt:
    """Which segment holds a point's newest checkpoint, and how far that is."""

    segment: Segment
    reached: Reached


@dataclass(frozen=True)
class Segment:
    """What one file holds, without its rows.

    path: the file.
    format: version of the format.
    spec_hash: of the run that it belongs to.
    level: 0 as a worker commits it; a merged segment is one level above its parts.
    replaces: names of the segments that it was merged from.
    dropped: points of which a repair left out everything.
    provenance: JSON of the machines and versions that computed its rows.
    tables: where its rows lie.
    finished: point → number of its records.
    failed: point → why.
    checkpoints: point → how far it is.
    seal: checksum of the whole file; None in format 1.
    """

    path: Path
    format: int
    spec_hash: str
    level: int
    replaces: frozenset[str]
    dropped: frozenset[int]
    provenance: frozenset[str]
    tables: tuple[Table, ...]
    finished: dict[int, int]
    failed: dict[int, Failure]
    checkpoints: dict[int, Reached]
    seal: str | None

    @classmethod
    def read(cls, path: Path) -> Segment:
        """Read the index of a segment and check what is read; a file that is not whole is named and refused."""
        with reading(path):
            check_small(path)
        with reading(path), h5py.File(path) as file:
            written = file.attrs["simlab_segment"]
            if isinstance(written, int | np.integer) and written > SEGMENT_SCHEMA:
                raise BadInput(
                    f"{path}: written in format {written} by another version of simlab, and"
                    f" this one reads format {SEGMENT_SCHEMA}; go on with that version, or run into a new directory"
                )
            sealed = bool(written > 1)
            about = get_attributes(file, {**ABOUT, "dropped": str} if sealed else ABOUT, sealed)
            replaces = checked.names(about["replaces"])
            if not all(NAME.fullmatch(name) for name in replaces):
                raise Mismatch("it claims to replace what is no segment")
            return cls(
                path=path,
                format=about["simlab_segment"],
                spec_hash=about["spec_hash"],
                level=about["level"],
                replaces=replaces,
                dropped=frozenset(map(int, json.loads(about.get("dropped", "[]")))),
                provenance=checked.names(about["provenance"]),
                tables=tuple(_read_table(group, sealed) for group in members(file, "tables").values()),
                finished=dict(_pairs(file, "finished", sealed)),
                failed=_read_failed(file, sealed),
                checkpoints={
                    int(point): Reached(at["attempt"], at["serial"], at["records"])
                    for point, group in members(file, "checkpoints").items()
                    for at in [get_attributes(group, ABOUT_CHECKPOINT, sealed)]
                },
                seal=seal_of(path) if sealed else None,
            )

    def checkpoint(self, point: int) -> Checkpoint:
        """The checkpoint of a point, read from the file."""
        with reading(self.path), h5py.File(self.path) as file:
            return _load_checkpoint(file[f"checkpoints/{point}"], self.is_sealed)

    @property
    def is_sealed(self) -> bool:
        """Whether it has checksums: format 1 has none."""
        return self.format > 1

    @property
    def identity(self) -> str:
        """The checksum of the whole file, as its seal has it."""
        if self.seal is not None:
            return self.seal
        with reading(self.path):
            return of_file(self.path)

    def check_whole(self, again: bool = False) -> None:
        """Check every byte of the file, once per process: segments are immutable. Format 1 has nothing to check.

        again: also where this process has done so before.
        """
        with reading(self.path):
            if self.is_sealed and again:
                check_seal(self.path)
            elif self.is_sealed:
                check_seal_once(self.path)

    @property
    def last_point(self) -> int:
        """The highest number of a point that the segment says anything of; -1 for none."""
        rows = [int(table.blocks[:, 0].max(initial=-1)) for table in self.tables]
        return max([-1, *rows, *(max(m, default=-1) for m in (self.finished, self.failed, self.checkpoints))])

    @property
    def points(self) -> set[int]:
        """Every point that the segment says anything of."""
        rows = {point for table in self.tables for point in np.unique(table.blocks[:, 0]).tolist()}
        return rows | self.finished.keys() | self.failed.keys() | self.checkpoints.keys()


@contextlib.contextmanager
def reading(path: Path) -> Iterator[None]:
    """Whatever h5py raises of a damaged or foreign file, in one line that says what to do."""
    try:
        yield
    except FileNotFoundError as error:  # merged away meanwhile, beside a running sweep
        error.filename = str(path)
        raise
    except Damaged as error:
        why = str(error).partition("damaged: ")[2] or str(error)
        raise damaged(path, why) from error
    except SimlabError:
        raise
    except MemoryError as error:
        raise BadInput(f"{path}: cannot be read: not enough memory") from error
    except Exception as error:
        if isinstance(error, OSError) and error.errno in NOT_DAMAGE:
            raise BadInput(f"{path}: cannot be read: {error.strerror or error}") from error
        size = path.lstat().st_size
        foreign = f"not a whole segment of simlab ({size} bytes, truncated or foreign)"
        raise damaged(path, str(error) if isinstance(error, Mismatch) else foreign) from error


def damaged(path: Path, why: str) -> Damaged:
    """The error for a damaged segment; it says how to repair the run."""
    home = shlex.quote(str(path.parent.parent))
    advice = f"`simlab resume --repair {home}` sets it aside and computes its points again"
    return Damaged(f"{path}: damaged: {shown(why)[1:-1]}; {advice}")


def _pairs(file: h5py.File, name: str, sealed: bool) -> list[tuple[int, int]]:
    if name not in list(file):
        return []
    values = get(file[name], sealed)
    if values.dtype != np.int64 or values.ndim != 2 or values.shape[1] != 2 or values.min(initial=0) < 0:
        raise Mismatch(f"{name} is no list of points")
    return list(zip(*values.T.tolist(), strict=True))  # a fifth of the time of 125,000 lists of two


def _read_failed(file: h5py.File, sealed: bool) -> dict[int, Failure]:
    marks = _pairs(file, "failed", sealed)
    texts = get_texts(file["failed_text"], sealed) if marks else []
    return {point: Failure(attempt, *text) for (point, attempt), text in zip(marks, texts, strict=True)}


def _read_table(group: h5py.Group, sealed: bool) -> Table:
    columns = members(group, "columns")
    blocks = get(group["blocks"], sealed)
    if blocks.dtype != np.int64 or blocks.ndim != 2 or blocks.shape[1] != 3 or np.any(blocks < (0, -1, 1)):
        raise Mismatch(f"{group.name}/blocks is no list of blocks")
    for column in columns.values():
        checked.check_dataset(column)
    signature = tuple(sorted((name, c.dtype.str, c.shape[1:]) for name, c in columns.items()))
    table = Table(group.name, signature, blocks, np.concatenate([[0], np.cumsum(blocks[:, 2])[:-1]]))
    if not signature or any(c.shape[:1] != (table.rows,) for c in columns.values()):
        raise Mismatch(f"{group.name} has other rows than its blocks say")
    return table


def newest_checkpoints(segments: Iterable[Segment]) -> dict[int, CheckpointAt]:
    """Point → its newest checkpoint."""
    newest: dict[int, CheckpointAt] = {}
    for segment in segments:
        for point, reached in segment.checkpoints.items():
            if point not in newest or reached > newest[point].reached:
                newest[point] = CheckpointAt(segment, reached)
    return newest


def newest_failures(segments: Iterable[Segment]) -> dict[int, Failure]:
    """Point → its newest failure."""
    newest: dict[int, Failure] = {}
    for segment in segments:
        for point, failure in segment.failed.items():
            if point not in newest or failure.attempt > newest[point].attempt:
                newest[point] = failure
    return newest
