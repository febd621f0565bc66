"""The house decorator: every compiled loop of simlab goes through `jit`.

Flags, in one place:
- ``error_model="numpy"``: 1.9 x faster loops, same bits (division by zero gives inf, as in NumPy).
- ``nogil=True``: a worker's control thread can react while a loop runs.
- ``cache=True`` in a directory *named by a hash of the package's sources*. Numba keys its cache on the file of the
  decorated function alone, so a cached loop that calls a helper in another file would go on with the old
  helper after an edit. With the hash in the path an edit anywhere in the package starts a new, empty cache.
- Functions outside the package are compiled but never cached: their helpers' sources cannot be known.
- Loads and saves are serialised by a file lock: two processes that save different signatures of one function at
  once otherwise give both the same data file, and one of them later runs the other's machine code.

The cache lies in the first directory of these that can be written: ``$SIMLAB_CACHE_DIR``, ``$XDG_CACHE_HOME/simlab``
or ``~/.cache/simlab``, the system's directory for temporary files; if none can, nothing is cached.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar, overload

import numba
import numpy as np
from filelock import FileLock
from numpy.typing import DTypeLike

F = TypeVar("F", bound=Callable[..., Any])

PACKAGE = Path(__file__).resolve().parent.parent
FLAGS: dict[str, Any] = {"error_model": "numpy", "nogil": True}


@functools.cache
def source_hash() -> str:
    """Hash of every Python file of the package: names the cache, and tells a result which code made it."""
    digest = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*.py")):
        digest.update(path.relative_to(PACKAGE).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


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
    """The directory of compiled code for these sources, or None where nothing can be written."""
    for base in _candidates():
        path = base / f"numba-{source_hash()}"
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


def _serialise(cache: Any, lock: FileLock) -> None:
    """Put `lock` around the cache's loads and saves."""

    def locked(method: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(method)
        def call(*args: Any) -> Any:
            try:
                with lock:
                    return method(*args)
            except OSError:  # a full disk: compiled all the same, only not kept
                return None

        return call

    cache.load_overload = locked(cache.load_overload)
    cache.save_overload = locked(cache.save_overload)


@overload
def jit(function: F) -> F: ...
@overload
def jit(*, signatures: list[Any] | None = None, named: str | None = None, **flags: Any) -> Callable[[F], F]: ...
def jit(
    function: F | None = None, *, signatures: list[Any] | None = None, named: str | None = None, **flags: Any
) -> F | Callable[[F], F]:
    """Compile with the house flags: ``@jit``, or ``@jit(signatures=[…], fastmath={"contract"})`` to add to them.

    `signatures` compiles at import for just these types; needed by a loop that takes another compiled function as
    a `numba.types.FunctionType` argument.

    `named` is for a function made by another and closed over compiled ones. Numba would look for its code under what
    it closes over, which differs in every process, and compile it anew in each; it is kept under this name instead,
    which must tell everything that varies. ``named=""``: not kept at all (it closes over code of the user's).
    It becomes part of the function's own name: numba calls machine code by that name and a number that starts anew in
    every process, so that two variants of one name, one compiled here and one loaded, could be taken for each other.
    """

    def decorate(func: F) -> F:
        inside = named != "" and Path(func.__code__.co_filename).resolve().is_relative_to(PACKAGE)
        directory = cache_dir() if inside else None
        if named:
            suffix = "_" + "".join(letter if letter.isalnum() else "_" for letter in named)
            func.__qualname__ = func.__qualname__.removesuffix(suffix) + suffix  # `per_real` comes twice
        dispatcher: Any = numba.njit(**{**FLAGS, **flags})(func)
        if directory is not None:
            kept = numba.config.CACHE_DIR
            numba.config.CACHE_DIR = str(directory)
            try:
                dispatcher.enable_caching()
            finally:
                numba.config.CACHE_DIR = kept
            _serialise(dispatcher._cache, FileLock(directory / "lock"))
            if named is not None:
                dispatcher._cache._index_key = lambda signature, codegen: (signature, codegen.magic_tuple(), named)
        for signature in signatures or ():
            dispatcher.compile(signature)
        if signatures:
            dispatcher.disable_compile()
        return dispatcher  # type: ignore[no-any-return]

    return decorate if function is None else decorate(function)


class PerReal:
    """A compiled function for each float type, made when it is first asked for: ``loop[np.float32]``.

    Offered two signatures that take functions, numba compiles those functions for both to find out which one fits.
    One type at a time halves the seconds of the first run.
    """

    def __init__(self, make: Callable[[np.dtype[Any]], Any]) -> None:
        self._make, self._made = make, dict[np.dtype[Any], Any]()

    def __getitem__(self, dtype: DTypeLike) -> Any:
        real = np.dtype(dtype)
        if real not in self._made:
            self._made[real] = self._make(real)
        return self._made[real]


def per_real(signature: Callable[[Any], Any], **flags: Any) -> Callable[[Callable[..., Any]], PerReal]:
    """Decorate a loop that has the signature ``signature(real)`` for real = float64 and float32."""

    def decorate(function: Callable[..., Any]) -> PerReal:
        return PerReal(lambda dtype: jit(signatures=[signature(numba.from_dtype(dtype))], **flags)(function))

    return decorate
