"""A file appears whole or not at all: write aside, fsync, rename, fsync the directory."""

from __future__ import annotations

import contextlib
import os
import re
import uuid
from collections.abc import Iterator
from pathlib import Path

from simlab.core.errors import WriteFailed


@contextlib.contextmanager
def committing(path: Path) -> Iterator[Path]:
    """Yield a temporary path; when the block ends, make it durable under `path` in one rename."""
    temporary = path.with_name(f"{path.name}.{uuid.uuid4().hex[:8]}.tmp")
    try:
        yield temporary
        descriptor = os.open(temporary, os.O_RDWR)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.replace(temporary, path)
        fsync_directory(path.parent)
    except (OSError, RuntimeError) as error:
        # h5py reports a full disk as OSError while writing and as RuntimeError while closing.
        temporary.unlink(missing_ok=True)
        raise WriteFailed(f"{path}: cannot write: {_reason(error)}") from error
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _reason(error: BaseException) -> str:
    if isinstance(error, OSError) and error.errno:
        return os.strerror(error.errno)
    found = re.search(r"error message = '([^']+)'", str(error))
    return found[1] if found else str(error).splitlines()[0]


def fsync_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
