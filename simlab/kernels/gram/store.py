"""Gram matrices larger than memory: block by block into one HDF5 file, resumable after kill -9.

The datasets are contiguous and allocated when the file is made; it is closed, and blocks are written at the datasets'
offsets with plain writes. What is unfinished lies beside the result as ``K.h5.part`` with a journal
``K.h5.part.json`` of the blocks that are on the disk and their checksums (fsync first, then the journal by rename); the
finished file gets its checksums and its seal (`simlab.kernels.gram.stored`), then its name by a rename.
"""

from __future__ import annotations

import hashlib
import math
import os
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simlab.core.errors import BadInput, WriteFailed
from simlab.core.resources import cores
from simlab.core.sources import source_hash
from simlab.kernels.gram import earlier, skeleton, stored
from simlab.kernels.gram.assembly import CHUNK_ROWS, TILE_ROWS, Assembly, inputs
from simlab.kernels.gram.blocks import STRIP_ROWS, Block, Matrix, blocks
from simlab.kernels.gram.journal import Journal
from simlab.kernels.gram.places import Places
from simlab.kernels.kernel import Kernel
from simlab.record.atomic import fsync_directory

LARGEST_BLOCK_ROWS = 16 * TILE_ROWS
COMMIT_SECONDS = 5.0
OVERHEAD_BYTES = 400 << 20  # the interpreter with its libraries (250 MB seen), tables and the tiles of each thread


@dataclass(frozen=True)
class Limits:
    """What a store may use.

    memory: bytes; blocks are made as large as fit. None: the largest that help.
    threads: number of threads. None: all usable cores.
    commit_seconds: time between commits of the journal; a kill loses the blocks since the last one. None: 5 s.
    """

    memory: int | None = None
    threads: int | None = None
    commit_seconds: float | None = None


@dataclass(frozen=True)
class Listener:
    """Whom a store tells how far it is.

    progress: called with (pairs done, pairs in all, pairs done by earlier calls).
    say: called with remarks, one line each.
    """

    progress: Callable[[int, int, int], None] = lambda done, total, before: None
    say: Callable[[str], None] = lambda line: None


