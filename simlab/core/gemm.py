"""Products of matrices, C ← A B or C ← C + A B, of slices and transposes as they lie in memory, in the calling thread.

Each entry of A B is one sum over the columns of A, in order, of fused multiply–adds where the CPU has them. Its bits
depend on that row of A and that column of B alone: not on the size of the matrices, on how they are divided among
threads or tiles, or on the width of the CPU's vectors. Where it is added to C, so are sums of up to `DEPTH` terms:
added to weights in float32 one by one, the terms of 1000 samples would lose 2 % of a small step.

A block of C, some rows and vectors, stays in registers while the sum runs (`_multiply`): each entry of A meets a few
vectors of B. Large matrices are copied first, into the order in which they are read (Goto and van de Geijn 2008): B
into panels as wide as a block of C, the columns of A into strips as high as one. The few columns of a batch are not
copied. The caller gives the space for copies, so that steps on several threads allocate nothing.

GF/s on one core with AVX-512 (EPYC, its peak 59 in float64 and 118 in float32), m = 1024, beside OpenBLAS:

                                 float64              float32
    rows of a batch           32        1000       32         1000
    W A                    55 (39)    52 (52)   106 (91)   103 (103)
    Wᵀ A                   50 (28)    51 (51)    93 (75)   101 (103)
    Δ Aᵀ, added            48 (40)    52 (52)    92 (60)   106 (100)
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from simlab.core.jit import jit
from simlab.core.llvm import BYTES, WORD, everywhere, has_feature, lanes, load, phi, store

Reals = NDArray[Any]

WIDE = has_feature("avx512f")
VECTOR_BYTES = 64 if WIDE else 32
VECTORS = 4 if WIDE else 2  # of a block of C: 6 rows of them are 24 sums in 32 registers, or 12 in 16
ROWS = 6  # rows of A that lie 4096 bytes apart all fall into one set of the first-level cache, which holds 8
LAST_ROWS = 2  # of a block, where fewer than 6 are left
DEPTH = 256  # terms of a sum between two visits to C: what a block reads of A then fits into the first-level cache
TURNED_DEPTH = 64  # where A is read by columns: its rows, whole, then stay in the second-level cache
PANEL_FLOATS = 1 << 15  # of B copied at a time
AHEAD_BYTES = 128
SET, GO_ON, ADD = range(3)


class _Kind:
    """Types of the numbers and vectors of an array."""

    def __init__(self, context: Any, array: Any) -> None:
        self.real = context.get_data_type(array.dtype)
        self.bytes = context.get_abi_sizeof(self.real)
        self.lanes = VECTOR_BYTES // self.bytes
        self.vector = ir.VectorType(self.real, self.lanes)


def _at(builder: Any, address: Any, *offsets: Any) -> Any:
    """The place so many bytes after an address, a number; an offset that is a pair is a product."""
    place = builder.inttoptr(address, BYTES)
    for offset in offsets:
        place = builder.gep(place, [builder.mul(*offset) if isinstance(offset, tuple) else offset])
    return place


@intrinsic(prefer_literal=True)  # type: ignore[untyped-decorator]
def _multiply(typing: Any, shape: Any, like: Any, left: Any, right: Any, out: Any, terms: Any, mode: Any) -> Any:
    """LLVM code of a block of C ← L R (mode SET); C ← C + L R, one sum that goes on (GO_ON), or L R summed first (ADD).

    shape: 10 times its rows and its vectors per row, such as 64.
    like: an array of C's type.
    left: (address, bytes from row to row, bytes from column to column) of L.
    right, out: (address, bytes from row to row) of R and of C, whose rows are contiguous.
    terms: columns of L, at least 1.
    """
    rows, across = (range(count) for count in divmod(shape.literal_value, 10))

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = _Kind(context, like)
        L, L_down, L_across = cgutils.unpack_tuple(builder, args[2])
        (R, R_down), (C, C_down) = (cgutils.unpack_tuple(builder, args[k]) for k in (3, 4))
        left_at, right_at = _at(builder, L), _at(builder, R)
        down = [builder.mul(WORD(r), L_down) for r in rows]
        places = [_at(builder, C, (WORD(r), C_down), WORD(v * VECTOR_BYTES)) for r in rows for v in across]
        name = f"llvm.fmuladd.v{kind.lanes}f{8 * kind.bytes}"
        fused = cgutils.get_or_insert_function(builder.module, ir.FunctionType(kind.vector, [kind.vector] * 3), name)
        ahead = ir.FunctionType(ir.VoidType(), [BYTES, *[ir.IntType(32)] * 3])
        prefetch = cgutils.get_or_insert_function(builder.module, ahead, "llvm.prefetch.p0i8")
        zero = ir.Constant(kind.vector, [0.0] * kind.lanes)

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
        builder.call(prefetch, [builder.gep(column, [WORD(AHEAD_BYTES)]), *map(ir.IntType(32), (0, 2, 1))])
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


@intrinsic(prefer_literal=True)  # type: ignore[untyped-decorator]
def _copy(typing: Any, like: Any, length: Any, origin: Any, into: Any, count: Any) -> Any:
    """LLVM code that copies `count` rows of `length` numbers, or of one vector where that is 0.

    origin, into: (address, bytes from row to row).
    """

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = _Kind(context, like)
        line = ir.VectorType(kind.real, length.literal_value or kind.lanes)
        (start, apart), (target, target_apart) = (cgutils.unpack_tuple(builder, args[k]) for k in (2, 3))
        with cgutils.for_range(builder, args[4]) as loop:
            value = load(builder, _at(builder, start, (loop.index, apart)), line, kind.bytes)
            store(builder, value, _at(builder, target, (loop.index, target_apart)), kind.bytes)
        return context.get_dummy_value()

    return types.void(like, length, origin, into, count), code


@intrinsic  # type: ignore[untyped-decorator]
def _turn(typing: Any, like: Any, origin: Any, into: Any, count: Any) -> Any:
    """LLVM code that transposes as many rows as a vector has lanes, each of `count` vectors.

    origin, into: (address, bytes from row to row); those of the transpose are one vector long.
    """

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = _Kind(context, like)
        (start, apart), (target, target_apart) = (cgutils.unpack_tuple(builder, args[k]) for k in (1, 2))
        with cgutils.for_range(builder, args[3]) as loop:
            step = loop.index, WORD(VECTOR_BYTES)
            rows = [
                load(builder, _at(builder, start, (WORD(r), apart), step), kind.vector, kind.bytes)
                for r in range(kind.lanes)
            ]
            first = builder.mul(loop.index, WORD(kind.lanes))
            for r, value in enumerate(_transposed(builder, rows)):
                place = _at(builder, target, (builder.add(first, WORD(r)), target_apart))
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


@jit
def _address(M: Reals) -> int:
    """Of a matrix that the caller was given, not made: numba frees what is not named any more."""
    return int(np.int64(M.ctypes.data))  # signed: with the sizes it would otherwise be a float


@jit
def _fill(M: Reals, into: Reals) -> None:
    """Copy M to the upper left, and zeros to the rest of its rows."""
    for r in range(M.shape[0]):
        for c in range(M.shape[1]):
            into[r, c] = M[r, c]
        for c in range(M.shape[1], into.shape[1]):
            into[r, c] = 0


@jit
def _width(vectors: int) -> int:
    """Vectors of the next panel, where so many are left: 4, 2 or 1."""
    return VECTORS if vectors >= VECTORS else 2 if vectors >= 2 else 1


@jit
def _panels(B: Reals, panels: Reals) -> None:
    """Copy B, (k, n), into panels of k rows, one after another, each a whole number of vectors wide."""
    (k, n), each, size = B.shape, VECTOR_BYTES // B.itemsize, B.itemsize
    begin = 0
    while begin < n:
        width = _width(-(-(n - begin) // each)) * each
        panel = panels[begin * k : (begin + width) * k].reshape(k, width)
        for c in range(0, width, each):
            origin = _address(B) + (begin + c) * B.strides[1]
            into = _address(panels) + (begin * k + c) * size, width * size
            done = 0
            if begin + c + each > n:
                pass
            elif B.strides[1] == size:
                _copy(B, 0, (origin, B.strides[0]), into, k)
                done = k
            elif B.strides[0] == size:
                _turn(B, (origin, B.strides[1]), into, k // each)
                done = k // each * each
            _fill(B[done:, begin + c : begin + c + each], panel[done:, c : c + each])
        begin += width


@jit
def _strips(A: Reals, strips: Reals) -> None:
    """Copy A, (m, k), into strips of `ROWS` rows, one after another, each by columns."""
    m, k = A.shape
    for row in range(0, m, ROWS):
        if row + ROWS <= m and A.strides[0] == A.itemsize:
            origin = _address(A) + row * A.strides[0], A.strides[1]
            _copy(A, ROWS, origin, (_address(strips) + row * k * A.itemsize, ROWS * A.itemsize), k)
        else:
            _fill(A[row : row + ROWS].T, strips[row * k : (row + ROWS) * k].reshape(k, ROWS))


@jit
def _block(shape: int, C: Reals, left: Any, right: Any, out: Any, terms: int, mode: int) -> None:
    """`_multiply` for every shape; each more takes seconds to compile."""
    if shape == 64:
        _multiply(64, C, left, right, out, terms, mode)
    elif shape == 62:
        _multiply(62, C, left, right, out, terms, mode)
    elif shape == 61:
        _multiply(61, C, left, right, out, terms, mode)
    elif shape == 24:
        _multiply(24, C, left, right, out, terms, mode)
    elif shape == 22:
        _multiply(22, C, left, right, out, terms, mode)
    else:
        _multiply(21, C, left, right, out, terms, mode)


@jit
def _edge(shape: int, L: Any, R: Any, C: Reals, terms: int, mode: int, block: Reals) -> None:
    """As `_block`, where C is smaller than a block, which is computed elsewhere.

    block: that space, of whole vectors.
    """
    if mode != SET:
        _fill(C, block)
    _block(shape, C, L, R, (_address(block), block.strides[0]), terms, mode)
    for r in range(C.shape[0]):
        for c in range(C.shape[1]):
            C[r, c] = block[r, c]


@jit
def _all_rows(A: Reals, B: Any, C: Reals, mode: int, strips: Reals, space: Reals) -> None:
    """C ← A R, or what `mode` says (`_multiply`).

    B: (address, bytes from row to row, bytes from panel to panel by columns) of R; from row to row 0, where panels are
        contiguous.
    strips: A in strips; empty where A is read as it lies.
    space: for a block.
    """
    (m, k), n, size = A.shape, C.shape[1], C.itemsize
    each, (down, across) = VECTOR_BYTES // size, A.strides
    A_at, C_at, strips_at = _address(A), _address(C), _address(strips)
    row = 0
    while row < m:
        height = ROWS if m - row >= ROWS else LAST_ROWS
        rows = min(height, m - row)
        if strips.size:
            left = strips_at + (row // ROWS * ROWS * k + row % ROWS) * size, size, ROWS * size
        else:  # a row that is missing is the row before it, once more
            left = A_at + row * down, down if rows == height else 0, across
        begin = 0
        while begin < n:
            vectors = _width(-(-(n - begin) // each))
            columns = min(vectors * each, n - begin)
            right = B[0] + begin * B[2], B[1] if B[1] else vectors * VECTOR_BYTES
            if rows == height and columns == vectors * each:
                out = C_at + row * C.strides[0] + begin * size, C.strides[0]
                _block(10 * height + vectors, C, left, right, out, k, mode)
            else:
                block = space[: height * vectors * each].reshape(height, vectors * each)
                part = C[row : row + rows, begin : begin + columns]
                _edge(10 * height + vectors, left, right, part, k, mode, block)
            begin += vectors * each
        row += rows


@jit
def product_space(rows: int, parts: int) -> int:
    """Reals of space for a product whose A has at most so many rows, or for `parts` of them at once (`share`)."""
    each = ROWS * VECTORS * VECTOR_BYTES // 4 + (rows // parts + 3 * ROWS) * DEPTH + PANEL_FLOATS
    return int(parts * each)


@jit
def share(rows: int, space: Reals, part: int, parts: int) -> tuple[int, int, Reals]:
    """(first row, one past the last, space) of one part of a product: whole blocks, but for the last part."""
    first, last = part * rows // parts, (part + 1) * rows // parts
    own = space[part * space.size // parts : (part + 1) * space.size // parts]
    return min(rows, -(-first // ROWS) * ROWS), min(rows, -(-last // ROWS) * ROWS), own


@jit
def blocked_product(A: Reals, B: Reals, C: Reals, add: bool, space: Reals) -> None:
    """C ← A B, added to C where `add`.

    A: (m, k), best with contiguous rows or columns: a slice or a transpose of a matrix.
    B: (k, n), likewise.
    C: (m, n), rows contiguous; may be some columns of a wider matrix.
    space: at least `product_space(m, 1)` reals, with anything in them.
    """
    (k, n), m = B.shape, A.shape[0]
    if k == 0 and not add:
        C[:, :] = 0
    if m > 0 and n > 0 and k > 0:
        # Slices that numba takes for one type of array, however the matrix lies in memory: it compiles once.
        _product(A[0:m, 0:k], B[0:k, 0:n], C[0:m, 0:n], add, space)


@jit
def _product(A: Reals, B: Reals, C: Reals, add: bool, space: Reals) -> None:
    (k, n), m, size = B.shape, A.shape[0], C.itemsize
    each = VECTOR_BYTES // size
    batch = n % each == 0 and n <= 2 * VECTORS * each and B.strides[1] == size
    turned = A.strides[1] != size
    depth = min(k, TURNED_DEPTH if turned and batch and not add else DEPTH)
    most = n if batch else max(1, PANEL_FLOATS // (depth * VECTORS * each)) * VECTORS * each
    edge, rest = space[: ROWS * VECTORS * each], space[ROWS * VECTORS * each :]
    copied = -(-m // ROWS) * ROWS * depth if turned and not batch else 0
    strips, panels = rest[:copied], rest[copied:]
    for first in range(0, k, depth):
        mode = ADD if add else GO_ON if first > 0 else SET
        some = A[:, first : first + depth]
        if copied:
            _strips(some, strips)
        for begin in range(0, n, most):
            if batch:
                right = _address(B) + first * B.strides[0], B.strides[0], size
            else:
                _panels(B[first : first + depth, begin : begin + most], panels)
                right = _address(space) + (edge.size + copied) * size, 0, some.shape[1] * size
            _all_rows(some, right, C[:, begin : begin + most], mode, strips, edge)


def plain_product(A: Reals, B: Reals, C: Reals, add: bool, space: Reals) -> None:
    """As `blocked_product`, by NumPy: for where numba's JIT is off, and no intrinsic runs."""
    C[:, :] = C + A @ B if add else A @ B


product = plain_product if numba.config.DISABLE_JIT else blocked_product
