"""The house decorator: every compiled loop of simlab goes through `jit`.

Flags, in one place:
- ``error_model="numpy"``: 1.9 x faster loops, same bits (division by zero gives inf, as in NumPy).
- ``nogil=True``: a worker's control thread can react while a loop runs.
- Compiled code is kept on disk (`code_cache`) under a key of everything it depends on (`code_key`). Numba's own key is
  the file of the decorated function alone: a cached loop that calls a helper in another file would go on with the old
  helper after an edit.
- Functions outside the package are compiled but never cached: their helpers' sources cannot be known.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, overload

import numba
import numpy as np
from numpy.typing import DTypeLike

from simlab.core.code_cache import CodeCache
from simlab.core.declared import declare
from simlab.core.sources import in_package

F = TypeVar("F", bound=Callable[..., Any])

FLAGS: dict[str, Any] = {"error_model": "numpy", "nogil": True}


@overload
def jit(function: F) -> F: ...
@overload
def jit(*, signatures: list[Any] | None = None, named: str | None = None, **flags: Any) -> Callable[[F], F]: ...
def jit(
    function: F | None = None, *, signatures: list[Any] | None = None, named: str | None = None, **flags: Any
) -> F | Callable[[F], F]:
    """Compile with the house flags: ``@jit``, or ``@jit(signatures=[…], fastmath={"contract"})`` to add to them.

    `signatures`: the only types it is compiled for, each when first needed (`simlab.core.declared`). A loop that takes
    another compiled function as a `numba.types.FunctionType` argument needs them.

    Use `named` for a closure over other compiled functions. Numba's index of the cache includes the closed-over
    objects, whose identity changes per process, so nothing would be found again. Closures that differ must have
    different names: `named` becomes part of the function's own name. Numba calls machine code by that name and a number
    that starts anew in every process, so that two variants of one name, one compiled here and one loaded, could be
    taken for each other.
    ``named=""``: not kept at all (it closes over code of the user's).
    """

    def decorate(func: F) -> F:
        if named:
            suffix = "_" + "".join(letter if letter.isalnum() else "_" for letter in named)
            func.__qualname__ = func.__qualname__.removesuffix(suffix) + suffix  # `per_real` comes twice
        dispatcher: Any = numba.njit(**{**FLAGS, **flags})(func)
        dispatcher.declared = tuple(signatures or ())
        if named != "" and in_package(func.__code__.co_filename):
            dispatcher._cache = CodeCache(dispatcher, closure_in_key=named is not None)
        if signatures:
            declare(dispatcher, signatures)
        return dispatcher  # type: ignore[no-any-return]

    return decorate if function is None else decorate(function)


class PerReal:
    """A compiled function for each float type, made when it is first asked for: ``loop[np.float32]``.

    Offered two signatures that take functions, numba compiles those functions for both to find out which one fits.
    One type at a time halves the seconds of the first run.
    """

    def __init__(self, make: Callable[[np.dtype[Any]], Any]) -> None:
        self._make, self._made = make, dict[np.dtype[Any], Any]()

    def __getitem__(self, dtype: DTypeLike) -> Any:
        real = np.dtype(dtype)
        if real not in self._made:
            self._made[real] = self._make(real)
        return self._made[real]


def per_real(signature: Callable[[Any], Any], **flags: Any) -> Callable[[Callable[..., Any]], PerReal]:
    """Decorate a loop that has the signature ``signature(real)`` for real = float64 and float32."""

    def decorate(function: Callable[..., Any]) -> PerReal:
        return PerReal(lambda dtype: jit(signatures=[signature(numba.from_dtype(dtype))], **flags)(function))

    return decorate
