"""The cache of compiled code on disk: where it is, and how code is saved and loaded.

*Files.* All lie in one directory: one index, with its data files, per function and key (`simlab.core.code_key`).
Another version of a function has another key, so it has other files. Two checkouts can therefore share a cache, and
code of an earlier version is never loaded.

*Directory.* The first of these that can be written and is safe:

1. ``$SIMLAB_CACHE_DIR``
2. ``$XDG_CACHE_HOME/simlab``
3. ``~/.cache/simlab``
4. ``simlab-UID`` in the system's directory for temporary files
5. a temporary directory of this process and its workers, removed at the end

If none can be written, nothing is cached.

*Safety.* Machine code is loaded from here, so no other user may have written it (`ownership`):

- The cache's own directory, and ``simlab-UID``, must be ours and writable by nobody else.
- The system's directory for temporary files must be ours or root's, and sticky if others may write it.
- A directory that the user names (1 to 3) may be a link. What it leads to must be ours or root's, and sticky if
  everybody may write it.
- Files that another user owns or may write are not read.

*Cleaning.* Code that is no longer used is removed (`code_cleaning`).

*Locking.* A file lock is held during every load and save. Without it two processes that save different signatures of
one function at once could choose the same name for their data files; one would later run the other's machine code.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import io
import os
import pickle
import shutil
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, BinaryIO

from filelock import FileLock
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile

from simlab.core.code_cleaning import DAY_SECONDS, clean
from simlab.core.code_key import NotKeyable, code_key
from simlab.core.ownership import is_own_file, is_private, is_safe_base, make_private, read_own

LAYOUT = "compiled-1"
"""Name of the cache's directory; another arrangement of its files would get another name."""
LOCK = "lock"
"""Name of the lock file in it."""
PRIVATE = "SIMLAB_PRIVATE_CACHE"
"""Environment variable that tells workers which temporary directory their parent has made."""


def _chosen() -> Iterator[Path]:
    """The directories 1 to 3 of the list above."""
    if given := os.environ.get("SIMLAB_CACHE_DIR"):
        yield Path(given)
    if home := os.environ.get("XDG_CACHE_HOME"):
        yield Path(home) / "simlab"
    with contextlib.suppress(RuntimeError):  # a user without a home
        yield Path("~/.cache/simlab").expanduser()


def _in_chosen(base: Path) -> Path | None:
    """The cache in a directory that the user names; None where that is not safe."""
    base.mkdir(mode=0o700, parents=True, exist_ok=True)
    base = base.resolve()
    return make_private(base, LAYOUT) if is_safe_base(base) else None


def _in_temporary() -> Path | None:
    """The cache in the system's directory for temporary files; None where that is not safe."""
    base = Path(tempfile.gettempdir()).resolve()
    if not is_safe_base(base):
        return None
    user = f"simlab-{os.getuid() if hasattr(os, 'getuid') else 'user'}"
    return make_private(base, user, LAYOUT) or _in_private(base)


def _in_private(base: Path) -> Path | None:
    """The cache in a temporary directory of this process, or of the process that started it."""
    given = Path(os.environ.get(PRIVATE, ""))
    if not (given.parent == base and given.exists() and is_private(given)):
        given = Path(tempfile.mkdtemp(prefix="simlab-", dir=base))
        os.environ[PRIVATE] = str(given)
        atexit.register(_remove, given, os.getpid())
    return make_private(given, LAYOUT)


def _remove(directory: Path, maker: int) -> None:
    if os.getpid() == maker:  # a forked child inherits the exit handler, but must not remove anything
        shutil.rmtree(directory, ignore_errors=True)


@functools.cache
def cache_dir() -> Path | None:
    """The directory of compiled code, or None where nothing can be written."""
    places: list[Callable[[], Path | None]] = [functools.partial(_in_chosen, base) for base in _chosen()]
    for find in (*places, _in_temporary):
        with contextlib.suppress(OSError):
            path = find()
            if path is not None and is_own_file(path / LOCK):
                with tempfile.TemporaryFile(dir=path):  # OSError where the directory cannot be written
                    return path
    return None


@functools.cache
def cache_lock() -> FileLock:
    """The lock that is held while files of the cache are read, written or removed."""
    directory = cache_dir()
    assert directory is not None
    return FileLock(directory / LOCK)


class _Serialised(CompileResultCacheImpl):  # type: ignore[misc]
    """Numba's own conversion of compiled functions to bytes and back, without its choice of a directory."""

    def __init__(self, function: Any) -> None:
        self._lineno = function.__code__.co_firstlineno
        self._locator = SimpleNamespace(_py_file=function.__code__.co_filename, ensure_cache_path=lambda: None)


class _OwnFiles(IndexDataCacheFile):  # type: ignore[misc]
    """Index and data files. Those that another user may have written, and damaged ones, count as missing."""

    def _load_index(self) -> dict[Any, str]:
        file = io.BytesIO(read_own(self._index_path) or b"")
        with contextlib.suppress(Exception):  # a damaged file can raise anything
            if pickle.load(file) == self._version:
                stamp, overloads = pickle.load(file)
                if stamp == self._source_stamp:
                    return dict(overloads)
        return {}

    def _load_data(self, name: str) -> Any:
        try:
            return pickle.loads(read_own(self._data_path(name)) or b"")
        except Exception as error:
            raise FileNotFoundError(name) from error  # numba then compiles

    @contextlib.contextmanager
    def _open_for_write(self, filepath: str) -> Iterator[BinaryIO]:
        temporary = f"{filepath}.tmp.{uuid.uuid4().hex[:16]}"
        try:
            # For us alone, whatever the umask: a file that our group may write would not be read again.
            with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                yield file
            os.replace(temporary, filepath)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise


class CodeCache(FunctionCache):  # type: ignore[misc]
    """The compiled code of one function, looked up by its key when it is first needed.

    dispatcher: numba's object for the function.
    closure_in_key: whether the key already tells closures apart. Numba's own key of a closure changes with every
        process, and is then left out.
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
        """Whether code of this function is saved, so that another process finds it."""
        return self._open() is not None

    def _open(self) -> _OwnFiles | None:
        """The files of the function, None where it is not cached. Looked up each time: its globals may have changed."""
        if (directory := cache_dir()) is None:
            return None
        try:
            key = code_key(self._dispatcher)
        except NotKeyable:
            return None
        name = f"{self._py_func.__module__}.{self._py_func.__qualname__}".replace("<", "").replace(">", "")
        python = f"py{sys.version_info.major}{sys.version_info.minor}"
        return _OwnFiles(str(directory), f"{name[-120:]}-{key}.{python}", key)

    def _index_key(self, signature: Any, codegen: Any) -> Any:
        if self._closure_in_key:
            return signature, codegen.magic_tuple()
        return super()._index_key(signature, codegen)

    def _locked(self, method: Callable[..., Any], *args: Any) -> Any:
        """``method(*args)`` on the function's files, under the lock; None where there are none or the disk fails."""
        self._cache_file = self._open()
        if self._cache_file is None:
            return None
        try:
            with cache_lock():
                return method(*args)
        except OSError:  # such as a full disk: the code is compiled and used, but not saved
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
        """Note the use of today in the index file's time, which `code_cleaning` reads."""
        path = self._cache_file._index_path
        with contextlib.suppress(OSError):
            if time.time() - os.stat(path).st_mtime > DAY_SECONDS:
                os.utime(path)
