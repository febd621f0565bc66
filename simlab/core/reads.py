"""Which fields of nested kinds a computation looks at.

What does not look at a field does not depend on it. So a check that looked at ``data.dim`` and at nothing else gives
the same answer for every value of ``flow.step``, and one million values of that axis need one check. `watching` tells
which fields were looked at; `simlab.lab.covering` draws the conclusion.

While somebody watches, `Table` has a ``__getattribute__`` that takes notes; otherwise it has none, and costs nothing.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

ALL = "*"
"""In place of a field's name: all of them, as in a comparison, a hash or a copy."""
_WATCH = threading.Lock()
_now: Reads | None = None


class Reads:
    """What was looked at so far: (path of the object, name of the field).

    The path is the dotted key of the object's table, "experiment" for the experiment's own fields.

    at: path of the object under construction, which has no name yet. An object made elsewhere counts for it as well,
        which can only note too much.
    found: looked at in an object that is there.
    own: looked at by the rules of the object under construction.
    """

    def __init__(self) -> None:
        self.thread = threading.get_ident()
        self.at = ""
        self.found: set[tuple[str, str]] = set()
        self.own: set[tuple[str, str]] = set()
        self._named: dict[int, tuple[str, Any]] = {}  # with the object itself, so that its id stays its own

    def name(self, thing: Any, path: str) -> None:
        self._named[id(thing)] = (path, thing)

    def note(self, thing: Any, field: str) -> None:
        field = ALL if field == "__dict__" else field
        if id(thing) in self._named:
            self.found.add((self._named[id(thing)][0], field))
        else:
            self.own.add((self.at, field))

    def forget(self) -> None:
        """Begin anew with the next point."""
        self.found.clear()
        self.own.clear()
        self._named.clear()

    def looked_at(self, key: str, own: bool) -> bool:
        """Whether the field of this dotted key was looked at; `own`: also by the rules of its own table."""
        path, _, field = key.rpartition(".")
        return any(
            at in seen
            for seen in ([self.found, self.own] if own else [self.found])
            for at in [(path, field), (path, ALL)]
        )


def current() -> Reads | None:
    """Who is watching in this thread."""
    return _now if _now is not None and _now.thread == threading.get_ident() else None


@contextlib.contextmanager
def watching(cls: type) -> Iterator[Reads]:
    """Take notes of every field of a `cls` that is looked at. One at a time: a second thread waits."""
    global _now
    with _WATCH:
        reads = Reads()

        def looked_at(self: Any, name: str) -> Any:
            if threading.get_ident() == reads.thread:
                reads.note(self, name)
            return object.__getattribute__(self, name)

        _now = reads
        cls.__getattribute__ = looked_at  # type: ignore[method-assign,assignment]
        try:
            yield reads
        finally:
            del cls.__getattribute__
            _now = None
