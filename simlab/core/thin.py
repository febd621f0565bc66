"""Products of thin matrices, C = (B + L R) ⊙ T, in blocks that stay in the registers.

The matrices of a residual network (`simlab.networks`) are thin and come chunk by chunk. BLAS first copies its operands
into packed form. On one core in float32 it reached 60 GF/s for W Xᵀ at (m, d, t) = (1000, 30, 50) and 20 GF/s for A H
with k = 8 outputs; the code here reaches 77 and 57 to 77. It copies nothing: the rows of R and of C are whole vectors.
Adding B (a bias or a matrix) before and multiplying by T (a slope) after costs no pass of its own. LLVM vectorises such
loops by itself, but does not keep a block of C in registers; so the innermost loop is written in LLVM's language.

Sums run over the columns of L in order, in one thread.
"""

from __future__ import annotations

from typing import Any

import numba
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numpy.typing import NDArray

from simlab.core.jit import jit
from simlab.core.llvm import emits, everywhere, phi

Reals = NDArray[Any]

VECTOR_BYTES = 32
PADDED_COLUMNS = VECTOR_BYTES // 4  # floats of a float32 vector: a multiple of a float64 vector too
BLOCK_ROWS = 4  # with 2 or 3 vectors per row, 8 or 12 sums in the 16 registers: enough to hide an FMA's latency
FUSED = ("contract",)


