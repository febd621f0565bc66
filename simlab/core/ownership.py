"""Directories and files that nobody but this user can have written: code is loaded from no others.

A directory is checked after the one above it, and the order matters. If only we can change the directory above, or if
its sticky bit keeps others from renaming what is ours, then nobody can exchange the directory once it was checked.
Links are not followed. Root could do anything anyway. Where there are no user ids (Windows), owners are not checked.
"""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

ROOT = 0
"""User id of root."""
OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
"""Bits of a mode that let the group or everybody write."""


def is_private(path: Path) -> bool:
    """Whether `path` is a directory, not a link, that we own and no other user may write."""
    found = path.lstat()
    return stat.S_ISDIR(found.st_mode) and (not hasattr(os, "getuid") or _only_ours(found))


def is_safe_base(path: Path) -> bool:
    """Whether `path` is a directory, not a link, in which no other user can exchange a directory of ours.

    It is root's or ours. If others may write it, it has the sticky bit, as /tmp has. Exception: our group may write a
    directory of ours.
    """
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode):
        return False
    if not hasattr(os, "getuid") or found.st_mode & stat.S_ISVTX:
        return not hasattr(os, "getuid") or found.st_uid in (ROOT, os.getuid())
    writers = stat.S_IWOTH if found.st_uid == os.getuid() else OTHERS_WRITE
    return found.st_uid in (ROOT, os.getuid()) and not found.st_mode & writers


def make_private(base: Path, *names: str) -> Path | None:
    """The directory base/name/…, made where it is missing; None if a directory below `base` is not private."""
    path = base
    for name in names:
        path = path / name
        with contextlib.suppress(FileExistsError):
            path.mkdir(mode=0o700)
        if not is_private(path):
            return None
    return path


def is_own_file(path: Path) -> bool:
    """Whether `path` is a file, not a link, that we own; also true where there is nothing."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return True
    return stat.S_ISREG(found.st_mode) and (not hasattr(os, "getuid") or found.st_uid == os.getuid())


def read_own(path: str) -> bytes | None:
    """The bytes of a file that only we can have written; None where there is no such file.

    The file is opened first and then checked, so that nobody can exchange it in between. A file with a second name (a
    hard link) is refused: another user may have linked a file of ours from elsewhere to this name.
    """
    try:  # O_NONBLOCK: opening a pipe of that name would wait for its writer
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
    """Whether we are the owner, and nobody else may write."""
    return found.st_uid == os.getuid() and not found.st_mode & OTHERS_WRITE
