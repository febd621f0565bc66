"""Directories and files that nobody but this user can have written: code is loaded from no others.

What holds of a directory is checked after what holds of the one above it: in a directory that only we can change, or
whose sticky bit keeps others from renaming what is ours, nobody can exchange what was found to be ours. Links are not
followed. Root may do anything anyway. Systems without user ids (Windows) are taken as they are.
"""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

ROOT = 0
OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def is_private(path: Path) -> bool:
    """Whether this is a directory (no link) of ours that no other user may write."""
    found = path.lstat()
    return stat.S_ISDIR(found.st_mode) and (not hasattr(os, "getuid") or _only_ours(found))


def is_safe_base(path: Path) -> bool:
    """Whether a directory of ours can lie in this one (no link) without another user exchanging it.

    Root's: with the sticky bit if others may write it, as /tmp. Our own: the same, but our group may write it.
    """
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode):
        return False
    if not hasattr(os, "getuid") or found.st_mode & stat.S_ISVTX:
        return not hasattr(os, "getuid") or found.st_uid in (ROOT, os.getuid())
    writers = stat.S_IWOTH if found.st_uid == os.getuid() else OTHERS_WRITE
    return found.st_uid in (ROOT, os.getuid()) and not found.st_mode & writers


def make_private(base: Path, *names: str) -> Path | None:
    """base/name/…, each directory made if it is missing; None if one of them is not private."""
    path = base
    for name in names:
        path = path / name
        with contextlib.suppress(FileExistsError):
            path.mkdir(mode=0o700)
        if not is_private(path):
            return None
    return path


def is_own_file(path: Path) -> bool:
    """Whether this is a file (no link) of ours, or nothing at all."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return True
    return stat.S_ISREG(found.st_mode) and (not hasattr(os, "getuid") or found.st_uid == os.getuid())


def read_own(path: str) -> bytes | None:
    """The bytes of a file that only we can have written; None where there is no such file.

    Checked is the very file that is read, not its name. A second name (a hard link) would be a file of ours from
    elsewhere.
    """
    try:  # not blocked by a pipe of that name
        number = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | _BINARY)
    except OSError:
        return None
    try:
        found = os.fstat(number)
        ours = not hasattr(os, "getuid") or (_only_ours(found) and found.st_nlink == 1)
        if not (stat.S_ISREG(found.st_mode) and ours):
            return None
        with open(number, "rb", closefd=False) as file:
            return file.read()
    finally:
        os.close(number)


_BINARY = getattr(os, "O_BINARY", 0)


def _only_ours(found: os.stat_result) -> bool:
    return found.st_uid == os.getuid() and not found.st_mode & OTHERS_WRITE
