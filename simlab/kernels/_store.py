"""Gram matrices larger than memory: block by block into one HDF5 file, resumable after kill -9.

The datasets are contiguous and allocated when the file is made; it is closed, and blocks are written at the datasets'
offsets with plain writes. What is unfinished lies beside the result as ``K.h5.part`` with a journal
``K.h5.part.json`` of the blocks that are on the disk (fsync first, then the journal by rename); the finished file
gets its name by a rename.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import math
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from filelock import FileLock, Timeout
from numpy.typing import NDArray

from simlab.core.errors import BadInput, WriteFailed
from simlab.core.resources import cores
from simlab.core.sources import source_hash
from simlab.kernels._gram import TILE, Assembly, inputs
from simlab.kernels._kernel import Kernel
from simlab.record.atomic import committing, fsync_directory

LARGEST = 16 * TILE
COMMIT_SECONDS = 5.0
OVERHEAD = 400 << 20  # the interpreter with its libraries (250 MB seen), tables and the tiles of each thread
CHUNK = 256


@dataclass(frozen=True)
class Task:
    """What is to be computed: kernels by the names of their datasets, inputs, storage type and rows a block."""

    kernels: Mapping[str, Kernel]
    X: NDArray[Any]
    dtype: np.dtype[Any]
    block: int

    @classmethod
    def of(cls, kernels: Mapping[str, Kernel], X: NDArray[Any], dtype: Any, memory: int | None) -> Task:
        mapped = isinstance(X, np.memmap)  # its pages come and go
        data, kind = inputs(X, "X"), np.dtype(dtype)
        block = LARGEST
        if memory is not None:
            room = memory - OVERHEAD - (0 if mapped else data.nbytes)
            cell = len(kernels) * kind.itemsize
            # A block, and the strip of it that is turned round for its mirror.
            rows = (math.sqrt(CHUNK**2 + 4 * max(room, 0) / cell) - CHUNK) / 2
            block = min(LARGEST, int(rows) // TILE * TILE)
            if block == 0:
                least = memory - room + cell * TILE * (TILE + CHUNK)
                raise BadInput(f"memory = {memory / 1e6:.0f} MB: too little here, {least / 1e6:.0f} MB is the least")
        return cls(dict(kernels), data, kind, block)

    def identity(self) -> dict[str, Any]:
        """What must agree for a file to be gone on with."""
        digest = hashlib.sha256()
        for begin in range(0, self.X.shape[0], 4096):
            digest.update(np.ascontiguousarray(self.X[begin : begin + 4096]).data)
        return {
            "kernels": {name: repr(kernel) for name, kernel in self.kernels.items()},
            "inputs": f"{self.X.shape} {self.X.dtype} {digest.hexdigest()}",
            "dtype": self.dtype.name,
            "code": source_hash(),
        }

    def blocks(self) -> list[tuple[slice, slice]]:
        """On and below the diagonal."""
        n, step = self.X.shape[0], self.block
        starts = range(0, n, step)
        return [(slice(i, min(i + step, n)), slice(j, min(j + step, n))) for i in starts for j in starts if j <= i]


def gram_file(
    kernels: Mapping[str, Kernel],
    X: NDArray[Any],
    path: Path,
    *,
    dtype: Any = np.float64,
    memory: int | None = None,
    threads: int | None = None,
    overwrite: bool = False,
    progress: Callable[[int, int, int], None] = lambda done, total, before: None,
    say: Callable[[str], None] = lambda line: None,
) -> Path:
    """Write K(x_i, x_j) of each kernel as a dataset of its name, with at most `memory` bytes in use.

    Called again after a kill with the same kernels and inputs it goes on; `progress` is told (pairs done, in all, done
    by an earlier call). `overwrite` allows to replace a finished file, when the new one is finished too, and to throw
    away an unfinished one that does not belong to these kernels and inputs.
    """
    task = Task.of(kernels, X, dtype, memory)
    part, journal = path.with_name(path.name + ".part"), path.with_name(path.name + ".part.json")
    if path.exists() and not overwrite:
        raise BadInput(f"{path}: exists already; --overwrite replaces it when all is done, or choose another name")
    if overwrite and path.exists() and not _is_gram(path):
        raise BadInput(f"{path}: not a Gram matrix of simlab, so it is not overwritten; move it away")
    assembly = Assembly.of(list(task.kernels.values()), task.X, task.X, True)  # refuses before anything is written
    with _alone(path):
        task, state = _resume(task, part, journal, overwrite)
        if not state:
            state = _create(task, part, journal)
        elif state["done"]:
            say(f"{part}: going on, {len(state['done'])} of {len(task.blocks())} blocks are there")
        _fill(task, assembly, part, journal, state, threads or cores(), progress)
        os.replace(part, path)
        fsync_directory(path.parent)
        journal.unlink()
    return path


@contextlib.contextmanager
def _alone(path: Path) -> Iterator[None]:
    """One process at a time for a file; the lock is the kernel's and ends with the process."""
    lock = FileLock(path.with_name(path.name + ".lock"), timeout=0)
    try:
        lock.acquire()
    except Timeout:
        raise BadInput(f"{path}: another process is writing it") from None
    except OSError as error:
        raise WriteFailed(f"{path}: cannot write: {error.strerror or error}") from None
    try:
        yield
    finally:
        Path(lock.lock_file).unlink(missing_ok=True)
        lock.release()


