"""Limits on the threads of BLAS and numba, as in a worker of a sweep: bits do not depend on the caller's settings."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numba
from threadpoolctl import threadpool_limits

from simlab.core import checks
from simlab.core.blas import one_blas_thread
from simlab.core.crew import on_threads


def checked(threads: Any) -> int:
    """A number of threads, at least 1 and at most what numba was started with."""
    return checks.whole(threads, "threads", least=1, most=int(numba.config.NUMBA_NUM_THREADS))


@contextlib.contextmanager
def limited(threads: int) -> Iterator[None]:
    """Within this context BLAS and numba use `threads` threads; afterwards as many as before."""
    # A caller may train in several of its own threads at once. Each call would then restore BLAS to what another call
    # had set; `one_blas_thread` is safe there.
    blas = one_blas_thread() if threads == 1 else threadpool_limits(threads, user_api="blas")
    with blas, on_threads(threads):
        yield
