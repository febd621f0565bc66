"""Compiled functions that are called by their address, so that they are compiled once.

Numba copies a compiled function into every function that calls it, and into all that call those, and LLVM optimises
each copy. The gradient and J v of a fully connected net, in both precisions, took 320 s to compile with two kinds of
products in them; 172 s with the products called by address, and 46 s with the parts of a layer called so, too.

    @per_real(SIGNATURE)
    def double(x, out): …                          # the function, compiled per float type

    call_double = caller(SIGNATURE)                # for compiled functions: call_double(address, (x, out))
    addresses([double], np.float64)                # the address, for this process alone
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numpy.typing import DTypeLike, NDArray

from simlab.core.jit import PerReal
from simlab.core.llvm import emits

_plain: list[Callable[..., Any]] = []
"""Functions by "address", where numba's JIT is off."""


def addresses(functions: Sequence[PerReal], dtype: DTypeLike) -> NDArray[np.int64]:
    """The addresses of these functions for a float type; they are compiled, or loaded, where they are not yet."""
    return np.array([_address(function[dtype]) for function in functions], np.int64)


def _address(dispatcher: Any) -> int:
    if numba.config.DISABLE_JIT:
        _plain.append(dispatcher)
        return len(_plain) - 1
    (signature,) = dispatcher.declared
    compiled = dispatcher.get_compile_result(signature)
    return int(compiled.library.get_pointer_to_function(compiled.fndesc.llvm_cfunc_wrapper_name))


def caller(signature: Callable[[Any], Any]) -> Any:
    """What compiled functions call with an address and the tuple of the arguments.

    signature: numba's float64 or float32, that of the first array among the arguments → signature of the function.
    """
    if numba.config.DISABLE_JIT:
        return lambda address, arguments: _plain[address](*arguments)

    @emits
    def call(typing: Any, address: Any, arguments: Any) -> Any:
        wanted = signature(next(one.dtype for one in arguments.types if isinstance(one, types.Array)))

        def code(context: Any, builder: Any, given: Any, args: Any) -> Any:
            result, *each = (context.get_value_type(one) for one in (wanted.return_type, *wanted.args))
            kind = ir.FunctionType(result, each)
            function = builder.inttoptr(args[0], kind.as_pointer())
            return builder.call(function, cgutils.unpack_tuple(builder, args[1]))

        return wanted.return_type(types.int64, types.Tuple(wanted.args)), code

    return call
