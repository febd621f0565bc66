"""Products of matrices, C ← A B or C ← C + A B, of slices and transposes as they lie in memory, in the calling thread.

Each entry of A B is one sum over the columns of A, in order, of fused multiply–adds where the CPU has them. Its bits
depend on that row of A and that column of B alone: not on the size of the matrices, on how they are divided among
threads or tiles, or on the width of the CPU's vectors. Where it is added to C, so are sums of up to `DEPTH` terms:
added to weights in float32 one by one, the terms of 1000 samples would lose 2 % of a small step.

A block of C, some rows and vectors, stays in registers while the sum runs (`blocks`): each entry of A meets a few
vectors of B. Large matrices are copied first, into the order in which they are read (Goto and van de Geijn 2008): B
into panels as wide as a block of C, the columns of A into strips as high as one. The few columns of a batch are not
copied. The caller gives the space for copies, so that steps on several threads allocate nothing.

GF/s on one core with AVX-512 (EPYC; the most seen of any shape: 59 in float64, 118 in float32), m = 1024, in brackets
OpenBLAS:

                                 float64              float32
    rows of a batch           32        1000       32         1000
    W A                    55 (40)    52 (52)   110 (89)   106 (105)
    Wᵀ A                   52 (33)    51 (51)   102 (74)   105 (105)
    C + Δ Aᵀ (BLAS: Δ Aᵀ)  45 (38)    52 (52)   100 (60)   108 (101)
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numba import types
from numpy.typing import NDArray

from simlab.core.blocks import ADD, GO_ON, SET, VECTOR_BYTES, WIDE, copy_rows, multiply, turn
from simlab.core.jit import jit, per_real
from simlab.core.outlined import caller

Reals = NDArray[Any]

VECTORS = 4 if WIDE else 2  # of a block of C: 6 rows of them are 24 sums in 32 registers, or 12 in 16
ROWS = 6  # rows of A that lie 4096 bytes apart all fall into one set of the first-level cache, which holds 8
LAST_ROWS = 2  # of a block, where fewer than 6 are left
DEPTH = 256  # terms of a sum between two visits to C: what a block reads of A then fits into the first-level cache
TURNED_DEPTH = 64  # where A is read by columns: its rows, whole, then stay in the second-level cache
PANEL_FLOATS = 1 << 15  # of B copied at a time


@jit
def place_of(M: Reals) -> int:
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
def copy_panel(B: Reals, panel: Reals) -> None:
    """Copy B, (k, n), to the left of `panel`, (k, whole vectors), whose rows are contiguous, and zeros to the rest."""
    (k, n), each, size = B.shape, VECTOR_BYTES // B.itemsize, B.itemsize
    for c in range(0, panel.shape[1], each):
        origin, into = place_of(B) + c * B.strides[1], (place_of(panel) + c * size, panel.strides[0])
        done = 0
        if c + each > n:
            pass
        elif B.strides[1] == size:
            copy_rows(B, 0, (origin, B.strides[0]), into, k)
            done = k
        elif B.strides[0] == size:
            turn(B, (origin, B.strides[1]), into, k // each)
            done = k // each * each
        _fill(B[done:, c : c + each], panel[done:, c : c + each])


@jit
def _panels(B: Reals, panels: Reals) -> None:
    """Copy B, (k, n), into panels of k rows, one after another, each a whole number of vectors wide."""
    (k, n), each, begin = B.shape, VECTOR_BYTES // B.itemsize, 0
    while begin < n:
        width = _width(-(-(n - begin) // each)) * each
        copy_panel(B[:, begin : begin + width], panels[begin * k : (begin + width) * k].reshape(k, width))
        begin += width


@jit
def _strips(A: Reals, strips: Reals) -> None:
    """Copy A, (m, k), into strips of `ROWS` rows, one after another, each by columns."""
    m, k = A.shape
    for row in range(0, m, ROWS):
        if row + ROWS <= m and A.strides[0] == A.itemsize:
            origin = place_of(A) + row * A.strides[0], A.strides[1]
            copy_rows(A, ROWS, origin, (place_of(strips) + row * k * A.itemsize, ROWS * A.itemsize), k)
        else:
            _fill(A[row : row + ROWS].T, strips[row * k : (row + ROWS) * k].reshape(k, ROWS))


@jit
def _block(shape: int, C: Reals, left: Any, right: Any, out: Any, terms: int, mode: int) -> None:
    """`multiply` for every shape; each more takes seconds to compile."""
    if shape == 64:
        multiply(64, C, left, right, out, terms, mode)
    elif shape == 62:
        multiply(62, C, left, right, out, terms, mode)
    elif shape == 61:
        multiply(61, C, left, right, out, terms, mode)
    elif shape == 24:
        multiply(24, C, left, right, out, terms, mode)
    elif shape == 22:
        multiply(22, C, left, right, out, terms, mode)
    else:
        multiply(21, C, left, right, out, terms, mode)


@jit
def _edge(shape: int, L: Any, R: Any, C: Reals, terms: int, mode: int, block: Reals) -> None:
    """As `_block`, where C is smaller than a block, which is computed elsewhere.

    block: that space, of whole vectors.
    """
    if mode != SET:
        _fill(C, block)
    _block(shape, C, L, R, (place_of(block), block.strides[0]), terms, mode)
    for r in range(C.shape[0]):
        for c in range(C.shape[1]):
            C[r, c] = block[r, c]


@jit
def _all_rows(A: Reals, B: Any, C: Reals, mode: int, strips: Reals, space: Reals) -> None:
    """C ← A R, or what `mode` says (`multiply`).

    B: (address, bytes from row to row, bytes from panel to panel by columns) of R; from row to row 0, where panels are
        contiguous.
    strips: A in strips; empty where A is read as it lies.
    space: for a block.
    """
    (m, k), n, size = A.shape, C.shape[1], C.itemsize
    each, (down, across) = VECTOR_BYTES // size, A.strides
    A_at, C_at, strips_at = place_of(A), place_of(C), place_of(strips)
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
def share(rows: int, space: Reals, part: int, parts: int, step: int = ROWS) -> tuple[int, int, Reals]:
    """(first row, one past the last, space) of one part of a product: multiples of `step`, but for the last part."""
    first, last = part * rows // parts, (part + 1) * rows // parts
    own = space[part * space.size // parts : (part + 1) * space.size // parts]
    return min(rows, -(-first // step) * step), min(rows, -(-last // step) * step), own


def PRODUCT(real: Any) -> Any:
    """The types of a product. Slices have one type of array, however the matrix lies in memory."""
    matrix = types.Array(real, 2, "A")
    return types.int64(matrix, matrix, matrix, types.boolean, real[::1])


call_product = caller(PRODUCT)


@jit
def blocked_product(address: int, A: Reals, B: Reals, C: Reals, add: bool, space: Reals) -> None:
    """C ← A B, added to C where `add`.

    address: of `compiled_product`.
    A: (m, k), best with contiguous rows or columns: a slice or a transpose of a matrix.
    B: (k, n), likewise.
    C: (m, n), rows contiguous; may be some columns of a wider matrix.
    space: at least `product_space(m, 1)` reals, with anything in them.
    """
    call_product(address, (A[:, :], B[:, :], C[:, :], add, space))


@per_real(PRODUCT)
def compiled_product(A: Reals, B: Reals, C: Reals, add: bool, space: Reals) -> int:
    """`blocked_product`, as it is called by its address."""
    (k, n), m, size = B.shape, A.shape[0], C.itemsize
    if k == 0 and not add:
        C[:, :] = 0
    if m == 0 or n == 0 or k == 0:
        return 0
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
                right = place_of(B) + first * B.strides[0], B.strides[0], size
            else:
                _panels(B[first : first + depth, begin : begin + most], panels)
                right = place_of(space) + (edge.size + copied) * size, 0, some.shape[1] * size
            _all_rows(some, right, C[:, begin : begin + most], mode, strips, edge)
    return 0


def plain_product(address: int, A: Reals, B: Reals, C: Reals, add: bool, space: Reals) -> None:
    """As `blocked_product`, by NumPy: for where numba's JIT is off, and no intrinsic runs."""
    C[:, :] = C + A @ B if add else A @ B


def plain_panel(B: Reals, panel: Reals) -> None:
    """As `copy_panel`, likewise."""
    panel[:, : B.shape[1]], panel[:, B.shape[1] :] = B, 0


product = plain_product if numba.config.DISABLE_JIT else blocked_product
if numba.config.DISABLE_JIT:
    copy_panel = plain_panel
