"""Pieces of LLVM code that `thin` and `gemm` write by hand: vectors, φ nodes, addresses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core.registry import cpu_target
from numba.extending import intrinsic

WORD, BYTES = ir.IntType(64), ir.IntType(8).as_pointer()


def emits(function: Callable[..., Any]) -> Any:
    """A function that gives LLVM code, for compiled functions to call (`numba.extending.intrinsic`)."""
    return intrinsic(prefer_literal=True)(function)


def has_feature(name: str) -> bool:
    """Whether numba compiles for a CPU with this feature, such as "avx512f"; NUMBA_CPU_NAME can name another CPU."""
    return f"+{name}" in cpu_target.target_context.codegen().magic_tuple()[2].split(",")


def phi(builder: Any, kind: Any, *incoming: Any) -> Any:
    """LLVM's φ node: a value that depends on the block that control comes from, given as pairs (value, block)."""
    node = builder.phi(kind)
    for value, block in incoming:
        node.add_incoming(value, block)
    return node


def everywhere(builder: Any, value: Any, vector: Any) -> Any:
    """A vector with this one value in every lane."""
    undefined = ir.Constant(vector, ir.Undefined)
    one = builder.insert_element(undefined, value, ir.IntType(32)(0))
    return builder.shuffle_vector(one, undefined, lanes([0] * vector.count))


def lanes(places: list[int]) -> Any:
    """What `shuffle_vector` takes: the place, in two vectors one after another, that each lane comes from."""
    return ir.Constant(ir.VectorType(ir.IntType(32), len(places)), places)


def load(builder: Any, address: Any, kind: Any, bytes_apart: int) -> Any:
    """The value of this kind at an address that is a multiple of `bytes_apart`."""
    return builder.load(builder.bitcast(address, kind.as_pointer()), align=bytes_apart)


def store(builder: Any, value: Any, address: Any, bytes_apart: int) -> None:
    builder.store(value, builder.bitcast(address, value.type.as_pointer()), align=bytes_apart)
