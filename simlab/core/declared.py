"""Declared signatures that are compiled when they are first needed, not when they are declared.

``@njit(signature)`` compiles at once: importing a module would compile everything that it declares. `declare` gives a
dispatcher (numba's object for a compiled function) its signatures without compiling them. One is compiled when it is
first needed by

- a call from Python,
- another compiled function that calls this one, or
- a conversion to a `numba.types.FunctionType`, to be passed as an argument.

Arguments are converted to the declared types, and no other types are compiled. When all signatures are compiled, the
dispatcher is numba's own again, with its fast path for calls.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

from numba.core import sigutils, types
from numba.core.errors import TypingError


class NoMatch(TypingError, TypeError):
    """The arguments fit none of the declared signatures."""


def declare(dispatcher: Any, signatures: Sequence[Any]) -> None:
    """Let `dispatcher` be compiled for these signatures alone, each when it is first needed.

    Replaces two methods of the dispatcher that numba calls when it needs compiled code: `compile` for a call, whose
    arguments may still be converted, and `get_compile_result` for a function pointer, whose types must be exact.
    """
    declared = {tuple(signature.args): signature for signature in signatures}
    for one, other in combinations(declared, 2):
        # Numba uses a compiled signature that fits after a conversion, and does not ask for one that fits exactly but
        # is not compiled. Arrays are never converted, so that signatures with other arrays cannot be confused.
        pairs = zip(one, other, strict=True)
        if not any(isinstance(a, types.Array) and isinstance(b, types.Array) and a != b for a, b in pairs):
            raise ValueError(f"{one} and {other}: several signatures must differ in the type of an array")
    compile_now, get_result = dispatcher.compile, dispatcher.get_compile_result

    def compile_declared(sig: Any) -> Any:
        args, _ = sigutils.normalize_signature(sig)
        chosen = dispatcher.typingctx.resolve_overload(dispatcher.py_func, list(declared.values()), args, {})
        if chosen is None:
            raise NoMatch(f"No matching definition for argument type(s) {', '.join(map(str, args))}")
        if chosen.args not in dispatcher.overloads:
            compile_now(chosen)
            if len(dispatcher.overloads) == len(declared):
                dispatcher.disable_compile()
                del dispatcher.compile, dispatcher.get_compile_result  # numba's own again
        return dispatcher.overloads[chosen.args].entry_point

    def get_compile_result(sig: Any) -> Any:
        if tuple(sig.args) not in declared:
            raise TypingError(f"{sig} is not declared")
        return get_result(sig)

    dispatcher.compile, dispatcher.get_compile_result = compile_declared, get_compile_result
