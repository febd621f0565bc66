"""BLAS with one thread while other threads share the cores: both spinning is 4 x slower."""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Iterator
from typing import Any

from threadpoolctl import ThreadpoolController


class _Limit:
    """The limit now in force, and how many are inside it."""

    lock = threading.Lock()
    inside = 0
    limiter: Any = None


@functools.cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()  # looks through all loaded libraries: once is enough


@contextlib.contextmanager
def one_blas_thread() -> Iterator[None]:
    """The first to enter sets the limit and the last to leave lifts it, in whatever threads they are."""
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
