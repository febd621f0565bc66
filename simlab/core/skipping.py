"""Products of matrices, C ← A B or C ← C + A B, that skip the zeros of A, with the bits of `simlab.core.gemm`.

A ReLU leaves about half of its outputs 0, and so of what is propagated backwards. A zero changes no sum to which it is
added, times a finite number: entries of C are the same sums in the same order, with half of the work.

One bit per entry of A says whether it is 0 (`mark`), 64 of them in a word. B is copied into panels of 64 rows and
`PANEL_BYTES`, which stay in the first-level cache. A row of A meets a panel: the part of a row of C that belongs to it
is held in registers, and each entry of A that is not 0 is multiplied with a row of the panel.

GF/s on one core with AVX2 (EPYC), counted as if nothing were skipped, 1000 rows, in brackets `gemm`; half of A is 0:

                 float64      float32
    512 × 512    62 (40)      130 (89)
    1024 × 1024  60 (39)      112 (73)

With 10 % of A not 0 it is 4 times as fast as `gemm`, with 90 % as fast, and where nothing is 0 it takes 1.1 to 1.25
times as long.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numpy.typing import NDArray

from simlab.core.blocks import VECTOR_BYTES, Kind, at, fused_sum, prefetch
from simlab.core.gemm import DEPTH, copy_panel, place_of, plain_product
from simlab.core.jit import jit, per_real
from simlab.core.lines import padded
from simlab.core.llvm import WORD, emits, everywhere, load, phi, store
from simlab.core.outlined import caller

Reals = NDArray[Any]
Words = NDArray[np.int64]

TERMS = 64  # entries of a row of A whose bits are one word
PANEL_BYTES = 384  # of a row of a panel: 12 sums in 16 registers; 64 such rows fill 3/4 of the first-level cache
NARROW_BYTES, NARROWEST_BYTES = 256, 128  # of panels for the last columns
AHEAD_ROWS = 2  # of A, fetched before their turn: without it 1.25 times as long


@emits
def _add_rows(typing: Any, width: Any, like: Any, left: Any, right: Any, out: Any, count: Any, go_on: Any) -> Any:
    """LLVM code of C ← L R, or C ← C + L R where `go_on`, without the zeros of L, for `TERMS` columns of L.

    width: bytes of a row of R and of C, whole vectors.
    like: an array of C's type.
    left: (address, bytes from row to row) of L, then of its bits, then which of the bits are meant.
    right: address of R, whose rows follow one another.
    out: (address, bytes from row to row) of C.
    count: rows of L and C.
    """
    across = range(0, width.literal_value, VECTOR_BYTES)

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = Kind(context, like)
        L, L_down, bits, bits_down, meant = cgutils.unpack_tuple(builder, args[2])
        C, C_down = cgutils.unpack_tuple(builder, args[4])
        panel, fused = at(builder, args[3]), fused_sum(builder, kind)
        first_bit = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(WORD, [WORD, ir.IntType(1)]), "llvm.cttz.i64"
        )
        with cgutils.for_range(builder, args[5]) as loop:
            row, place = (at(builder, M, (loop.index, down)) for M, down in ((L, L_down), (C, C_down)))
            mask = builder.and_(meant, load(builder, at(builder, bits, (loop.index, bits_down)), WORD, 8))
            later = builder.gep(row, [builder.mul(WORD(AHEAD_ROWS), L_down)])
            for line in range(0, TERMS * kind.bytes, 64):
                prefetch(builder, builder.gep(later, [WORD(line)]), near=3)
            entry = builder.block
            before, begin, inner, done = (
                builder.append_basic_block(name) for name in ("before", "begin", "inner", "done")
            )
            builder.cbranch(builder.icmp_signed("!=", args[6], WORD(0)), before, begin)
            builder.position_at_end(before)
            found = [load(builder, builder.gep(place, [WORD(v)]), kind.vector, kind.bytes) for v in across]
            builder.branch(begin)

            builder.position_at_end(begin)
            start = [phi(builder, kind.vector, (kind.zero, entry), (value, before)) for value in found]
            builder.cbranch(builder.icmp_signed("!=", mask, WORD(0)), inner, done)

            builder.position_at_end(inner)
            left_over, *sums = (phi(builder, value.type, (value, begin)) for value in (mask, *start))
            k = builder.call(first_bit, [left_over, ir.IntType(1)(1)])
            value = load(builder, builder.gep(row, [builder.mul(k, WORD(kind.bytes))]), kind.real, kind.bytes)
            factor = everywhere(builder, value, kind.vector)
            of_R = builder.gep(panel, [builder.mul(k, WORD(width.literal_value))])
            with_R = [load(builder, builder.gep(of_R, [WORD(v)]), kind.vector, kind.bytes) for v in across]
            new = [builder.call(fused, [factor, b, c]) for b, c in zip(with_R, sums, strict=True)]
            fewer = builder.and_(left_over, builder.sub(left_over, WORD(1)))
            for node, value in zip((left_over, *sums), (fewer, *new), strict=True):
                node.add_incoming(value, inner)
            builder.cbranch(builder.icmp_signed("!=", fewer, WORD(0)), inner, done)

            builder.position_at_end(done)
            last = [phi(builder, kind.vector, (a, begin), (b, inner)) for a, b in zip(start, new, strict=True)]
            for v, value in zip(across, last, strict=True):
                store(builder, value, builder.gep(place, [WORD(v)]), kind.bytes)
        return context.get_dummy_value()

    return types.void(width, like, left, right, out, count, go_on), code


@emits
def _bits(typing: Any, like: Any, place: Any) -> Any:
    """LLVM code of a word: which of the `TERMS` numbers from an address on are not 0; NaN is not."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = Kind(context, like)
        word = WORD(0)
        for lane in range(0, TERMS, kind.lanes):
            value = load(builder, at(builder, args[1], WORD(lane * kind.bytes)), kind.vector, kind.bytes)
            some = builder.bitcast(builder.fcmp_unordered("!=", value, kind.zero), ir.IntType(kind.lanes))
            word = builder.or_(word, builder.shl(builder.zext(some, WORD), WORD(lane)))
        return word

    return types.int64(like, place), code


