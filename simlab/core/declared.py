"""Declared signatures that are compiled when they are first needed, not when they are declared.

Numba compiles declared signatures at once, so that importing a module compiles all that it declares. Here a dispatcher
knows its signatures from the start, and compiles one when a call, another compiled function or a conversion to a
`numba.types.FunctionType` first asks for it. Arguments are converted to what is declared; nothing else is compiled.
Once all are compiled a call takes numba's fast path, as with signatures compiled at once.
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
    """Let `dispatcher` be compiled for just these signatures, each when it is first needed."""
    declared = {tuple(signature.args): signature for signature in signatures}
    for one, other in combinations(declared, 2):
        # Numba takes a compiled signature that fits with a conversion before it asks for one that fits exactly.
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
        if tuple(sig.args) not in declared:  # a pointer to the function: no argument can be converted
            raise TypingError(f"{sig} is not declared")
        return get_result(sig)

    dispatcher.compile, dispatcher.get_compile_result = compile_declared, get_compile_result