@dataclass(frozen=True)
class Task:
    """What is to be computed.

    kernels: name of the dataset → kernel.
    X : (n, d), inputs.
    dtype: of the stored matrices.
    block: rows per block.
    """

    kernels: Mapping[str, Kernel]
    X: NDArray[Any]
    dtype: np.dtype[Any]
    block: int

    @classmethod
    def of(cls, kernels: Mapping[str, Kernel], X: NDArray[Any], dtype: Any, memory: int | None) -> Task:
        """With blocks as large as `memory` bytes allow."""
        mapped = isinstance(X, np.memmap)  # its pages come and go
        data, kind = inputs(X, "X"), np.dtype(dtype)
        block = LARGEST_BLOCK_ROWS
        if memory is not None:
            room = memory - OVERHEAD_BYTES - (0 if mapped else data.nbytes)
            cell = len(kernels) * kind.itemsize
            # A block, and the strip of it that is transposed for its mirror.
            rows = (math.sqrt(STRIP_ROWS**2 + 4 * max(room, 0) / cell) - STRIP_ROWS) / 2
            block = min(LARGEST_BLOCK_ROWS, int(rows) // TILE_ROWS * TILE_ROWS)
            if block == 0:
                least = memory - room + cell * TILE_ROWS * (TILE_ROWS + STRIP_ROWS)
                raise BadInput(f"memory = {memory / 1e6:.0f} MB: too little here, {least / 1e6:.0f} MB is the least")
        return cls(dict(kernels), data, kind, block)

    def identity(self) -> dict[str, Any]:
        """What must agree for a file to be gone on with."""
        digest = hashlib.sha256()
        for begin in range(0, self.X.shape[0], CHUNK_ROWS):
            digest.update(np.ascontiguousarray(self.X[begin : begin + CHUNK_ROWS]).data)
        return {
            "kernels": {name: repr(kernel) for name, kernel in self.kernels.items()},
            "inputs": f"{self.X.shape} {self.X.dtype} {digest.hexdigest()}",
            "dtype": self.dtype.name,
            "code": source_hash(),
        }

    def blocks(self) -> list[Block]:
        """On and below the diagonal, in the order of their numbers."""
        return blocks(self.X.shape[0], self.block)


NO_LIMITS, NOBODY = Limits(), Listener()


def gram_file(
    kernels: Mapping[str, Kernel],
    X: NDArray[Any],
    path: Path,
    *,
    dtype: Any = np.float64,
    overwrite: bool = False,
    repair: bool = False,
    limits: Limits = NO_LIMITS,
    listener: Listener = NOBODY,
) -> Path:
    """Write K(x_i, x_j) of each kernel as a dataset of its name; returns `path`.

    Called again after a kill with the same kernels and inputs it goes on, and where the file is finished it checks it
    and returns. Blocks that an earlier call left are read and compared with their checksums first.

    kernels: name of the dataset → kernel.
    X : (n, d), inputs; may be an `np.memmap`.
    dtype: of the stored matrices, float64 or float32.
    overwrite: replace a finished file, when the new one is finished too, and throw away an unfinished one that does not
        belong to these kernels and inputs.
    repair: compute damaged blocks again; what is damaged beyond that is set aside under another name and made anew.
    limits: memory, threads and time between commits.
    listener: what is called with progress and remarks.
    """
    task = Task.of(kernels, X, dtype, limits.memory)
    places = Places.of(Path(path))
    with places.one_line_errors(), places.locked():
        _refuse_beyond_disk(task, places.part, shutil.disk_usage(places.part.parent).total)  # before X is read
        call = earlier.Call(places, task.identity(), task.block, overwrite, repair, listener.say)
        if places.path.exists() and earlier.is_finished(call):
            return path
        assembly = Assembly.of(list(task.kernels.values()), task.X, task.X, True)  # refuses before anything is written
        journal = earlier.unfinished(call)
        if journal is None:
            journal = _create(task, places, call.identity)
        else:
            task = replace(task, block=journal.block)
            listener.say(f"{places.part}: going on, {len(journal.done)} of {len(task.blocks())} blocks are there")
        _fill(task, assembly, places, journal, limits, listener.progress)
        stored.finish(places.part, journal)
        os.replace(places.part, places.path)
        fsync_directory(places.path.parent)
        places.journal.unlink(missing_ok=True)
    return path


def _refuse_beyond_disk(task: Task, part: Path, room: int) -> None:
    needed = len(task.kernels) * task.X.shape[0] ** 2 * task.dtype.itemsize
    if needed > room:
        raise WriteFailed(f"{part}: needs {needed / 1e9:.1f} GB, the disk has room for {room / 1e9:.1f} GB")


def _create(task: Task, places: Places, identity: Mapping[str, Any]) -> Journal:
    part = places.part
    _refuse_beyond_disk(task, part, shutil.disk_usage(part.parent).free)
    journal = Journal(identity, task.X.shape[0], task.block)
    journal.commit(places.journal)  # from here on what lies there counts for nothing, also after a kill
    part.unlink(missing_ok=True)
    try:
        skeleton.create(part, journal)
    except (OSError, RuntimeError) as error:  # HDF5 tells a file-size limit as the latter
        reason = error.strerror if isinstance(error, OSError) else None
        raise WriteFailed(f"{part}: cannot write: {reason or error}") from error
    journal.commit(places.journal)
    return journal


def _fill(
    task: Task,
    assembly: Assembly,
    places: Places,
    journal: Journal,
    limits: Limits,
    progress: Callable[[int, int, int], None],
) -> None:
    """Compute and write the blocks that are not done."""
    threads = limits.threads or cores()
    commit_seconds = COMMIT_SECONDS if limits.commit_seconds is None else limits.commit_seconds
    every = task.blocks()
    sizes = [(r.stop - r.start) * (c.stop - c.start) for r, c in every]
    total, before = sum(sizes), sum(sizes[number] for number in journal.done)
    finished = before
    buffers = [np.empty(task.block**2, dtype=task.dtype) for _ in task.kernels]
    with stored.opened(places.part, write=True) as descriptor:
        committed = time.monotonic()
        for number, (rows, columns) in enumerate(every):
            if number in journal.done:
                continue
            shape = (rows.stop - rows.start, columns.stop - columns.start)
            values = [buffer[: sizes[number]].reshape(shape) for buffer in buffers]

            def tell(done: int, whole: int, at: int = finished, size: int = sizes[number]) -> None:
                # A block on the diagonal computes half of its entries: `done` is scaled to its share of the file.
                progress(at + size * done // whole, total, before)

            assembly.fill(values, rows, columns, threads, tell)
            matrices = [Matrix(descriptor, journal.offsets[name], journal.n, task.dtype) for name in task.kernels]
            written = [matrix.write((rows, columns), block) for matrix, block in zip(matrices, values, strict=True)]
            finished += sizes[number]
            journal.done[number] = written
            if time.monotonic() - committed >= commit_seconds or number == len(every) - 1:
                os.fsync(descriptor)
                journal.commit(places.journal)
                committed = time.monotonic()
        os.fsync(descriptor)
