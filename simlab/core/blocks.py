"""The innermost loops of `simlab.core.gemm`, in LLVM's language: a block of a product, and copies of matrices.

Matrices are given by their addresses and the bytes from row to row. Numbers are of the type of an array, `like`.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils

from simlab.core.llvm import BYTES, WORD, emits, everywhere, has_feature, lanes, load, phi, store

WIDE = has_feature("avx512f")
VECTOR_BYTES = 64 if WIDE else 32
AHEAD_BYTES = 128
SET, GO_ON, ADD = range(3)


class Kind:
    """Types of the numbers and vectors of an array."""

    def __init__(self, context: Any, array: Any) -> None:
        self.real = context.get_data_type(array.dtype)
        self.bytes = context.get_abi_sizeof(self.real)
        self.lanes = VECTOR_BYTES // self.bytes
        self.vector = ir.VectorType(self.real, self.lanes)
        self.zero = ir.Constant(self.vector, [0.0] * self.lanes)


def at(builder: Any, address: Any, *offsets: Any) -> Any:
    """The place so many bytes after an address, a number; an offset that is a pair is a product."""
    place = builder.inttoptr(address, BYTES)
    for offset in offsets:
        place = builder.gep(place, [builder.mul(*offset) if isinstance(offset, tuple) else offset])
    return place


def fused_sum(builder: Any, kind: Kind) -> Any:
    """a b + c of vectors, rounded once where the CPU can."""
    name = f"llvm.fmuladd.v{kind.lanes}f{8 * kind.bytes}"
    return cgutils.get_or_insert_function(builder.module, ir.FunctionType(kind.vector, [kind.vector] * 3), name)


def prefetch(builder: Any, place: Any, near: int) -> None:
    """Begin to fetch the line of the cache at a place; near: 3 into the first level, 2 into the second."""
    kind = ir.FunctionType(ir.VoidType(), [BYTES, *[ir.IntType(32)] * 3])
    function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
    builder.call(function, [place, *map(ir.IntType(32), (0, near, 1))])


@emits
def multiply(typing: Any, shape: Any, like: Any, left: Any, right: Any, out: Any, terms: Any, mode: Any) -> Any:
    """LLVM code of a block of C ← L R (mode SET); C ← C + L R, one sum that goes on (GO_ON), or L R summed first (ADD).

    shape: 10 times its rows and its vectors per row, such as 64.
    like: an array of C's type.
    left: (address, bytes from row to row, bytes from column to column) of L.
    right, out: (address, bytes from row to row) of R and of C, whose rows are contiguous.
    terms: columns of L, at least 1.
    """
    rows, across = (range(count) for count in divmod(shape.literal_value, 10))

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = Kind(context, like)
        L, L_down, L_across = cgutils.unpack_tuple(builder, args[2])
        (R, R_down), (C, C_down) = (cgutils.unpack_tuple(builder, args[k]) for k in (3, 4))
        left_at, right_at = at(builder, L), at(builder, R)
        down = [builder.mul(WORD(r), L_down) for r in rows]
        places = [at(builder, C, (WORD(r), C_down), WORD(v * VECTOR_BYTES)) for r in rows for v in across]
        fused, zero = fused_sum(builder, kind), kind.zero

        entry = builder.block
        names = "before", "loop", "done", "adding", "end"
        before, loop, done, adding, end = (builder.append_basic_block(name) for name in names)
        builder.cbranch(builder.icmp_signed("==", args[6], WORD(GO_ON)), before, loop)
        builder.position_at_end(before)
        found = [load(builder, place, kind.vector, kind.bytes) for place in places]
        builder.branch(loop)

        builder.position_at_end(loop)
        p = phi(builder, WORD, (WORD(0), entry), (WORD(0), before))
        sums = [phi(builder, kind.vector, (zero, entry), (value, before)) for value in found]
        column, row = builder.gep(left_at, [builder.mul(p, L_across)]), builder.gep(right_at, [builder.mul(p, R_down)])
        prefetch(builder, builder.gep(column, [WORD(AHEAD_BYTES)]), near=2)
        of_R = [load(builder, builder.gep(row, [WORD(v * VECTOR_BYTES)]), kind.vector, kind.bytes) for v in across]
        new = []
        for r in rows:
            value = load(builder, builder.gep(column, [down[r]]), kind.real, kind.bytes)
            factor = everywhere(builder, value, kind.vector)
            new += [builder.call(fused, [factor, of_R[v], sums[r * len(across) + v]]) for v in across]
        following = builder.add(p, WORD(1))
        for node, value in zip((p, *sums), (following, *new), strict=True):
            node.add_incoming(value, loop)
        builder.cbranch(builder.icmp_signed("<", following, args[5]), loop, done)

        builder.position_at_end(done)
        builder.cbranch(builder.icmp_signed("==", args[6], WORD(ADD)), adding, end)
        builder.position_at_end(adding)
        added = [
            builder.fadd(load(builder, place, kind.vector, kind.bytes), value)
            for place, value in zip(places, new, strict=True)
        ]
        builder.branch(end)
        builder.position_at_end(end)
        last = [phi(builder, kind.vector, (a, done), (b, adding)) for a, b in zip(new, added, strict=True)]
        for value, place in zip(last, places, strict=True):
            store(builder, value, place, kind.bytes)
        return context.get_dummy_value()

    return types.void(shape, like, left, right, out, terms, mode), code


@emits
def copy_rows(typing: Any, like: Any, length: Any, origin: Any, into: Any, count: Any) -> Any:
    """LLVM code that copies `count` rows of `length` numbers, or of one vector where that is 0.

    origin, into: (address, bytes from row to row).
    """

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = Kind(context, like)
        line = ir.VectorType(kind.real, length.literal_value or kind.lanes)
        (start, apart), (target, target_apart) = (cgutils.unpack_tuple(builder, args[k]) for k in (2, 3))
        with cgutils.for_range(builder, args[4]) as loop:
            value = load(builder, at(builder, start, (loop.index, apart)), line, kind.bytes)
            store(builder, value, at(builder, target, (loop.index, target_apart)), kind.bytes)
        return context.get_dummy_value()

    return types.void(like, length, origin, into, count), code


@emits
def turn(typing: Any, like: Any, origin: Any, into: Any, count: Any) -> Any:
    """LLVM code that transposes as many rows as a vector has lanes, each of `count` vectors.

    origin, into: (address, bytes from row to row); those of the transpose are one vector long.
    """

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = Kind(context, like)
        (start, apart), (target, target_apart) = (cgutils.unpack_tuple(builder, args[k]) for k in (1, 2))
        with cgutils.for_range(builder, args[3]) as loop:
            step = loop.index, WORD(VECTOR_BYTES)
            rows = [
                load(builder, at(builder, start, (WORD(r), apart), step), kind.vector, kind.bytes)
                for r in range(kind.lanes)
            ]
            first = builder.mul(loop.index, WORD(kind.lanes))
            for r, value in enumerate(_transposed(builder, rows)):
                place = at(builder, target, (builder.add(first, WORD(r)), target_apart))
                store(builder, value, place, kind.bytes)
        return context.get_dummy_value()

    return types.void(like, origin, into, count), code


def _transposed(builder: Any, rows: list[Any]) -> list[Any]:
    """A square, transposed: rows at a distance of 1, then 2, 4, …, exchange the squares of that size off a diagonal."""
    count, apart = len(rows), 1
    while apart < count:
        upper = lanes([lane if not lane & apart else count + lane - apart for lane in range(count)])
        lower = lanes([lane + apart if not lane & apart else count + lane for lane in range(count)])
        new = list(rows)
        for r in range(count):
            if not r & apart:
                pair = rows[r], rows[r + apart]
                new[r], new[r + apart] = (builder.shuffle_vector(*pair, order) for order in (upper, lower))
        rows, apart = new, 2 * apart
    return rows
