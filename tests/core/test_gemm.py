"""Products of slices and transposes, against NumPy; each entry is one sum of fused products, whatever the shapes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from simlab.core.blocks import VECTOR_BYTES
from simlab.core.gemm import (
    DEPTH,
    ROWS,
    VECTORS,
    blocked_product,
    compiled_product,
    plain_product,
    product,
    product_space,
    share,
)
from simlab.core.outlined import addresses

ROOT = Path(__file__).parents[2]
Array = NDArray[Any]
SIZES = st.one_of(st.integers(1, 9), st.sampled_from([ROWS + 1, 2 * ROWS, 16, 31, 32, 33, 64, 65, 70]))
MARGINS = st.integers(0, 3)


def multiply(A: Array, B: Array, C: Array, add: bool) -> None:
    """C ← A B, in a space that holds NaN: whatever a product reads, it has written."""
    space = np.full(product_space(len(A), 1), np.nan, C.dtype)
    product(addresses([compiled_product], C.dtype)[0], A, B, C, add, space)


def placed(shape: tuple[int, int], how: str, margin: int, rng: np.random.Generator, dtype: Any) -> Array:
    """A random matrix of this shape within a wider array, which is `margin` longer at either end of both axes.

    how: "rows": rows contiguous; "columns": a transpose.
    """
    rows, columns = shape if how == "rows" else shape[::-1]
    whole = rng.standard_normal((rows + 2 * margin, columns + 2 * margin)).astype(dtype)
    part = whole[margin : margin + rows, margin : margin + columns]
    return part if how == "rows" else part.T


@given(
    st.tuples(SIZES, SIZES, SIZES),
    st.tuples(*[st.sampled_from(["rows", "columns"])] * 2),
    st.tuples(MARGINS, MARGINS, MARGINS),
    st.booleans(),
    st.sampled_from([np.float64, np.float32]),
    st.integers(0, 99),
)
def test_slices_and_transposes(
    sizes: tuple[int, int, int],
    how: tuple[str, str],
    margins: tuple[int, int, int],
    add: bool,
    dtype: Any,
    seed: int,
) -> None:
    """One row, one column and one term too; what lies around C stays as it was."""
    (m, k, n), rng = sizes, np.random.default_rng(seed)
    A = placed((m, k), how[0], margins[0], rng, dtype)
    B = placed((k, n), how[1], margins[1], rng, dtype)
    around = rng.standard_normal((m + 2 * margins[2], n + 2 * margins[2])).astype(dtype)
    inside = slice(margins[2], margins[2] + m), slice(margins[2], margins[2] + n)
    expected = around.astype(np.float64)
    expected[inside] = (expected[inside] if add else 0.0) + A.astype(np.float64) @ B.astype(np.float64)
    outside = np.ones(around.shape, bool)
    outside[inside] = False
    before = around.copy()
    multiply(A, B, around[inside], add)
    np.testing.assert_allclose(around, expected, rtol=0, atol=40 * k * np.finfo(dtype).eps)
    assert np.array_equal(around[outside], before[outside])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_what_was_in_c_is_not_read_unless_it_is_added_to(dtype: Any) -> None:
    A, B = np.ones((3, 2), dtype), np.ones((2, 4), dtype)
    C = np.full((3, 4), np.nan, dtype)
    multiply(A, B, C, False)
    assert np.array_equal(C, np.full((3, 4), 2.0))
    multiply(A, B, C, True)
    assert np.array_equal(C, np.full((3, 4), 4.0))


@pytest.mark.parametrize("add", [False, True])
def test_no_terms_give_zero(add: bool) -> None:
    C = np.ones((2, 3))
    multiply(np.empty((2, 0)), np.empty((0, 3)), C, add)
    assert np.array_equal(C, np.full((2, 3), float(add)))


@pytest.mark.parametrize(("m", "n"), [(0, 3), (2, 0)])
def test_an_empty_product_writes_nothing(m: int, n: int) -> None:
    around = np.ones((4, 4))
    multiply(np.ones((m, 5)), np.ones((5, n)), around[:m, :n], False)
    assert np.array_equal(around, np.ones((4, 4)))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("add", [False, True])
@pytest.mark.parametrize("turned", [(False, False), (True, False), (False, True), (True, True)])
def test_matrices_of_many_rows_columns_and_terms(turned: tuple[bool, bool], add: bool, dtype: Any) -> None:
    """More terms than one visit to C takes, more columns than are copied at a time."""
    rng = np.random.default_rng(0)
    m, k, n = 4 * ROWS + 5, 2 * DEPTH + 37, 700
    A, B, C = (rng.standard_normal(shape).astype(dtype) for shape in [(m, k), (k, n), (m, n + 10)])
    expected = add * C[:, 5:-5] + A.astype(np.float64) @ B.astype(np.float64)
    left, right = (np.asfortranarray(M) if turn else M for M, turn in zip((A, B), turned, strict=True))
    multiply(left, right, C[:, 5:-5], add)
    np.testing.assert_allclose(C[:, 5:-5], expected, rtol=0, atol=400 * k**0.5 * np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_bits_depend_on_the_row_and_the_column_alone(dtype: Any) -> None:
    """The same entry from slices of any size, however they lie in memory; added, it is rounded once."""
    rng = np.random.default_rng(1)
    m, k, n = 2 * ROWS + 3, DEPTH + 70, 3 * VECTORS * VECTOR_BYTES // 4 + 5
    A, B = (rng.standard_normal(shape).astype(dtype) for shape in [(m, k), (k, n)])
    whole = np.empty((m, n), dtype)
    multiply(A, B, whole, False)
    batch = VECTOR_BYTES // whole.itemsize
    for rows in (slice(0, m), slice(1, 2), slice(3, 3 + ROWS), slice(ROWS - 1, m)):
        for columns in (slice(0, n), slice(2, 3), slice(batch, 3 * batch), slice(1, 1 + VECTORS * batch)):
            for left in (A[rows], np.asfortranarray(A[rows])):
                for right in (np.ascontiguousarray(B[:, columns]), np.asfortranarray(B[:, columns])):
                    part = np.empty((left.shape[0], right.shape[1]), dtype)
                    multiply(left, right, part, False)
                    assert np.array_equal(part, whole[rows, columns])
                    first, more = np.empty_like(part), np.ones_like(part)
                    multiply(left[:, :DEPTH], right[:DEPTH], first, False)
                    multiply(left[:, :DEPTH], right[:DEPTH], more, True)
                    assert np.array_equal(more, 1 + first)


def test_a_small_sum_added_to_large_numbers_keeps_its_digits() -> None:
    """1000 terms of 1e-6 added to 1 in float32; one by one they would each be rounded to a multiple of 1.2e-7."""
    C = np.ones((7, 40), np.float32)
    multiply(np.full((7, 1000), 1e-3, np.float32), np.full((1000, 40), 1.03e-3, np.float32), C, True)
    np.testing.assert_allclose(C - 1, 1.03e-3, rtol=0, atol=4 * 6e-8 + 1e-9)


@given(st.integers(1, 2000), st.integers(1, 9), st.sampled_from([ROWS, 64]))
def test_parts_of_a_product_are_whole_and_have_their_space(rows: int, parts: int, step: int) -> None:
    space = np.arange(product_space(rows, parts))
    assert space.size >= product_space(rows, 1)
    row, place = 0, 0
    for part in range(parts):
        first, last, own = share(rows, space, part, parts, step)
        assert first == row
        assert last == rows or last % step == 0
        assert own.size >= product_space(last - first, 1) - 2 * step * DEPTH  # what is left over is for rounding up
        assert own[0] == place
        row, place = last, place + own.size
    assert row == rows
    assert place == space.size


def test_without_a_compiler_products_are_numpys() -> None:
    code = (
        "import numpy as np\nfrom simlab.core.gemm import plain_product, product\nassert product is plain_product\n"
        "C = np.ones((2, 4))\nproduct(0, np.ones((2, 3)), np.ones((3, 4)), C, True, np.empty(0))\n"
        "assert np.array_equal(C, np.full((2, 4), 4.0))\n"
    )
    assert product is blocked_product
    assert product is not plain_product
    subprocess.run([sys.executable, "-c", code], env={**os.environ, "NUMBA_DISABLE_JIT": "1"}, cwd=ROOT, check=True)
