"""Limits on the threads of BLAS and numba, as a worker of a sweep has them: bits do not depend on the caller's."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numba
from threadpoolctl import threadpool_limits

from simlab.core import checks
from simlab.core.blas import one_blas_thread


def checked(threads: Any) -> int:
    """A number of threads that numba can have."""
    return checks.whole(threads, "threads", least=1, most=int(numba.config.NUMBA_NUM_THREADS))


@contextlib.contextmanager
def limited(threads: int) -> Iterator[None]:
    """Inside, BLAS and numba use so many threads; afterwards as many as before."""
    before = numba.get_num_threads()
    # With one thread several calls, in threads of the caller's, may overlap: each would restore what another set.
    blas = one_blas_thread() if threads == 1 else threadpool_limits(threads, user_api="blas")
    with blas:
        numba.set_num_threads(threads)
        try:
            yield
        finally:
            numba.set_num_threads(before)
