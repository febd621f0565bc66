"""Tells when numba compiles code that will be kept: what makes the first run of a version slow."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from numba.core import event

from simlab.core.code_cache import CodeCache


class _Watch(event.Listener):  # type: ignore[misc]
    """Numba compiles what a function calls inside the compilation of that function: `depth` of them at once."""

    def __init__(self, tell: Callable[[int, bool], None]) -> None:
        self.tell, self.depth, self.functions = tell, 0, 0

    def _kept(self, happened: Any) -> bool:
        cache = happened.data["dispatcher"]._cache
        return isinstance(cache, CodeCache) and cache.keeps

    def on_start(self, event: Any) -> None:
        if self._kept(event):
            self.depth += 1
            if self.depth == 1:
                self.tell(self.functions, True)

    def on_end(self, event: Any) -> None:
        if self._kept(event):
            self.depth -= 1
            self.functions += 1
            self.tell(self.functions, self.depth > 0)


def watch(tell: Callable[[int, bool], None]) -> None:
    """Call ``tell(functions, busy)`` when compiling begins, after each function, and when it ends.

    functions: how many this process has compiled. busy: whether it goes on compiling.
    Code that comes from the cache is not told, nor code that is never kept, such as a user's own activation.
    """
    event.register("numba:compile", _Watch(tell))


@contextlib.contextmanager
def watching(tell: Callable[[int, bool], None]) -> Iterator[None]:
    """As `watch`, until the block ends."""
    listener = _Watch(tell)
    event.register("numba:compile", listener)
    try:
        yield
    finally:
        event.unregister("numba:compile", listener)
