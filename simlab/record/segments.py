"""Segments: the unit of commit. One immutable, uncompressed HDF5 file with rows *and* the checkpoints they belong to.

Written as ``….tmp``, closed, fsynced, renamed, the directory fsynced: after ``kill -9`` a segment is there whole or
not at all (0 rows lost in 448 kills, where in-place appending lost some in 5 %).

Layout of ``segments/<writer>-<number>.h5``::

    attributes            simlab_segment (schema), spec_hash, provenance (JSON list), level, replaces (JSON list)
    tables/<i>/blocks     (blocks, 3) int64: point, first record (-1: given once a point), number of rows
    tables/<i>/columns/*  (rows, …) the blocks' rows one after another; a table holds rows of one shape
    checkpoints/<point>   attributes attempt, serial, records, scalars (JSON); one dataset an array of the state
    finished              (points, 2) int64: point, length
    failed                (failures, 2) int64: point, attempt;  failed_text  (failures, 2): error, traceback

A row's identity is (point, record). Rows committed are never past the checkpoint committed with them: the rows of a
point that fails are dropped back to its last commit.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from simlab.core.errors import BadInput
from simlab.core.rng import dump_generator, load_generator
from simlab.record.schema import SEGMENT_SCHEMA

NAME = re.compile(r"[0-9a-f]{12}-\d{6}\.h5")
State = dict[str, Any]
Columns = Mapping[str, NDArray[Any]]
Signature = tuple[tuple[str, str, tuple[int, ...]], ...]


@dataclass
class Checkpoint:
    """Where a point stands: its state, how many records it has, which attempt, the how-manieth commit of it."""

    state: State
    records: int
    attempt: int
    serial: int


def dump_checkpoint(group: h5py.Group, checkpoint: Checkpoint) -> None:
    scalars: dict[str, Any] = {}
    for key, value in checkpoint.state.items():
        if isinstance(value, np.random.Generator):
            scalars[key] = {"generator": dump_generator(value)}
        elif isinstance(value, np.ndarray | np.generic):
            if isinstance(value, np.ndarray) and not value.flags.c_contiguous:
                # Another memory order takes another path through BLAS: resumed bits would differ.
                raise ValueError(f"state[{key!r}] must be C-contiguous")
            group[key] = value
        elif isinstance(value, bool | int | float | str):
            scalars[key] = value
        else:
            raise TypeError(f"state[{key!r}] is a {type(value).__name__}; allowed: arrays, numbers, str, Generator")
    group.attrs.update({"attempt": checkpoint.attempt, "serial": checkpoint.serial, "records": checkpoint.records})
    group.attrs["scalars"] = json.dumps(scalars)


def _load_checkpoint(group: h5py.Group) -> Checkpoint:
    state: State = {key: dataset[()] for key, dataset in group.items()}
    for key, value in json.loads(group.attrs["scalars"]).items():
        state[key] = load_generator(value["generator"]) if isinstance(value, dict) else value
    attrs = group.attrs
    return Checkpoint(state, int(attrs["records"]), int(attrs["attempt"]), int(attrs["serial"]))


def dump_marks(file: h5py.File, finished: Mapping[int, int], failed: Mapping[int, tuple[int, str, str]]) -> None:
    if finished:
        file["finished"] = np.array(list(finished.items()), dtype=np.int64)
    if failed:
        file["failed"] = np.array([(p, attempt) for p, (attempt, _, _) in failed.items()], dtype=np.int64)
        file["failed_text"] = [[error, traceback] for _, error, traceback in failed.values()]


@dataclass(frozen=True)
class Table:
    """Where the rows of one shape lie in a segment."""

    group: str
    signature: Signature
    blocks: NDArray[np.int64]
    offsets: NDArray[np.int64]

    @property
    def rows(self) -> int:
        return int(self.blocks[:, 2].sum())


@dataclass(frozen=True)
class CheckpointAt:
    """Which segment holds a point's checkpoint, and how far it is."""

    segment: Segment
    attempt: int
    serial: int
    records: int


@dataclass(frozen=True)
class Segment:
    """What one file says, without its rows."""

    path: Path
    spec_hash: str
    level: int
    replaces: frozenset[str]
    provenance: frozenset[str]
    tables: tuple[Table, ...]
    finished: dict[int, int]
    failed: dict[int, tuple[int, str, str]]
    checkpoints: dict[int, tuple[int, int, int]]

    @classmethod
    def read(cls, path: Path) -> Segment:
        """Read the index of a segment; a file that is not a whole segment is named and refused."""
        try:
            with h5py.File(path) as file:
                if int(file.attrs["simlab_segment"]) != SEGMENT_SCHEMA:
                    raise BadInput(
                        f"{path}: written in format {file.attrs['simlab_segment']} by another version of simlab, and"
                        f" this one reads format {SEGMENT_SCHEMA}; go on with that version, or run into a new directory"
                    )
                tables = tuple(_read_table(group) for group in file.get("tables", {}).values())
                texts = [(e.decode(), t.decode()) for e, t in file["failed_text"]] if "failed" in file else []
                marks = file["failed"][()].tolist() if "failed" in file else []
                return cls(
                    path=path,
                    spec_hash=str(file.attrs["spec_hash"]),
                    level=int(file.attrs["level"]),
                    replaces=frozenset(json.loads(file.attrs["replaces"])),
                    provenance=frozenset(json.loads(file.attrs["provenance"])),
                    tables=tables,
                    finished=dict(file["finished"][()].tolist()) if "finished" in file else {},
                    failed={p: (a, *text) for (p, a), text in zip(marks, texts, strict=True)},
                    checkpoints={
                        int(point): (int(g.attrs["attempt"]), int(g.attrs["serial"]), int(g.attrs["records"]))
                        for point, g in file.get("checkpoints", {}).items()
                    },
                )
        except FileNotFoundError as error:
            error.filename = str(path)
            raise
        except (OSError, KeyError, RuntimeError, ValueError) as error:
            size = path.stat().st_size
            raise BadInput(
                f"{path}: not a whole segment of simlab ({size} bytes, truncated or foreign); move it away to go on"
            ) from error

    def checkpoint(self, point: int) -> Checkpoint:
        with h5py.File(self.path) as file:
            return _load_checkpoint(file[f"checkpoints/{point}"])


def _read_table(group: h5py.Group) -> Table:
    columns = group["columns"]
    blocks = group["blocks"][()]
    signature = tuple(sorted((name, c.dtype.str, c.shape[1:]) for name, c in columns.items()))
    offsets = np.concatenate([[0], np.cumsum(blocks[:, 2])[:-1]])
    return Table(group.name, signature, blocks, offsets)


def newest_checkpoints(segments: Iterable[Segment]) -> dict[int, CheckpointAt]:
    """For each point the checkpoint that is furthest: highest attempt, then most commits, then most records."""
    newest: dict[int, CheckpointAt] = {}
    for segment in segments:
        for point, (attempt, serial, records) in segment.checkpoints.items():
            kept = newest.get(point)
            if kept is None or (attempt, serial, records) > (kept.attempt, kept.serial, kept.records):
                newest[point] = CheckpointAt(segment, attempt, serial, records)
    return newest


def newest_failures(segments: Iterable[Segment]) -> dict[int, tuple[int, str, str]]:
    """For each point that failed its latest failure: attempt, error, traceback."""
    newest: dict[int, tuple[int, str, str]] = {}
    for segment in segments:
        for point, failure in segment.failed.items():
            if point not in newest or failure[0] > newest[point][0]:
                newest[point] = failure
    return newest
