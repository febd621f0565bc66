"""The files of a Gram store, ``K.h5`` and beside it ``.part``, ``.part.json`` and ``.lock``: regular files, or refused.

A result that is a link stands for the file that it leads to. The others must not be links: through one, somebody who
may write in a shared directory could make simlab overwrite or delete another file.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from simlab.core.errors import BadInput, WriteFailed
from simlab.record.atomic import HALF_WRITTEN, fsync_directory


@dataclass(frozen=True)
class Places:
    """The paths of a store.

    path: the result, links followed.
    part: the unfinished file.
    journal: journal of the unfinished file's blocks.
    lock: held by the process that writes.
    """

    path: Path
    part: Path
    journal: Path
    lock: Path

    @classmethod
    def of(cls, path: Path) -> Places:
        """The paths for this result; refuses links, directories and devices that are in the way."""
        place = Path(os.path.realpath(path)) if path.is_symlink() else path
        _refuse_unless_regular(place)  # the root has no name
        part, journal, lock = (place.with_name(place.name + end) for end in (".part", ".part.json", ".lock"))
        for file in (part, journal, lock):
            refuse_unless_alone(file)
        if lock.exists() and lock.stat().st_size:
            raise BadInput(f"{lock}: not a lock of simlab (it should be empty); move it away")
        return cls(place, part, journal, lock)

    @contextlib.contextmanager
    def one_line_errors(self) -> Iterator[None]:
        """Make one line, a `WriteFailed`, of what the system refuses: a full disk, permissions, a broken disk."""
        try:
            yield
        except OSError as error:
            raise WriteFailed(f"{self.part}: cannot read or write: {error.strerror or error}") from error

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Let one process at a time write the file. The system ends the lock with the process."""
        lock = FileLock(self.lock, timeout=0)  # opened without following a link
        try:
            lock.acquire()
        except Timeout:
            raise BadInput(f"{self.path}: another process is writing it") from None
        except OSError as error:
            raise WriteFailed(f"{self.path}: cannot write: {error.strerror or error}") from None
        try:
            self._remove_half_written()
            yield
        finally:
            self.lock.unlink(missing_ok=True)
            lock.release()

    def _remove_half_written(self) -> None:
        """What a kill left of a journal, or of a header that was being mended: nobody else writes it now."""
        names = re.compile(f"({re.escape(self.journal.name)}|{re.escape(self.part.name)}){HALF_WRITTEN}")
        for name in os.listdir(self.path.parent):
            if names.fullmatch(name):
                (self.path.parent / name).unlink(missing_ok=True)


def refuse_unless_alone(path: Path) -> None:
    """Refuses, to write into it, a file that is a link or has a second name (a hard link), which would change too."""
    found = _refuse_unless_regular(path)
    if found and found.st_nlink > 1:
        raise BadInput(f"{path}: has {found.st_nlink} names (hard links), and all would change; replace it by a copy")


def _refuse_unless_regular(path: Path) -> os.stat_result | None:
    try:
        found = path.lstat()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror or error}") from None
    if stat.S_ISLNK(found.st_mode):
        raise BadInput(f"{path}: is a link, and nothing is written through it; move it away")
    if not stat.S_ISREG(found.st_mode):
        raise BadInput(f"{path}: is not a regular file; move it away or choose another name")
    return found


def set_aside(path: Path) -> Path:
    """Rename to ``NAME.damaged``, ``NAME.damaged-2``, …: nothing is lost; returns the new name."""
    count = 1
    while os.path.lexists(aside := path.with_name(f"{path.name}.damaged{'' if count == 1 else f'-{count}'}")):
        count += 1
    os.rename(path, aside)
    fsync_directory(path.parent)
    return aside
