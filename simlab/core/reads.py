"""Which fields of nested kinds a computation looks at.

A result cannot depend on a field that was not looked at. A check that looked at ``data.dim`` and at nothing else gives
the same answer for every value of ``flow.step``, so that a million values of that axis need one check. `watching` notes
which fields were looked at; `simlab.lab.covering` decides by it which checks can be left out.

Inside `watching`, `Table` has a ``__getattribute__`` that takes notes. Outside it has none, and costs nothing.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

T = TypeVar("T")
ALL = "*"
"""In place of a field's name: all fields, as a comparison, a hash or a copy looks at them."""
_WATCH = threading.Lock()
_now: Reads | None = None


class Reads:
    """What was looked at so far, as pairs (path of the object, name of the field).

    The path is the dotted key of the object's table; "experiment" for the experiment's own fields.

    at: path of the object under construction, which is not known by `name` yet. An unknown object counts as this one.
        That can note too much, never too little.
    found: pairs looked at in objects that are complete.
    own: pairs looked at by the validation rules of the object under construction.
    """

    def __init__(self) -> None:
        self.thread = threading.get_ident()
        self.at = ""
        self.found: set[tuple[str, str]] = set()
        self.own: set[tuple[str, str]] = set()
        # id of an object → its path. The object is kept too: as long as it lives, no other object gets its id.
        self._named: dict[int, tuple[str, Any]] = {}

    def name(self, thing: Any, path: str) -> None:
        """From now on `thing` is known by this path."""
        self._named[id(thing)] = (path, thing)

    def note(self, thing: Any, field: str) -> None:
        """A field of `thing` is looked at."""
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
        """Whether the field of this dotted key was looked at.

        own: whether looks by the validation rules of its own table count too.
        """
        path, _, field = key.rpartition(".")
        return any(
            at in seen
            for seen in ([self.found, self.own] if own else [self.found])
            for at in [(path, field), (path, ALL)]
        )


def construct(at: str, build: Callable[[], T]) -> T:
    """``build()``, the object of the table with the dotted key `at`; known by that path if somebody watches."""
    if (watch := current()) is None:
        return build()
    before, watch.at = watch.at, at
    try:
        found = build()
    finally:
        watch.at = before
    watch.name(found, at)
    return found


def current() -> Reads | None:
    """The notes that are taken in this thread; None where nobody watches."""
    return _now if _now is not None and _now.thread == threading.get_ident() else None


@contextlib.contextmanager
def watching(cls: type) -> Iterator[Reads]:
    """Inside, notes are taken of every field of a `cls` that is looked at. A second thread waits for the first."""
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
