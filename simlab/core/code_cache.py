"""The cache of compiled code on disk: where it lies, and what is found in it.

One index and its data files per function and key (`simlab.core.code_key`), all in one directory. Another version of a
function has another key, so other files: two checkouts that share a cache do not disturb each other, and code of an
earlier version is never found.

The directory is the first of these that can be written: ``$SIMLAB_CACHE_DIR``, ``$XDG_CACHE_HOME/simlab`` or
``~/.cache/simlab``, the system's directory for temporary files; if none can, nothing is cached.

Code that is no longer used is removed (`code_cleaning`).

Loads and saves are serialised by a file lock: two processes that save different signatures of one function at once
otherwise give both the same data file, and one of them later runs the other's machine code.
"""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from filelock import FileLock
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile

from simlab.core.code_cleaning import DAY, clean
from simlab.core.code_key import NotKeyable, code_key

LAYOUT = "compiled-1"


def _candidates() -> Iterator[Path]:
    if given := os.environ.get("SIMLAB_CACHE_DIR"):
        yield Path(given)
    if home := os.environ.get("XDG_CACHE_HOME"):
        yield Path(home) / "simlab"
    with contextlib.suppress(RuntimeError):  # a user without a home
        yield Path("~/.cache/simlab").expanduser()
    yield Path(tempfile.gettempdir()) / f"simlab-{os.getuid() if hasattr(os, 'getuid') else 'user'}"


@functools.cache
def cache_dir() -> Path | None:
    """The directory of compiled code, or None where nothing can be written."""
    for base in _candidates():
        path = base / LAYOUT
        try:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            # Compiled code is loaded from here: another user's directory is not to be trusted.
            if hasattr(os, "getuid") and path.stat().st_uid != os.getuid():
                continue
            with tempfile.TemporaryFile(dir=path):
                return path
        except OSError:
            continue
    return None


@functools.cache
def cache_lock() -> FileLock:
    """Held by whoever reads, writes or removes files of the cache."""
    directory = cache_dir()
    assert directory is not None
    return FileLock(directory / "lock")


class _Serialised(CompileResultCacheImpl):  # type: ignore[misc]
    """How a compiled function becomes bytes; numba's own but for the place on disk, which `CodeCache` knows."""

    def __init__(self, function: Any) -> None:
        self._lineno = function.__code__.co_firstlineno
        self._locator = SimpleNamespace(_py_file=function.__code__.co_filename, ensure_cache_path=lambda: None)


class CodeCache(FunctionCache):  # type: ignore[misc]
    """The compiled code of one function, looked up by its key when it is first needed.

    closure_in_key: the code is kept whatever the function closes over, since the key tells that.
    """

    _cache_file: Any

    def __init__(self, dispatcher: Any, closure_in_key: bool) -> None:
        self._dispatcher, self._closure_in_key = dispatcher, closure_in_key
        self._py_func, self._name = dispatcher.py_func, repr(dispatcher.py_func)
        self._impl = _Serialised(dispatcher.py_func)
        self.enable()

    @property
    def cache_path(self) -> str | None:
        return None if (directory := cache_dir()) is None else str(directory)

    @property
    def keeps(self) -> bool:
        """Whether code of this function will be found again by another process."""
        return self._open() is not None

    def _open(self) -> IndexDataCacheFile | None:
        """The files of the function as it is now: a global that it uses may have been set since the last time."""
        if (directory := cache_dir()) is None:
            return None
        try:
            key = code_key(self._dispatcher)
        except NotKeyable:
            return None
        name = f"{self._py_func.__module__}.{self._py_func.__qualname__}".replace("<", "").replace(">", "")
        python = f"py{sys.version_info.major}{sys.version_info.minor}"
        return IndexDataCacheFile(str(directory), f"{name[-120:]}-{key}.{python}", key)

    def _index_key(self, signature: Any, codegen: Any) -> Any:
        if self._closure_in_key:
            return signature, codegen.magic_tuple()
        return super()._index_key(signature, codegen)

    def _locked(self, method: Callable[..., Any], *args: Any) -> Any:
        self._cache_file = self._open()
        if self._cache_file is None:
            return None
        try:
            with cache_lock():
                return method(*args)
        except OSError:  # a full disk: compiled all the same, only not kept
            return None

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        found = self._locked(super().load_overload, sig, target_context)
        if found is not None:
            self._note_use()
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        self._locked(super().save_overload, sig, data)
        if (directory := cache_dir()) is not None:
            clean(directory, cache_lock())

    def flush(self) -> None:
        self._locked(super().flush)

    def _note_use(self) -> None:
        """The index's time is when it was last used, to the day."""
        path = self._cache_file._index_path
        with contextlib.suppress(OSError):
            if time.time() - os.stat(path).st_mtime > DAY:
                os.utime(path)
