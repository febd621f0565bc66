"""Products of matrices by BLAS, C ← A B or C ← C + A B, of slices and transposes as they lie in memory.

`np.dot` inside compiled code copies what is not contiguous and cannot add to C: adding a tile's gradient took a pass of
its own over all weights. Here both go through numba's own door to the BLAS that SciPy brings (``numba_xxgemm``), in the
thread that calls it.
"""

from __future__ import annotations

from typing import Any

import numba
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from simlab.core.jit import jit

Reals = NDArray[Any]
_BYTE, _WORD, _POINTER = ir.IntType(8), ir.IntType(64), ir.IntType(8).as_pointer()
_DOOR = [_BYTE] * 3 + [_WORD] * 3 + [_POINTER, _POINTER, _WORD, _POINTER, _WORD, _POINTER, _POINTER, _WORD]
"""Kind, two letters for transposes, three sizes, factor, a matrix and stride, another and stride, β, C and stride."""


@intrinsic  # type: ignore[untyped-decorator]
def _gemm(typing: Any, A: Any, B: Any, C: Any, add: Any) -> Any:
    """LLVM code that calls BLAS. C has rows that are contiguous; A and B rows or columns that are."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        real, size = context.get_data_type(C.dtype), context.get_abi_sizeof(context.get_data_type(C.dtype))

        def matrix(kind: Any, value: Any) -> tuple[Any, ...]:
            """(data, shape, whether its columns are contiguous, stride between rows or columns in numbers)"""
            array = context.make_array(kind)(context, builder, value)
            rows, columns = cgutils.unpack_tuple(builder, array.shape)
            down, across = cgutils.unpack_tuple(builder, array.strides)
            by_rows = builder.icmp_signed("==", across, _WORD(size))
            # A matrix of one column, or of one row, has a stride that means nothing: that of a whole one is taken.
            by_rows = builder.or_(by_rows, builder.icmp_signed("<=", columns, _WORD(1)))
            stride = builder.sdiv(builder.select(by_rows, down, across), _WORD(size))
            least = builder.select(by_rows, columns, rows)
            stride = builder.select(builder.icmp_signed("<", stride, least), least, stride)
            stride = builder.select(builder.icmp_signed("<", stride, _WORD(1)), _WORD(1), stride)
            return builder.bitcast(array.data, _POINTER), rows, columns, builder.not_(by_rows), stride

        def letter(transposed: Any) -> Any:
            return builder.select(transposed, _BYTE(ord("t")), _BYTE(ord("n")))

        left, m, k, left_turned, left_stride = matrix(A, args[0])
        right, _, n, right_turned, right_stride = matrix(B, args[1])
        out, _, _, _, out_stride = matrix(C, args[2])
        one = cgutils.alloca_once_value(builder, ir.Constant(real, 1.0))
        beta = cgutils.alloca_once(builder, real)
        builder.store(builder.select(args[3], ir.Constant(real, 1.0), ir.Constant(real, 0.0)), beta)
        door = cgutils.get_or_insert_function(builder.module, ir.FunctionType(ir.IntType(32), _DOOR), "numba_xxgemm")
        # BLAS takes matrices by columns. Cᵀ = Bᵀ Aᵀ by columns is C = A B by rows.
        builder.call(
            door,
            [
                _BYTE(ord("d" if size == 8 else "s")), letter(right_turned), letter(left_turned), n, m, k,
                builder.bitcast(one, _POINTER), right, right_stride, left, left_stride,
                builder.bitcast(beta, _POINTER), out, out_stride,
            ],
        )  # fmt: skip
        return context.get_dummy_value()

    return types.void(A, B, C, types.boolean), code


@jit
def blas_product(A: Reals, B: Reals, C: Reals, add: bool) -> None:
    """C ← A B, added to C where `add`.

    A: (m, k), its rows or its columns contiguous: a slice or a transpose of a matrix.
    B: (k, n), likewise.
    C: (m, n), rows contiguous; may be some columns of a wider matrix.
    """
    _gemm(A, B, C, add)


def plain_product(A: Reals, B: Reals, C: Reals, add: bool) -> None:
    """As `blas_product`, by NumPy: for where numba's JIT is off, and no intrinsic runs."""
    C[:, :] = C + A @ B if add else A @ B


product = plain_product if numba.config.DISABLE_JIT else blas_product
