"""A file appears whole or not at all: write aside, fsync, rename, fsync the directory."""

from __future__ import annotations

import contextlib
import io
import os
import stat
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import h5py

from simlab.core.errors import BadInput, WriteFailed
from simlab.record import checksum

HALF_WRITTEN = r"\.[0-9a-f]{8}\.tmp"  # what a killed process leaves: a file's own name with this behind it


@contextlib.contextmanager
def committing(path: Path) -> Iterator[Path]:
    """Yield a temporary path to write; when the block ends, make it durable under `path` in one rename."""
    with _temporary(path) as temporary:
        try:
            yield temporary
        except OSError as error:
            raise _write_failed(path, error) from error
        _install(temporary, path)


@contextlib.contextmanager
def committing_hdf5(path: Path, *, sealed: bool = False, **options: Any) -> Iterator[h5py.File]:
    """Yield an HDF5 file open for writing; when the block ends, make it durable under `path` in one rename.

    sealed: put the checksum of the whole file behind its end (`simlab.record.checksum`).
    options: of `h5py.File`.

    Not for a process in which a signal handler may raise: inside HDF5's calls the exception would be lost, and a
    write with it. Workers ignore signals.
    """
    with _temporary(path) as temporary:
        try:
            raw = temporary.open("wb+", buffering=0)
        except OSError as error:
            raise _write_failed(path, error) from error
        guarded = _Guarded(raw)
        try:
            with raw, h5py.File(guarded, "w", **options) as file:
                yield file
        finally:
            if guarded.error is not None:
                raise _write_failed(path, guarded.error) from guarded.error
        if sealed:
            try:
                checksum.seal(temporary)
            except OSError as error:
                raise _write_failed(path, error) from error
        _install(temporary, path)


@contextlib.contextmanager
def _temporary(path: Path) -> Iterator[Path]:
    temporary = path.with_name(f"{path.name}.{uuid.uuid4().hex[:8]}.tmp")
    try:
        yield temporary
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise


def _install(temporary: Path, path: Path) -> None:
    try:
        descriptor = os.open(temporary, os.O_RDWR)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.replace(temporary, path)
        fsync_directory(path.parent)
    except OSError as error:
        raise _write_failed(path, error) from error


def unlink_file(path: Path) -> None:
    """Unlink a regular file, if it is there; a link, a directory or anything else is left alone."""
    with contextlib.suppress(FileNotFoundError):
        if stat.S_ISREG(path.lstat().st_mode):
            path.unlink()


def set_aside(path: Path, directory: Path) -> Path:
    """Move a file into a directory, made where needed, under a name that nothing there has; returns the new path."""
    try:
        directory.mkdir(exist_ok=True)
        if directory.is_symlink():
            raise BadInput(f"{directory}: is a link, and nothing is moved through it; remove it to go on")
        target, number = directory / path.name, 0
        while os.path.lexists(target):
            number += 1
            target = directory / f"{path.name}.{number}"
        path.rename(target)
        fsync_directory(directory)
        fsync_directory(path.parent)
    except OSError as error:
        raise WriteFailed(f"{path}: cannot be moved to {directory}: {error.strerror or error}") from error
    return target


def _write_failed(path: Path, error: OSError) -> WriteFailed:
    return WriteFailed(f"{path}: cannot write: {error.strerror or error}")


def fsync_directory(directory: Path) -> None:
    """Make renames and removals in a directory durable."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class _Guarded(io.RawIOBase):
    """The file under HDF5. Remembers the first failed write and from then on writes into the void.

    HDF5 cannot close a file that it cannot write: told of a full disk it leaks the file, reports every object again
    while it is collected, and may crash at exit. So it is not told; the error is raised when the file is closed.
    """

    def __init__(self, raw: IO[bytes]) -> None:
        self.raw = raw
        self.error: OSError | None = None
        self.position = 0
        self.end = 0

    def write(self, data: Any, /) -> int:
        view = memoryview(data).cast("B")
        if self.error is None:
            try:
                self.raw.seek(self.position)
                done = 0
                while done < len(view):
                    done += self.raw.write(view[done:])
            except OSError as error:
                self.error = error
        self.position += len(view)
        self.end = max(self.end, self.position)
        return len(view)

    def readinto(self, buffer: Any, /) -> int:
        view = memoryview(buffer).cast("B")
        self.raw.seek(self.position)
        data = self.raw.read(len(view))
        view[:] = data.ljust(len(view), b"\0")
        self.position += len(view)
        return len(view)

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        self.position = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self.position, io.SEEK_END: self.end}[whence]
        return self.position

    def tell(self) -> int:
        return self.position

    def truncate(self, size: int | None = None, /) -> int:
        self.end = self.position if size is None else size
        if self.error is None:
            try:
                self.raw.truncate(self.end)
            except OSError as error:
                self.error = error
        return self.end

    def flush(self) -> None:
        pass
