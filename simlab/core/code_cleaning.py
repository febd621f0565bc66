"""Removes compiled code that is no longer used, so that the cache does not grow with every edit and version.

`clean` does something at most once per day, when new code is saved. It removes

- code that no process has loaded for UNUSED_DAYS (an index file's time is that of its last use, to the day);
- while there are more than MOST_BYTES, the code that was used longest ago;
- caches of the earlier layout, directories ``numba-<hash>`` next to ours, not read or written for OLD_LAYOUT_DAYS.

Files are removed under the lock that every load and save holds, so no process is reading them. A process that looks
for them later compiles again. Anything else in these directories is left alone, and errors are ignored.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from filelock import FileLock, Timeout

DAY_SECONDS = 86400.0
UNUSED_DAYS = 30
OLD_LAYOUT_DAYS = 2
MOST_BYTES = 256 << 20  # the code of the whole package is about 10 MB
STAMP = "cleaned"
"""Empty file whose time is that of the last cleaning."""
FILE = re.compile(r"(?P<entry>.+-[0-9a-f]{24}\.py\d+)\.(nbi|\d+\.nbc)(\.tmp\.[0-9a-f]+)?")
"""Index, data and temporary files; `entry` is the function's name and key."""
OLD_LAYOUT = re.compile(r"numba-[0-9a-f]{16}")


class _Entry(NamedTuple):
    """The code of one function and key.

    used: time of its last use, in seconds since 1970. The first field, so that entries sort by it.
    size: bytes of its files.
    files: its index and data files.
    """

    used: float
    size: int
    files: tuple[Path, ...]


def clean(directory: Path, lock: FileLock, now: float | None = None) -> None:
    """Remove unused code, unless that was done within the last 24 hours.

    directory: that of the cache.
    lock: the cache's lock, not held.
    now: seconds since 1970; by default the time of the call.
    """
    now = time.time() if now is None else now
    with contextlib.suppress(OSError):
        stamp = directory / STAMP
        if stamp.exists() and now - stamp.stat().st_mtime < DAY_SECONDS:
            return
        stamp.touch()
        with lock:
            _remove_unused(directory, now)
        for old in directory.parent.iterdir():
            if OLD_LAYOUT.fullmatch(old.name):
                _remove_layout(old, now)


def _remove_unused(directory: Path, now: float) -> None:
    kept = 0
    for entry in sorted(_entries(directory), reverse=True):  # most recently used first
        kept += entry.size
        if now - entry.used > UNUSED_DAYS * DAY_SECONDS or kept > MOST_BYTES:
            kept -= entry.size
            for file in entry.files:
                file.unlink(missing_ok=True)


def _entries(directory: Path) -> Iterator[_Entry]:
    found = dict[str, list[Path]]()
    for file in directory.iterdir():
        if match := FILE.fullmatch(file.name):
            found.setdefault(match["entry"], []).append(file)
    for files in found.values():
        stats = [file.lstat() for file in files]
        yield _Entry(max(s.st_mtime for s in stats), sum(s.st_size for s in stats), tuple(sorted(files)))


def _remove_layout(old: Path, now: float) -> None:
    with contextlib.suppress(OSError, Timeout):
        if old.is_symlink() or (hasattr(os, "getuid") and old.stat().st_uid != os.getuid()):
            return
        stats = [path.stat() for path in (old, *old.rglob("*"))]
        # Of directories the time of access does not count: listing them, as just done, changes it.
        used = max(s.st_mtime if stat.S_ISDIR(s.st_mode) else max(s.st_mtime, s.st_atime) for s in stats)
        if now - used > OLD_LAYOUT_DAYS * DAY_SECONDS:
            with FileLock(old / "lock", timeout=0):
                shutil.rmtree(old)
