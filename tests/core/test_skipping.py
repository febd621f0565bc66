"""Products that skip zeros: to the bit those of `gemm`, which is held to NumPy."""

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

from simlab.core import gemm, skipping
from simlab.core.gemm import DEPTH
from simlab.core.outlined import addresses
from simlab.core.skipping import TERMS, mark, plain_mark, product_of_marked, skipping_space, words

ROOT = Path(__file__).parents[2]
Array = NDArray[Any]
TYPES = [np.float64, np.float32]
SIZES = st.one_of(st.integers(1, 9), st.sampled_from([31, 48, 63, 64, 65, 96, 100, 128, 130, DEPTH, DEPTH + 70]))


def marks(A: Array) -> Array:
    bits = np.full((len(A), words(A.shape[1])), -1)
    mark(A, 0, A.shape[1], bits)
    return bits


def multiply(A: Array, bits: Array, B: Array, C: Array, add: bool) -> None:
    """C ← A B, in a space that holds NaN: whatever a product reads, it has written."""
    space = np.full(skipping_space(len(A)), np.nan, C.dtype)
    product_of_marked(addresses([skipping.compiled_product], C.dtype)[0], A, bits, B, C, add, space)


def dense(A: Array, B: Array, C: Array, add: bool) -> None:
    space = np.full(gemm.product_space(len(A), 1), np.nan, C.dtype)
    gemm.product(addresses([gemm.compiled_product], C.dtype)[0], A, B, C, add, space)


@given(
    st.tuples(SIZES, SIZES, SIZES),
    st.sampled_from([0.0, 0.3, 0.5, 1.0]),
    st.booleans(),
    st.booleans(),
    st.integers(0, 3),
    st.sampled_from(TYPES),
    st.integers(0, 99),
)
def test_bits_are_those_of_a_product_that_skips_nothing(
    sizes: tuple[int, int, int], zeros: float, add: bool, turned: bool, margin: int, dtype: Any, seed: int
) -> None:
    """Slices of wider matrices; what lies around C stays as it was, and bits past A's columns are not read."""
    (m, k, n), rng = sizes, np.random.default_rng(seed)
    A, B = (
        rng.standard_normal((rows, columns + margin)).astype(dtype)[:, margin:] for rows, columns in ((m, k), (k, n))
    )
    A[rng.random(A.shape) < zeros] = 0
    B = np.asfortranarray(B) if turned else B
    bits = marks(A)
    if k % TERMS:
        bits[:, -1] |= -1 << (k % TERMS)
    found = rng.standard_normal((m, n + 2 * margin)).astype(dtype)
    wanted = found.copy()
    multiply(A, bits, B, found[:, margin : margin + n], add)
    dense(A, B, wanted[:, margin : margin + n], add)
    assert np.array_equal(found, wanted)


@pytest.mark.parametrize("dtype", TYPES)
def test_an_entry_that_is_not_marked_is_skipped(dtype: Any) -> None:
    A, B = np.ones((3, 70), dtype), np.ones((70, 5), dtype)
    bits = marks(A)
    bits[1, 0] ^= 0b101
    bits[2, 1] = 0
    C = np.empty((3, 5), dtype)
    multiply(A, bits, B, C, False)
    assert np.array_equal(C, np.array([[70.0] * 5, [68.0] * 5, [64.0] * 5]))


@pytest.mark.parametrize("dtype", TYPES)
def test_what_is_not_finite_is_not_skipped(dtype: Any) -> None:
    A = np.zeros((2, TERMS), dtype)
    A[0, 3], A[1, TERMS - 1] = np.nan, np.inf
    C = np.empty((2, 3), dtype)
    multiply(A, marks(A), np.ones((TERMS, 3), dtype), C, False)
    assert np.all(np.isnan(C[0]))
    assert np.all(np.isinf(C[1]))


@pytest.mark.parametrize("add", [False, True])
def test_no_terms_give_zero(add: bool) -> None:
    C = np.ones((2, 3))
    multiply(np.empty((2, 0)), np.empty((2, 0), np.int64), np.empty((0, 3)), C, add)
    assert np.array_equal(C, np.full((2, 3), float(add)))


@given(st.integers(1, 5), st.integers(0, 2), st.integers(1, 150), st.sampled_from(TYPES), st.integers(0, 99))
def test_marks(rows: int, before: int, columns: int, dtype: Any, seed: int) -> None:
    """From a whole number of words on; other words stay as they were. −0 is 0, and NaN is not."""
    rng, first = np.random.default_rng(seed), before * TERMS
    A = rng.choice([0.0, -0.0, 1.0, -1e-30, np.nan], (rows, first + columns + 3)).astype(dtype)
    last = first + columns
    compiled, plain = np.full((2, rows, words(last) + 1), 7)
    mark(A, first, last, compiled)
    plain_mark(A, first, last, plain)
    assert np.array_equal(compiled, plain)
    for i in range(rows):
        for k in range(words(last) * TERMS):
            bit = compiled[i, k // TERMS] >> (k % TERMS) & 1
            if k >= first:
                assert bit == (k < last and A[i, k] != 0)
    assert np.all(compiled[:, :before] == 7)
    assert np.all(compiled[:, words(last) :] == 7)


def test_without_a_compiler_products_are_numpys() -> None:
    code = (
        "import numpy as np\nfrom simlab.core.skipping import mark, plain_mark, product_of_marked\n"
        "assert mark is plain_mark\nC = np.ones((2, 4))\n"
        "product_of_marked(0, np.ones((2, 3)), np.zeros((2, 1), int), np.ones((3, 4)), C, True, np.empty(0))\n"
        "assert np.array_equal(C, np.full((2, 4), 4.0))\n"
    )
    subprocess.run([sys.executable, "-c", code], env={**os.environ, "NUMBA_DISABLE_JIT": "1"}, cwd=ROOT, check=True)
