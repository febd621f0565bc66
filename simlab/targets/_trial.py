"""A target drawn on trial, while a spec is checked: what it refuses is known before the run, whatever its size.

A target of many numbers takes gigabytes or minutes to draw. On trial only MOST numbers are drawn; one that asks for
more is taken to be possible if these numbers fit into memory.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simlab.core import checks
from simlab.core.errors import BadInput
from simlab.core.params import Params, kind_of, module_of

MOST = 1_000_000


class TooMany(Exception):
    """More numbers than are drawn on trial."""

    def __init__(self, count: int) -> None:
        self.count = count


def _counted(name: str, default: int) -> Callable[..., Any]:
    """The method of a Generator, but refusing to draw too much; `default`: position of the argument `size`."""

    def method(self: np.random.Generator, *args: Any, **options: Any) -> Any:
        size = options.get("size", args[default] if len(args) > default else None)
        count = math.prod(size) if isinstance(size, tuple) else int(size or 1)
        if count > MOST:
            raise TooMany(count)
        return getattr(super(_Frugal, self), name)(*args, **options)

    return method


class _Frugal(np.random.Generator):
    """A generator that draws no more than MOST numbers at a time."""

    standard_normal = _counted("standard_normal", 0)
    random = _counted("random", 0)
    permutation = _counted("permutation", 0)  # of so many
    choice = _counted("choice", 1)
    uniform = _counted("uniform", 2)
    integers = _counted("integers", 2)


def on_trial(target: Params, dim: int) -> Callable[[NDArray[np.float64]], NDArray[np.float64]] | None:
    """The target in this dimension; None where it is too large to be tried out.

    Raises BadInput where there is none, or where it does not fit into memory.
    """
    rng = _Frugal(np.random.PCG64(0))
    try:
        found: Callable[[NDArray[np.float64]], NDArray[np.float64]] = module_of(target).draw(target, dim, rng)
        return found
    except BadInput as error:
        table = "data" if str(error).startswith("dim ") else "target"
        raise BadInput(f"{table}.{error}") from None
    except TooMany as many:
        checks.room(many.count, f"target.kind = {kind_of(target)!r}: in dimension {dim:.3g}")
        return None
