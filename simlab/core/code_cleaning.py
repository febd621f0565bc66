"""Removes compiled code that is no longer used, so that the cache does not grow with every edit and version.

`clean` runs at most once a day, when new code is saved. It removes, from the cache's directory,

- what no process has loaded for UNUSED_DAYS (the time of an index file is that of its last use, to the day);
- beyond MOST_BYTES, what was used longest ago;
- caches of the earlier layout (``numba-<hash>`` next to it) that nobody has read or written for OLD_LAYOUT_DAYS.

Files go under the lock that every load and save holds, so no process is reading them; one that looks for them later
compiles again. Anything else in these directories is left alone, and errors are ignored.
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

DAY = 86400.0
UNUSED_DAYS = 30
OLD_LAYOUT_DAYS = 2
MOST_BYTES = 256 << 20  # the code of the whole package is about 10 MB
STAMP = "cleaned"
FILE = re.compile(r"(?P<entry>.+-[0-9a-f]{24}\.py\d+)\.(nbi|\d+\.nbc)(\.tmp\.[0-9a-f]+)?")
OLD_LAYOUT = re.compile(r"numba-[0-9a-f]{16}")


class _Entry(NamedTuple):
    """The code of one function and key: its index and data files."""

    used: float
    size: int
    files: tuple[Path, ...]


def clean(directory: Path, lock: FileLock, now: float | None = None) -> None:
    """Remove old code from `directory`, and old directories next to it, if that was not done today."""
    now = time.time() if now is None else now
    with contextlib.suppress(OSError):
        stamp = directory / STAMP
        if stamp.exists() and now - stamp.stat().st_mtime < DAY:
            return
        stamp.touch()
        with lock:
            _remove_unused(directory, now)
        for old in directory.parent.iterdir():
            if OLD_LAYOUT.fullmatch(old.name):
                _remove_layout(old, now)


def _remove_unused(directory: Path, now: float) -> None:
    kept = 0
    for entry in sorted(_entries(directory), reverse=True):  # the last used first
        kept += entry.size
        if now - entry.used > UNUSED_DAYS * DAY or kept > MOST_BYTES:
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
        # A directory's time of access is changed by looking into it, as just done.
        used = max(s.st_mtime if stat.S_ISDIR(s.st_mode) else max(s.st_mtime, s.st_atime) for s in stats)
        if now - used > OLD_LAYOUT_DAYS * DAY:
            with FileLock(old / "lock", timeout=0):
                shutil.rmtree(old)
