"""Reports when numba compiles code for the cache, which makes the first run of a version slow."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from numba.core import event

from simlab.core.code_cache import CodeCache


class _Watch(event.Listener):  # type: ignore[misc]
    """Counts the functions that numba compiles.

    report: called with (functions, busy), as `watch` says.
    depth: compilations under way. Numba compiles the functions that a function calls inside its compilation.
    functions: number of functions compiled so far.
    """

    def __init__(self, report: Callable[[int, bool], None]) -> None:
        self.report, self.depth, self.functions = report, 0, 0

    def _is_saved(self, happened: Any) -> bool:
        """Whether the code will be saved in the cache."""
        cache = happened.data["dispatcher"]._cache
        return isinstance(cache, CodeCache) and cache.keeps

    def on_start(self, event: Any) -> None:
        if self._is_saved(event):
            self.depth += 1
            if self.depth == 1:
                self.report(self.functions, True)

    def on_end(self, event: Any) -> None:
        if self._is_saved(event):
            self.depth -= 1
            self.functions += 1
            self.report(self.functions, self.depth > 0)


def watch(report: Callable[[int, bool], None]) -> None:
    """Call ``report(functions, busy)`` when compiling begins, after each function, and when it ends.

    functions: number of functions that this process has compiled.
    busy: whether it goes on compiling.

    Code loaded from the cache is not counted, nor code that is never saved, such as a user's own activation.
    """
    event.register("numba:compile", _Watch(report))


@contextlib.contextmanager
def watching(report: Callable[[int, bool], None]) -> Iterator[None]:
    """As `watch`, until the block ends."""
    listener = _Watch(report)
    event.register("numba:compile", listener)
    try:
        yield
    finally:
        event.unregister("numba:compile", listener)