def _is_gram(path: Path) -> bool:
    """Whether a file is empty or was written here."""
    if path.stat().st_size == 0:
        return True
    try:
        with h5py.File(path, "r") as file:
            return {"code", "dtype", "inputs"} <= set(file.attrs)
    except (OSError, RuntimeError):
        return False


def _resume(task: Task, part: Path, journal: Path, overwrite: bool) -> tuple[Task, dict[str, Any]]:
    """The task with the blocks of an earlier call, and what it left; nothing where there is nothing to go on with."""
    if not journal.exists():
        if part.exists() and not _is_gram(part):
            raise BadInput(f"{part}: not a file of simlab; move it away to go on")
        return task, {}
    identity = task.identity()
    try:
        state: dict[str, Any] = json.loads(journal.read_text(encoding="utf-8"))
        differs = [key for key in identity if state["identity"][key] != identity[key]]
        earlier = replace(task, block=int(state["block"]))
        if not state["done"]:
            return task, {}  # nothing that could be lost
        sound = set(state["done"]) <= set(range(len(earlier.blocks())))
        if not differs and sound and part.exists():
            with h5py.File(part, "r") as file:
                state["offsets"] = {name: file[name].id.get_offset() for name in task.kernels}
        end = max(state["offsets"].values()) + task.X.shape[0] ** 2 * task.dtype.itemsize
    except OSError:  # of HDF5: the file ends before its data
        end = part.stat().st_size + 1
    except (ValueError, TypeError, KeyError, AttributeError):
        differs, sound = [], False
    if not differs and sound and part.exists() and part.stat().st_size >= end and earlier.block <= task.block:
        return earlier, state
    if overwrite:
        return task, {}
    if differs:
        why = f"belongs to another Gram matrix ({', '.join(differs)} differ)"
    elif not sound:
        why = f"cannot be gone on with, as {journal.name} is not a journal of simlab"
    elif not part.exists() or part.stat().st_size < end:
        why = f"gone or cut short, though {journal.name} is there"
    else:
        why = f"was begun with more memory, for blocks of {earlier.block} rows"
    raise BadInput(f"{part}: {why}; --overwrite starts anew, or choose another name")


