"""The house decorator: every compiled loop of simlab goes through `jit`.

It differs from `numba.njit` in these points:

- ``error_model="numpy"``: division by zero gives inf, as in NumPy. Loops are 1.9 times faster, with the same bits.
- ``nogil=True``: a worker's control thread can react while a loop runs.
- Compiled code is kept on disk (`code_cache`), under a key of everything that it depends on (`code_key`). Numba's own
  key is the file of the decorated function alone: after an edit of a helper in another file, a cached loop would go on
  with the old helper.
- Functions outside simlab and the packages that add kinds to it are compiled, but not kept on disk: the sources of
  their helpers are not known.
- Signatures are compiled when they are first needed (`declared`), not when they are declared.
- Threads of parallel loops do not spin for long (`waiting`).
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
from simlab.core.waiting import wait_briefly

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

    signatures: the only types that it is compiled for, each when first needed (`simlab.core.declared`). A loop that
        takes another compiled function as an argument (`numba.types.FunctionType`) needs them.
    named: for a closure over other compiled functions: a name for what it closes over. Empty: not kept on disk, for a
        closure over code of the user's.
    flags: options of `numba.njit`.

    Numba's index of the cache includes the objects that a function closes over. Their identity changes per process, so
    nothing would be found again. `named` replaces that part of the index. Closures that differ must have different
    names: `named` becomes part of the function's name, by which machine code is called. With equal names, code compiled
    in this process and code loaded from disk could be taken for each other.
    """

    def decorate(func: F) -> F:
        if numba.config.DISABLE_JIT:  # NUMBA_DISABLE_JIT=1, for a debugger: plain Python
            return func
        if named:
            suffix = "_" + "".join(letter if letter.isalnum() else "_" for letter in named)
            func.__qualname__ = (
                func.__qualname__.removesuffix(suffix) + suffix
            )  # once, though `per_real` decorates a function once per type
        if flags.get("parallel"):
            wait_briefly()
        dispatcher: Any = numba.njit(**{**FLAGS, **flags})(func)
        dispatcher.declared = tuple(signatures or ())
        if named != "" and in_package(func.__code__.co_filename):
            dispatcher._cache = CodeCache(dispatcher, closure_in_key=named is not None)
        if signatures:
            declare(dispatcher, signatures)
        compiled: F = dispatcher
        return compiled

    return decorate if function is None else decorate(function)


class PerReal:
    """One compiled function per float type, ``loop[np.float64]`` and ``loop[np.float32]``, each made when asked for.

    One function with both signatures would take twice as long to compile: where arguments are functions, numba compiles
    them for both types to find out which signature fits.
    """

    def __init__(self, compile_for: Callable[[np.dtype[Any]], Any]) -> None:
        self._compile_for, self._by_type = compile_for, dict[np.dtype[Any], Any]()

    def __getitem__(self, dtype: DTypeLike) -> Any:
        real = np.dtype(dtype)
        if real not in self._by_type:
            self._by_type[real] = self._compile_for(real)
        return self._by_type[real]


def per_real(signature: Callable[[Any], Any], **flags: Any) -> Callable[[Callable[..., Any]], PerReal]:
    """Decorate a loop that is compiled per float type.

    signature: numba's float64 or float32 → the signature of the loop for that type.
    flags: as in `jit`.
    """

    def decorate(function: Callable[..., Any]) -> PerReal:
        return PerReal(lambda dtype: jit(signatures=[signature(numba.from_dtype(dtype))], **flags)(function))

    return decorate