@jit
def words(columns: int) -> int:
    """Words of a row of so many entries."""
    return int(-(-columns // TERMS))


@jit
def mark(A: Reals, first: int, last: int, bits: Words) -> None:
    """The words of the columns from `first`, a multiple of `TERMS`, to before `last`; bits past them are 0.

    A: rows contiguous.
    bits: (rows of A, words).
    """
    for i in range(A.shape[0]):
        for k in range(first, last - TERMS + 1, TERMS):
            bits[i, k // TERMS] = _bits(A, place_of(A) + i * A.strides[0] + k * A.itemsize)
        rest = (last - first) // TERMS * TERMS + first
        if rest < last:
            word = np.int64(0)
            for k in range(rest, last):
                word |= np.int64(A[i, k] != 0) << (k - rest)
            bits[i, rest // TERMS] = word


@jit
def marked_size(rows: int, columns: int) -> int:
    """Reals of `marked`."""
    return int(rows * padded(columns) + padded(2 * rows * words(columns)))


@jit
def marked(space: Reals, rows: int, columns: int) -> tuple[Reals, Words]:
    """A matrix, its rows padded to whole lines of the cache, and its bits, from the beginning of `space`."""
    size, count = rows * padded(columns), words(columns)
    bits = space[size : marked_size(rows, columns)].view(np.int64)[: rows * count]
    return space[:size].reshape(rows, padded(columns)), bits.reshape(rows, count)


@jit
def skipping_space(rows: int) -> int:
    """Reals of space for a product whose A has at most so many rows."""
    return int((TERMS + rows) * PANEL_BYTES // 4)


@jit
def _panel_bytes(left: int) -> int:
    """Bytes of the next panel's rows, where so many are left."""
    return PANEL_BYTES if left >= PANEL_BYTES else NARROW_BYTES if left > NARROWEST_BYTES else NARROWEST_BYTES


@jit
def _add_panel(width: int, C: Reals, left: Any, right: int, out: Any, count: int, go_on: bool) -> None:
    """`_add_rows` for every width."""
    if width == PANEL_BYTES:
        _add_rows(PANEL_BYTES, C, left, right, out, count, int(go_on))
    elif width == NARROW_BYTES:
        _add_rows(NARROW_BYTES, C, left, right, out, count, int(go_on))
    else:
        _add_rows(NARROWEST_BYTES, C, left, right, out, count, int(go_on))


def PRODUCT(real: Any) -> Any:
    """The types of a product."""
    matrix, bits = types.Array(real, 2, "A"), types.Array(types.int64, 2, "A")
    return types.int64(matrix, bits, matrix, matrix, types.boolean, real[::1])


call_product = caller(PRODUCT)


@jit
def product_of_marked(address: int, A: Reals, bits: Words, B: Reals, C: Reals, add: bool, space: Reals) -> None:
    """C ← A B, added to C where `add`.

    address: of `compiled_product`.
    A: (m, k), rows contiguous; may be some columns of a wider matrix, as B and C may.
    bits: of A, as `mark` gives them; bits past its columns are not read.
    B: (k, n), rows or columns contiguous.
    C: (m, n), rows contiguous.
    space: at least `skipping_space(m)` reals, with anything in them.
    """
    call_product(address, (A[:, :], bits[:, :], B[:, :], C[:, :], add, space))


@per_real(PRODUCT)
def compiled_product(A: Reals, bits: Words, B: Reals, C: Reals, add: bool, space: Reals) -> int:
    """`product_of_marked`, as it is called by its address."""
    (m, k), n, size = A.shape, C.shape[1], C.itemsize
    if k == 0 and not add:
        C[:, :] = 0
    begin = 0
    while begin < n:
        width = _panel_bytes((n - begin) * size) // size
        columns = min(width, n - begin)
        # Columns that are no whole panel, and sums that are added as a whole, are computed elsewhere.
        elsewhere = add or columns < width
        panel = space[: TERMS * width].reshape(TERMS, width)
        sums = space[TERMS * width : (TERMS + m) * width].reshape(m, width)
        out = (place_of(space) + TERMS * width * size, width * size)
        if not elsewhere:
            out = (place_of(C) + begin * size, C.strides[0])
        for first in range(0, k, TERMS):
            last = min(k, first + TERMS)
            copy_panel(B[first:last, begin : begin + columns], panel[: last - first])
            meant = (1 << (last - first)) - 1 if last - first < TERMS else -1
            left = (
                place_of(A) + first * size, A.strides[0], place_of(bits) + first // TERMS * 8, bits.strides[0], meant
            )  # fmt: skip
            _add_panel(width * size, C, left, place_of(space), out, m, first % DEPTH > 0 if add else first > 0)
            if elsewhere and (last == k or (add and last % DEPTH == 0)):
                for i in range(m):
                    for j in range(columns):
                        C[i, begin + j] = C[i, begin + j] + sums[i, j] if add else sums[i, j]
        begin += columns
    return 0


def plain_product_of_marked(address: int, A: Reals, bits: Words, B: Reals, C: Reals, add: bool, space: Reals) -> None:
    """As `product_of_marked`, by NumPy: for where numba's JIT is off, and no intrinsic runs."""
    plain_product(address, A, B, C, add, space)


def plain_mark(A: Reals, first: int, last: int, bits: Words) -> None:
    """As `mark`, by NumPy."""
    for k in range(first, last, TERMS):
        some = A[:, k : min(last, k + TERMS)] != 0
        bits[:, k // TERMS] = (
            (some.astype(np.uint64) << np.arange(some.shape[1], dtype=np.uint64)).sum(axis=1).view(np.int64)
        )


if numba.config.DISABLE_JIT:
    mark, product_of_marked = plain_mark, plain_product_of_marked