@jit
def whole(columns: int) -> int:
    """`columns` rounded up, so that a row is a whole number of vectors, of float32 and of float64."""
    return -(-columns // PADDED_COLUMNS) * PADDED_COLUMNS


class _Operand:
    """A numba matrix as an operand of the LLVM code that is being written."""

    def __init__(self, context: Any, builder: Any, kind: Any, value: Any) -> None:
        array = context.make_array(kind)(context, builder, value)
        self.builder, self.real = builder, context.get_data_type(kind.dtype)
        self.data = builder.bitcast(array.data, ir.IntType(8).as_pointer())
        self.shape = cgutils.unpack_tuple(builder, array.shape)
        self.strides = cgutils.unpack_tuple(builder, array.strides)
        self.vector = ir.VectorType(self.real, VECTOR_BYTES // context.get_abi_sizeof(self.real))

    def at(self, *place: Any) -> Any:
        """The address of the entry at this (row, column)."""
        address = self.data
        for index, stride in zip(place, self.strides, strict=True):
            address = self.builder.gep(address, [self.builder.mul(index, stride)])
        return address

    def entry(self, *place: Any) -> Any:
        """A vector with this one entry in every lane."""
        value = self.builder.load(self.builder.bitcast(self.at(*place), self.real.as_pointer()))
        return everywhere(self.builder, value, self.vector)

    def _vector_at(self, row: Any, column: Any) -> Any:
        return self.builder.bitcast(self.at(row, column), self.vector.as_pointer())

    def load(self, row: Any, column: Any) -> Any:
        return self.builder.load(self._vector_at(row, column), align=4)

    def store(self, value: Any, row: Any, column: Any) -> None:
        self.builder.store(value, self._vector_at(row, column), align=4)


@emits
def _block(typing: Any, rows: Any, vectors: Any, matrices: Any, row: Any, column: Any) -> Any:
    """LLVM code of a block of C = (start + L R) ⊙ times: `rows` rows from `row`, `vectors` vectors from `column`.

    matrices: (start, L, R, times, C).
    """
    height, width = rows.literal_value, vectors.literal_value

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        values = cgutils.unpack_tuple(builder, args[2])
        before, left, right, after, out = (
            _Operand(context, builder, kind, value) for kind, value in zip(matrices, values, strict=True)
        )
        word, zero = ir.IntType(64), ir.Constant(out.vector, [0.0] * out.vector.count)
        down = [builder.add(args[3], word(r)) for r in range(height)]
        across = [builder.add(args[4], word(v * out.vector.count)) for v in range(width)]
        places = [(r, c) for r in down for c in across]
        entry = builder.block
        names = "bias", "matrix", "begin", "loop", "done", "times", "end"
        bias, matrix, begin, loop, done, slope, end = (builder.append_basic_block(name) for name in names)

        which = builder.switch(before.shape[1], matrix)  # by the columns that `start` has
        which.add_case(word(0), begin)
        which.add_case(word(1), bias)
        builder.position_at_end(bias)
        biases = [value for r in down for value in [before.entry(r, word(0))] * width]
        builder.branch(begin)
        builder.position_at_end(matrix)
        entries = [before.load(*place) for place in places]
        builder.branch(begin)
        builder.position_at_end(begin)
        first = [
            phi(builder, out.vector, (zero, entry), (b, bias), (c, matrix))
            for b, c in zip(biases, entries, strict=True)
        ]
        builder.branch(loop)

        builder.position_at_end(loop)
        p = phi(builder, word, (word(0), begin))
        sums = [phi(builder, out.vector, (value, begin)) for value in first]
        vectors_of_R = [right.load(p, c) for c in across]
        factors = [left.entry(r, p) for r in down]
        products = [builder.fmul(factor, vector, flags=FUSED) for factor in factors for vector in vectors_of_R]
        new = [builder.fadd(total, term, flags=FUSED) for total, term in zip(sums, products, strict=True)]
        following = builder.add(p, word(1))
        for node, value in zip((p, *sums), (following, *new), strict=True):
            node.add_incoming(value, loop)
        builder.cbranch(builder.icmp_signed("<", following, left.shape[1]), loop, done)

        builder.position_at_end(done)
        builder.cbranch(builder.icmp_signed("==", after.shape[1], word(0)), end, slope)
        builder.position_at_end(slope)
        scaled = [builder.fmul(total, after.load(*place)) for total, place in zip(new, places, strict=True)]
        builder.branch(end)
        builder.position_at_end(end)
        last = [phi(builder, out.vector, (a, done), (b, slope)) for a, b in zip(new, scaled, strict=True)]
        for value, place in zip(last, places, strict=True):
            out.store(value, *place)
        return context.get_dummy_value()

    return types.void(rows, vectors, matrices, row, column), code


def _strip(vectors: int) -> Any:
    """The compiled loop over a strip of C that is `vectors` vectors wide."""

    @jit(named=str(vectors))
    def strip(start: Reals, L: Reals, R: Reals, times: Reals, C: Reals, column: int) -> None:
        rows, matrices = C.shape[0], (start, L, R, times, C)
        in_blocks = rows // BLOCK_ROWS * BLOCK_ROWS
        for row in range(0, in_blocks, BLOCK_ROWS):
            _block(BLOCK_ROWS, vectors, matrices, row, column)
        for row in range(in_blocks, rows):
            _block(1, vectors, matrices, row, column)

    return strip


_one, _two, _three = (_strip(vectors) for vectors in (1, 2, 3))


@jit
def vector_product(start: Reals, L: Reals, R: Reals, times: Reals, C: Reals) -> None:
    """C ← (start + L R) ⊙ times.

    start: matrix like C; a single column, added to all; or a matrix without columns for 0.
    L: at least one column, stored in any order. Given as a slice of columns, L[:, a:b], so that numba sees one type of
        array, and compiles once.
    R: matrix whose rows, like those of C, are whole vectors (`whole`).
    times: matrix like C; or one without columns for 1.
    """
    lanes = VECTOR_BYTES // C.itemsize
    columns, column = C.shape[1], 0
    while column < columns:
        left = (columns - column) // lanes
        if left == 1:
            _one(start, L, R, times, C, column)
            column += lanes
        elif left % 2:
            _three(start, L, R, times, C, column)
            column += 3 * lanes
        else:
            _two(start, L, R, times, C, column)
            column += 2 * lanes


@jit
def plain_product(start: Reals, L: Reals, R: Reals, times: Reals, C: Reals) -> None:
    """As `vector_product`, but for rounding, by plain loops: for where numba's JIT is off, and no intrinsic runs."""
    for row in range(C.shape[0]):
        for column in range(C.shape[1]):
            total = C.dtype.type(0)
            if start.shape[1] == 1:
                total = start[row, 0]
            elif start.shape[1] > 1:
                total = start[row, column]
            for p in range(L.shape[1]):
                total += L[row, p] * R[p, column]
            C[row, column] = total * times[row, column] if times.shape[1] > 0 else total


product = plain_product if numba.config.DISABLE_JIT else vector_product
