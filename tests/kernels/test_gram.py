"""Tables and Gram assembly: against the recursion pair by pair, whatever the threads, tiles and norms."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from simlab import activations
from simlab.core.errors import BadInput
from simlab.kernels import gaussian, gram, laplace, nngp, ntk, residual
from simlab.kernels.gram import assembly, table
from simlab.kernels.gram.pairs import correlations, row_norms
from simlab.kernels.kernel import Pairs
from simlab.kernels.laplace import Laplace


def by_recursion(kernel, X, Y):
    """Every pair by the recursion from the vectors themselves."""
    rows, columns = (index.ravel() for index in np.indices((len(X), len(Y))))
    t, s = correlations(X, Y, rows, columns)
    x, y = row_norms(X), row_norms(Y)
    values = {}
    for leaf in kernel.leaves():
        values[leaf] = leaf.evaluate([leaf], Pairs(x, y, rows, columns, t, s, X.shape[1]))[0]
    return kernel.combine(values).reshape(len(X), len(Y))


def sphere(n, d, radius=1.0, seed=0):
    X = np.random.default_rng(seed).standard_normal((n, d))
    return radius * X / np.linalg.norm(X, axis=1, keepdims=True)


TABLED = [
    nngp(2),
    ntk(2),
    ntk(3),
    ntk(11),
    nngp(100),
    ntk(100),
    ntk(1000),
    nngp(3, "step"),
    residual(20),
    laplace(3.0),
    gaussian(1.0),
    ntk(4, "erf"),
    ntk(3, weight_std=1.5, bias_std=0.3),
    ntk(3, activations.get("leaky_relu", slope=-0.4)),
]
SEVERAL = [
    ntk(3),
    nngp(4, "abs"),
    ntk(3, "erf", 1.3, 0.2),
    nngp(3, "step"),
    laplace(1.0),
    ntk(2) + gaussian(0.5) * nngp(3),
    residual(4),
]


@pytest.mark.parametrize("leaf", TABLED, ids=repr)
def test_tables_keep_to_1e13(leaf):
    """Against the recursion at cosines that are no node and no check of the table."""
    coefficients = table.table(leaf, 1, 1.0)
    rng = np.random.default_rng(0)
    z = np.concatenate([rng.uniform(0, 1, 4000), 2 ** rng.uniform(-20, 0, 4000), [1.0, 0.5, 2.0**-20, 1 - 2.0**-53]])
    u = np.concatenate([1 - z, z - 1])[np.newaxis]
    out, near = np.empty((1, *u.shape)), np.empty((2, u.size), dtype=np.int64)
    one = np.ones((1, u.size))
    u[0, 17] = 1 - 1e-7
    count = table.look_up(u, coefficients[np.newaxis], one[:, :1], one, out, near)
    exact = leaf.profile(1 - u[0], 1 + u[0])
    far = 1 - np.abs(u[0]) >= table.NEAR_Z
    assert np.abs(out[0, 0] - exact)[far].max() <= 1e-13 * np.abs(exact).max()
    assert count == 1
    assert sorted(near[1, :count].tolist()) == np.flatnonzero(1 - np.abs(u[0]) < table.NEAR_Z).tolist()


class Kinked(Laplace):
    """A kernel with a kink between the ends, which no polynomial fits."""

    @staticmethod
    def evaluate(leaves, pairs):
        return Laplace.evaluate(leaves, pairs) + np.abs(pairs.t - 0.7)


def test_no_table_where_1e13_cannot_be_had():
    kinked = Kinked(c=1.0)
    assert table.table(kinked, 1, 1.0) is None
    X = sphere(50, 3)
    assert kinked.gram(X) == pytest.approx(by_recursion(kinked, X, X), rel=1e-14)


@pytest.mark.parametrize("kernel", SEVERAL, ids=repr)
@pytest.mark.parametrize("norms", ["sphere", "any"])
def test_gram_against_the_recursion_of_each_pair(kernel, norms, monkeypatch):
    monkeypatch.setattr(assembly, "TILE_ROWS", 32)
    rng = np.random.default_rng(5)
    X = sphere(70, 4, radius=1.7)
    X[11], X[40], X[41] = X[2], -X[5], X[6] + 1e-10
    if norms == "any":
        factors = rng.uniform(0.1, 3.0, (70, 1))
        # Exact factors for the near pairs: rounding a vector turns it by 1e-16, which the step kernel sees as 1e-9.
        factors[[2, 5, 6, 11, 40, 41]] = 2.0
        X *= factors
        X[13] = 0.0
    Y = np.vstack([X[20:30], sphere(25, 4, seed=9)])
    for other in (None, Y):
        K, exact = kernel.gram(X, other), by_recursion(kernel, X, X if other is None else other)
        assert np.abs(K - exact).max() <= 2e-13 * np.abs(exact).max()


def test_one_pass_gives_every_kernel_and_depth_the_same_numbers():
    X = sphere(90, 5) * np.random.default_rng(0).uniform(0.5, 2, (90, 1))
    chosen = [nngp(2), ntk(7), ntk(2, "erf", 1.1, 0.1), nngp(9, "erf", 1.1, 0.1), nngp(2)]
    for kernel, K in zip(chosen, gram(chosen, X), strict=True):
        assert np.abs(K - kernel.gram(X)).max() <= 1e-15 * np.abs(K).max()


def test_threads_and_blocks_do_not_change_a_bit(monkeypatch):
    X = np.random.default_rng(2).standard_normal((300, 10))
    monkeypatch.setattr(assembly, "TILE_ROWS", 64)
    first = gram([ntk(5), ntk(3, "erf", 1.0, 0.1)], X, threads=1)
    again = gram([ntk(5), ntk(3, "erf", 1.0, 0.1)], X, threads=3)
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert np.array_equal(first[0], first[0].T)


def test_float32_is_the_rounded_float64():
    X = np.random.default_rng(3).standard_normal((50, 6)).astype(np.float32)
    assert np.array_equal(ntk(3).gram(X, dtype=np.float32), ntk(3).gram(X.astype(np.float64)).astype(np.float32))
    counts = np.random.default_rng(3).integers(0, 255, (20, 6), dtype=np.uint8)
    assert np.array_equal(ntk(3).gram(counts), ntk(3).gram(counts.astype(float)))


def test_homogeneous_kernels_scale_with_the_norms():
    X = np.random.default_rng(4).standard_normal((30, 5))
    a = np.random.default_rng(5).uniform(1e-3, 1e3, 30)
    assert ntk(4).gram(X * a[:, None]) == pytest.approx(ntk(4).gram(X) * np.outer(a, a), rel=1e-12)
    assert nngp(3, "sign").gram(X * a[:, None]) == pytest.approx(nngp(3, "sign").gram(X), abs=1e-9)


def test_progress_and_empty_and_single_inputs():
    told = []
    X = np.random.default_rng(0).standard_normal((1000, 3))
    gram([ntk(2)], X, progress=lambda done, total: told.append((done, total)))
    assert told[-1][0] == told[-1][1]
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert ntk(2).gram(np.zeros((0, 3))).shape == (0, 0)
    assert ntk(2).gram([[3.0, 4.0]]) == pytest.approx(50.0)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: ntk(2).gram([1.0, 2.0]), "X has shape (2,): must be a matrix"),
        (lambda: ntk(2).gram(np.ones((2, 3)), np.ones((2, 4))), "X has 3 columns and Y 4"),
        (lambda: ntk(2).gram([[1.0, np.nan]]), "row 0 of the inputs is not finite"),
        (lambda: ntk(2).gram([[1j, 2.0]]), "X has dtype complex128"),
        (lambda: ntk(2).gram([["a"]]), "must be real numbers"),
        (lambda: ntk(2).gram(np.ones((2, 3)), dtype=np.int32), "dtype = int32: must be float64 or float32"),
        (lambda: ntk(2).gram([[1.0], [1.0, 2.0]]), "X: rows of different lengths"),
        (lambda: ntk(2).gram(np.ones((2, 3)), dtype="foo"), "dtype = 'foo': must be float64"),
        (lambda: ntk(2).gram(np.ones((2, 3)), threads=-1), "threads = -1: must be from 1 to 4096"),
        (lambda: gram(["ntk"], np.ones((2, 3))), "'ntk' is not a kernel"),
        (lambda: ntk(2).gram(np.ones((2, 0))), "inputs must have at least one coordinate"),
    ],
)
def test_what_is_refused(call, says):
    with pytest.raises(BadInput) as refused:
        call()
    assert says in str(refused.value)


def test_threads_of_a_user_leave_blas_as_it_was():
    def limits():
        return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

    X = np.random.default_rng(0).standard_normal((900, 5))
    before, expected = limits(), ntk(3).gram(X)
    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(lambda _: ntk(3).gram(X), range(9)))
    assert limits() == before
    assert all(np.array_equal(K, expected) for K in found)


def test_slow_kernels_are_evaluated_in_pieces_and_can_be_stopped(monkeypatch):
    X = np.random.default_rng(0).standard_normal((90, 3))
    slow = nngp(2, "tanh", 1.0, 0.1)
    whole = slow.gram(X[:40])
    monkeypatch.setattr(assembly, "CHUNK_SECONDS", 0.0)
    assert np.array_equal(slow.gram(X[:40]), whole)
    calls, evaluate = [], type(slow).evaluate

    def counted(leaves, pairs):
        calls.append(pairs.t.size)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return evaluate(leaves, pairs)

    monkeypatch.setattr(type(slow), "evaluate", staticmethod(counted))
    with pytest.raises(KeyboardInterrupt):
        gram([slow], X, threads=2)
    assert max(calls) <= 4096


def test_arrays_to_fill_are_checked():
    X = np.ones((5, 2))
    K = np.empty((5, 5), dtype=np.float32)
    assert gram([ntk(2)], X, out=[K])[0] is K
    assert np.array_equal(K, ntk(2).gram(X).astype(np.float32))
    frozen = np.empty((5, 5))
    frozen.flags.writeable = False
    for wrong in (np.empty((5, 5)), [], [np.empty((2, 2))], [np.empty((5, 5), dtype=int)], [frozen], [[[0.0]]]):
        with pytest.raises(BadInput, match=r"out:|dtype = int64"):
            gram([ntk(2)], X, out=wrong)


def test_an_error_in_a_thread_reaches_the_caller(monkeypatch):
    def fails(*args, **kwargs):
        raise RuntimeError("from a tile")

    monkeypatch.setattr(assembly, "TILE_ROWS", 8)
    monkeypatch.setattr(assembly, "correlations", fails)
    with pytest.raises(RuntimeError, match="from a tile"):
        gram([ntk(2)], np.ones((40, 2)), threads=2)