def _create(task: Task, part: Path, journal: Path) -> dict[str, Any]:
    n = task.X.shape[0]
    needed, free = len(task.kernels) * n * n * task.dtype.itemsize, shutil.disk_usage(part.parent).free
    if needed > free:
        raise WriteFailed(f"{part}: needs {needed / 1e9:.1f} GB, the disk has {free / 1e9:.1f} GB left")
    journal.unlink(missing_ok=True)  # of a file that is thrown away now
    identity = task.identity()
    layout = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    layout.set_layout(h5py.h5d.CONTIGUOUS)
    layout.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    layout.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
    offsets = {}
    try:
        with h5py.File(part, "w", libver=("v110", "v110")) as file:
            file.attrs.update({"dtype": identity["dtype"], "inputs": identity["inputs"], "code": identity["code"]})
            for name, kernel in task.kernels.items():
                space = h5py.h5s.create_simple((n, n))
                dataset = h5py.h5d.create(file.id, name.encode(), h5py.h5t.py_create(task.dtype), space, layout)
                h5py.Dataset(dataset).attrs["kernel"] = repr(kernel)
                offsets[name] = dataset.get_offset()
    except (OSError, RuntimeError) as error:  # HDF5 tells a file-size limit as the latter
        raise WriteFailed(f"{part}: cannot write: {getattr(error, 'strerror', None) or error}") from error
    state = {"identity": identity, "block": task.block, "offsets": offsets, "done": []}
    _commit(journal, state)
    return state


def _commit(journal: Path, state: Mapping[str, Any]) -> None:
    with committing(journal) as temporary:
        temporary.write_text(json.dumps(state), encoding="utf-8")


def _fill(
    task: Task,
    assembly: Assembly,
    part: Path,
    journal: Path,
    state: dict[str, Any],
    threads: int,
    progress: Callable[[int, int, int], None],
) -> None:
    blocks = task.blocks()
    sizes = [(r.stop - r.start) * (c.stop - c.start) for r, c in blocks]
    done = set(state["done"])
    before = finished = sum(sizes[number] for number in done)
    buffers = [np.empty(task.block**2, dtype=task.dtype) for _ in task.kernels]
    descriptor = os.open(part, os.O_RDWR)
    try:
        committed = time.monotonic()
        for number, (rows, columns) in enumerate(blocks):
            if number in done:
                continue
            shape = (rows.stop - rows.start, columns.stop - columns.start)
            values = [buffer[: sizes[number]].reshape(shape) for buffer in buffers]
            share = functools.partial(_tell, progress, finished, sizes[number], sum(sizes), before)
            assembly.fill(values, rows, columns, threads, share)
            for name, block in zip(task.kernels, values, strict=True):
                _write(descriptor, part, state["offsets"][name], task, rows, columns, block)
            finished += sizes[number]
            state["done"].append(number)
            if time.monotonic() - committed >= COMMIT_SECONDS or number == len(blocks) - 1:
                os.fsync(descriptor)
                _commit(journal, state)
                committed = time.monotonic()
        os.fsync(descriptor)
    except OSError as error:
        raise WriteFailed(f"{part}: cannot write: {error.strerror or error}") from error
    finally:
        os.close(descriptor)


def _tell(
    progress: Callable[[int, int, int], None], at: int, size: int, total: int, before: int, done: int, whole: int
) -> None:
    """A block on the diagonal computes half of its entries: what it has done is scaled to its share of the file."""
    progress(at + size * done // whole, total, before)


def _write(
    descriptor: int, part: Path, offset: int, task: Task, rows: slice, columns: slice, block: NDArray[Any]
) -> None:
    """A block and its mirror, row by row."""
    _write_rows(descriptor, offset, task, rows.start, columns.start, block)
    if rows != columns:
        for begin in range(0, block.shape[1], CHUNK):
            strip = np.ascontiguousarray(block[:, begin : begin + CHUNK].T)
            _write_rows(descriptor, offset, task, columns.start + begin, rows.start, strip)


def _write_rows(descriptor: int, offset: int, task: Task, row: int, column: int, values: NDArray[Any]) -> None:
    n, size = task.X.shape[0], task.dtype.itemsize
    for i, line in enumerate(values):
        view, at = memoryview(line).cast("B"), offset + ((row + i) * n + column) * size
        while view:
            written = os.pwrite(descriptor, view, at)
            view, at = view[written:], at + written
