"""Products by BLAS of slices and transposes, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from simlab.core.gemm import product

Array = NDArray[Any]
SIZES = st.integers(1, 9)
MARGINS = st.integers(0, 3)


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
    product(A, B, around[inside], add)
    np.testing.assert_allclose(around, expected, rtol=0, atol=40 * k * np.finfo(dtype).eps)
    assert np.array_equal(around[outside], before[outside])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_what_was_in_c_is_not_read_unless_it_is_added_to(dtype: Any) -> None:
    A, B = np.ones((3, 2), dtype), np.ones((2, 4), dtype)
    C = np.full((3, 4), np.nan, dtype)
    product(A, B, C, False)
    assert np.array_equal(C, np.full((3, 4), 2.0))
    product(A, B, C, True)
    assert np.array_equal(C, np.full((3, 4), 4.0))


@pytest.mark.parametrize("add", [False, True])
def test_no_terms_give_zero(add: bool) -> None:
    C = np.ones((2, 3))
    product(np.empty((2, 0)), np.empty((0, 3)), C, add)
    assert np.array_equal(C, np.full((2, 3), float(add)))


@pytest.mark.parametrize(("m", "n"), [(0, 3), (2, 0)])
def test_an_empty_product_writes_nothing(m: int, n: int) -> None:
    around = np.ones((4, 4))
    product(np.ones((m, 5)), np.ones((5, n)), around[:m, :n], False)
    assert np.array_equal(around, np.ones((4, 4)))


def test_matrices_of_many_rows() -> None:
    """Large enough for the packed loops of BLAS."""
    rng = np.random.default_rng(0)
    A, B, C = rng.standard_normal((301, 130)), rng.standard_normal((190, 130)), rng.standard_normal((301, 200))
    expected = C[:, 5:195] + A @ B.T
    product(A, B.T, C[:, 5:195], True)
    np.testing.assert_allclose(C[:, 5:195], expected, rtol=0, atol=1e-11)
