"""Calls with one wrong argument: of a valid call each argument in turn is replaced by what it should not be.

A call may give a result, or raise a `SimlabError` of one line that names one of its arguments. Anything else is a
mistake of the function: another exception, a warning, more than SECONDS, more than BYTES of memory, or a result where
the value is no number at all (`NEVER`) and the argument takes numbers.
"""

from __future__ import annotations

import inspect
import itertools
import resource
import signal
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from simlab.core.errors import SimlabError

SECONDS, BYTES = 5, 1 << 30


class Opaque:
    """An object that is neither a number nor a container."""


MASKED = np.ma.array([[0.5, 0.25], [0.125, 1.0]], mask=[[0, 1], [0, 0]])
NEVER: dict[str, Callable[[], Any]] = {
    "text": lambda: "a",
    "digits": lambda: "1",
    "texts": lambda: ["1", "2"],
    "bytes": lambda: b"xy",
    "complex": lambda: 1j,
    "complexes": lambda: np.array([[1.0, 1j]]),
    "nan": lambda: float("nan"),
    "nans": lambda: np.full((3, 3), np.nan),
    "object": Opaque,
    "date": lambda: np.datetime64("2020-01-01"),
    "dates": lambda: np.array(["2020-01-01", "2020-01-02"], "datetime64[D]"),
    "masked": lambda: MASKED,
    "masked row": lambda: MASKED[0],
    "ragged": lambda: [[1.0], [1.0, 2.0]],
    "generator": lambda: (1.0 + k for k in range(3)),
}
"""Values that no argument takes which takes numbers."""
MAYBE: dict[str, Callable[[], Any]] = {
    "none": lambda: None,
    "infinity": lambda: float("inf"),
    "infinities": lambda: [[-np.inf, np.inf]],
    "minus one": lambda: -1,
    "zero": lambda: 0,
    "half": lambda: 0.5,
    "huge": lambda: 10**30,
    "beyond": lambda: 10**400,
    "tiny": lambda: 5e-324,
    "large": lambda: 1e308,
    "true": lambda: True,
    "empty": list,
    "empty row": lambda: [[]],
    "table": dict,
    "vector": lambda: np.arange(3.0),
    "matrix": lambda: np.arange(12.0).reshape(4, 3) - 4.0,
    "three ways": lambda: np.ones((2, 2, 2)),
    "integers": lambda: np.arange(6).reshape(2, 3),
    "single": lambda: np.ones((2, 3), np.float32),
    "many": lambda: np.broadcast_to(1.0, (10**12,)),
    "wide": lambda: np.broadcast_to(1.0, (10**6, 10**6)),
}
"""Values that some arguments take."""


@dataclass(frozen=True)
class Call:
    """A valid call by keyword.

    takes: argument → names of the values of `NEVER` that it does take.
    words: what an error may name instead of an argument, such as an entry of it.
    """

    name: str
    function: Callable[..., Any]
    arguments: dict[str, Any]
    takes: dict[str, set[str]] = field(default_factory=dict)
    words: tuple[str, ...] = ()

    def run(self, **changed: Any) -> Any:
        found = self.function(**(self.arguments | changed))
        return list(itertools.islice(found, 3)) if isinstance(found, Iterator) else found


class Slow(BaseException):
    """A call took more than SECONDS."""


def mistakes(call: Call) -> list[str]:
    """What goes wrong, one line for each wrong argument."""
    found = []
    for argument in call.arguments:
        for word, make in (NEVER | MAYBE).items():
            said = _outcome(call, argument, make())
            allowed = word not in NEVER or word in call.takes.get(argument, ())
            if said is None and not allowed:
                said = "was taken"
            if said:
                found.append(f"{call.name}({argument}={word}): {said}")
    return found


def _outcome(call: Call, argument: str, value: Any) -> str | None:
    """None for a result, "" for a proper refusal, else what is wrong."""
    try:
        with limits(), warnings.catch_warnings():
            warnings.simplefilter("error")
            call.run(**{argument: value})
    except SimlabError as error:
        line = str(error)
        names = [name for name in (*call.arguments, *call.words) if name in line]
        if "\n" in line or len(line) >= 500:
            return f"a line of {len(line)} letters: {line[:80]!r}"
        return "" if names else f"names no argument: {line}"
    except Slow:
        return f"more than {SECONDS} s"
    except BaseException as error:
        return f"{type(error).__name__}: {str(error)[:150]}"
    return None


class limits:
    """A context of at most SECONDS by the clock and BYTES more of memory."""

    def __enter__(self) -> None:
        with open("/proc/self/statm", encoding="ascii") as file:
            used = int(file.read().split()[0]) * resource.getpagesize()
        self.before = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (used + BYTES, self.before[1]))
        self.handler = signal.signal(signal.SIGALRM, _over)
        signal.setitimer(signal.ITIMER_REAL, SECONDS)

    def __exit__(self, *_: object) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self.handler)
        resource.setrlimit(resource.RLIMIT_AS, self.before)


def _over(*_: object) -> None:
    raise Slow


def public(module: Any) -> set[str]:
    """Functions and classes that a module defines itself under a public name."""
    return {
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and (inspect.isfunction(value) or inspect.isclass(value))
        and value.__module__ == module.__name__
    }
