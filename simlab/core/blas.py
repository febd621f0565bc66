"""BLAS with one thread. Where other threads use all cores, BLAS threads beside them make both 4 times slower."""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Iterator
from typing import Any

from threadpoolctl import ThreadpoolController


class _Limit:
    """The limit now in force, shared by all threads of the process.

    lock: held while the other two change.
    inside: number of `one_blas_thread` blocks that are running.
    limiter: threadpoolctl's object that sets the old numbers of threads again; None before the first block.
    """

    lock = threading.Lock()
    inside = 0
    limiter: Any = None


@functools.cache
def _controller() -> ThreadpoolController:
    import scipy.linalg.cython_blas  # noqa: F401  compiled code calls SciPy's BLAS; only what is loaded can be limited

    return ThreadpoolController()  # slow: it looks through all loaded libraries


@contextlib.contextmanager
def one_blas_thread() -> Iterator[None]:
    """Inside the block BLAS uses one thread.

    Blocks may overlap, also in several threads: the first one to begin sets the limit, the last one to end lifts it.
    """
    with _Limit.lock:
        if _Limit.inside == 0:
            _Limit.limiter = _controller().limit(limits=1, user_api="blas")
        _Limit.inside += 1
    try:
        yield
    finally:
        with _Limit.lock:
            _Limit.inside -= 1
            if _Limit.inside == 0:
                _Limit.limiter.restore_original_limits()
