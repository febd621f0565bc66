"""Risks on the cube without a sum over corners: against that sum, against Monte Carlo, and against random weights."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray
from scipy.special import comb

from simlab.core.errors import BadInput
from simlab.data.boolean_cube import BooleanCube
from simlab.kernels import gaussian, laplace, nngp, ntk
from simlab.kernels.kernel import Kernel
from simlab.targets import Hierarchy
from simlab.targets.allen_zhu_li import AllenZhuLi
from simlab.targets.separation import Separation
from simlab.theory import cube, cube_features

Floats = NDArray[np.float64]
UNIT = 1 / math.sqrt(6)
KERNELS: list[tuple[Kernel, float]] = [
    (gaussian(1.0), UNIT),
    (laplace(2.0), UNIT),
    (ntk(3), UNIT),
    (nngp(2), 1.0),
    (laplace(0.5), 0.7),
    (ntk(2, "erf", 1.5, 0.3), 1.0),
    (ntk(2, "erf", 1.5, 0.3), 0.4),
    (gaussian(1.0) + nngp(2), UNIT),
    (ntk(3) * laplace(1.0), UNIT),
]


def every(d: int, scale: float) -> Floats:
    return scale * np.array(list(itertools.product((-1.0, 1.0), repeat=d)))


def target(seed: int, scale: float, d: int = 6, size: int = 3) -> tuple[Hierarchy, cube.Terms]:
    f = Separation(size=size, factor=1 / scale).draw(d, np.random.default_rng(seed))
    assert f.walsh is not None
    return f, f.walsh(scale)


def points(n: int, scale: float, d: int = 6, seed: int = 0) -> Floats:
    """Corners, all different."""
    all_of_them = every(d, scale)
    return all_of_them[np.random.default_rng(seed).permutation(len(all_of_them))[:n]]


@pytest.mark.parametrize(("kernel", "scale"), KERNELS, ids=lambda v: str(v))
def test_risk_is_the_mean_over_all_corners(kernel: Kernel, scale: float) -> None:
    f, terms = target(1, scale)
    X, Z = points(9, scale), every(6, scale)
    w = np.random.default_rng(2).standard_normal((9, 3))
    expected = np.mean(np.sum((f(Z) - kernel.gram(Z, X) @ w) ** 2, axis=1))
    assert cube.CubeKernel.of(kernel, 6, scale).risk(X, w, terms) == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize(("kernel", "scale"), KERNELS, ids=lambda v: str(v))
@pytest.mark.parametrize("n", [5, 20])
def test_oracle_risk_is_that_of_least_squares_over_all_corners(kernel: Kernel, scale: float, n: int) -> None:
    f, terms = target(1, scale)
    X, Z = points(n, scale), every(6, scale)
    K, y = kernel.gram(Z, X), f(Z)
    left = y - K @ np.linalg.lstsq(K, y, rcond=1e-11)[0]
    found = cube.CubeKernel.of(kernel, 6, scale).oracle_risks(X, [terms])[0]
    assert found == pytest.approx(np.mean(np.sum(left**2, axis=1)), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize(("kernel", "rank"), [(gaussian(1.0), 11), (ntk(2), 11), (nngp(2), 9)], ids=str)
def test_captured_energies_sum_to_the_rank(kernel: Kernel, rank: int) -> None:
    """Samples twice add nothing. On {±1}^4 the NNGP of depth 2, a function of degrees 0, 1, 2 and 4, has 12 of 16
    dimensions, and 8 + 1 of them on antipodal pairs: even functions of 4 + 4 points are 4."""
    if rank == 11:
        X, d = points(11, UNIT), 6
    else:
        half = points(16, 0.5, d=4)
        X, d = half[half[:, 0] > 0][:5], 4
        X = np.concatenate([X, -X[:4]])
    X = np.concatenate([X, X[:3]])
    subsets = [S for k in range(d + 1) for S in itertools.combinations(range(d), k)]
    energies = np.diag(cube.CubeKernel.of(kernel, d, abs(X[0, 0])).captured(X, subsets))
    expected = rank if rank == 11 else np.linalg.matrix_rank(nngp(2).gram(every(4, 0.5), X), tol=1e-9)
    assert energies.sum() == pytest.approx(expected, abs=1e-9)
    assert (energies >= -1e-12).all()
    assert (energies <= 1 + 1e-12).all()


def test_a_large_cube_against_monte_carlo() -> None:
    """d = 40: ridge regression's risk by formula and on 20 000 fresh corners, within 4 standard errors."""
    d, scale, rng = 40, 1 / math.sqrt(40), np.random.default_rng(3)
    f, terms = target(4, scale, d, 3)
    law = BooleanCube(dim=d, scale="unit")
    X, Z = law.sample(120, rng), law.sample(20_000, rng)
    kernel, on_cube = ntk(3), cube.CubeKernel.of(ntk(3), d, scale)
    L = np.linalg.inv(kernel.gram(X) + 1e-2 * np.eye(120))
    losses = np.sum((f(Z) - kernel.gram(Z, X) @ (L @ f(X))) ** 2, axis=1)
    exact = on_cube.risk(X, L @ f(X), terms)
    assert abs(losses.mean() - exact) < 4 * losses.std() / math.sqrt(len(Z))
    subsets = list(terms)
    form = on_cube.error_form(X, L @ cube.characters(np.sign(X), subsets), subsets)
    assert cube.sums(form, subsets, [terms])[0] == pytest.approx(exact, rel=1e-10)
    assert on_cube.oracle_risks(X, [terms])[0] < exact


ORACLES = {name: cube.CubeKernel.of(kernel, 6, UNIT) for name, kernel in (("laplace", laplace(1.0)), ("ntk", ntk(3)))}


@given(
    name=st.sampled_from(sorted(ORACLES)),
    weights=arrays.arrays(np.float64, (8, 3), elements=st.floats(-10, 10)),
    seed=st.integers(0, 5),
)
def test_no_weights_beat_the_oracle(name: str, weights: Floats, seed: int) -> None:
    _, terms = target(seed, UNIT)
    X = points(8, UNIT, seed=seed)
    best = ORACLES[name].oracle_risks(X, [terms])[0]
    assert ORACLES[name].risk(X, weights, terms) >= best - 1e-12


def test_best_weights_reach_the_oracle() -> None:
    _, terms = target(2, UNIT)
    X, on_cube = points(8, UNIT), cube.CubeKernel.of(laplace(1.0), 6, UNIT)
    Z = every(6, UNIT)
    f, _ = target(2, UNIT)
    w = np.linalg.lstsq(laplace(1.0).gram(Z, X), f(Z), rcond=None)[0]
    assert on_cube.risk(X, w, terms) == pytest.approx(on_cube.oracle_risks(X, [terms])[0], rel=1e-10)


def test_a_kernel_that_sees_every_corner_leaves_nothing() -> None:
    f = AllenZhuLi(pairs=2, group=2).draw(4, np.random.default_rng(0))
    assert f.walsh is not None
    on_cube = cube.CubeKernel.of(gaussian(1.0), 4, 1.0)
    assert on_cube.oracle_risks(every(4, 1.0), [f.walsh(1.0)])[0] < 1e-10
    assert on_cube.oracle_risks(every(4, 1.0)[:8], [f.walsh(1.0)])[0] > 0.1


def test_weights_that_cancel_are_no_harm() -> None:
    """A kernel of no odd degree above 1 and labels χ_{123}: ridge 1e-9 makes weights of 1e9, and a fit of 0."""
    X, on_cube, subsets = every(3, 1.0), cube.CubeKernel.of(nngp(2), 3, 1.0), [(0, 1, 2)]
    signs = np.sign(X).prod(axis=1, keepdims=True)
    assert on_cube.error_form(X, 1e9 * signs, subsets)[0, 0] == pytest.approx(1.0, abs=1e-9)
    assert on_cube.risk(X, 1e9 * signs, {(0, 1, 2): np.ones(1)}) == pytest.approx(1.0, abs=1e-9)


def test_a_singular_kernel_spans_what_it_can() -> None:
    """The NNGP of depth 2 on {±1}^4 has no degree 3: 14 corners make rank 12, or 11 where a pair ±x is missing.
    Against the projection by singular values over all corners."""
    on_cube, subsets, ranks = cube.CubeKernel.of(nngp(2), 4, 0.5), [(0,), (0, 1, 2), (0, 1, 2, 3)], set()
    chi = cube.characters(np.sign(every(4, 0.5)), subsets)
    for seed in range(30):
        X = points(14, 0.5, 4, seed)
        U, sizes, _ = np.linalg.svd(nngp(2).gram(every(4, 0.5), X))
        rank = int(np.sum(sizes > 1e-9 * sizes[0]))
        ranks.add(rank)
        along = U[:, :rank].T @ chi
        assert on_cube.captured(X, subsets) == pytest.approx(along.T @ along / 16, abs=1e-10)
    assert ranks == {11, 12}


def test_krawtchouk_is_the_coefficient_of_its_generating_function() -> None:
    """(1−z)^j (1+z)^{d−j} = Σ_k K_k(j) z^k"""
    for j in range(8):
        expected = np.polynomial.polynomial.polymul(
            [(-1) ** i * comb(j, i, exact=True) for i in range(j + 1)], [comb(7 - j, i) for i in range(8 - j)]
        )
        assert [row[j] for row in cube.krawtchouk(7)] == expected.tolist()


def _quadratic(X: Floats) -> Floats:
    return np.column_stack([np.ones(len(X)), X, X[:, :1] * X[:, 1:], X[:, :1] * X[:, 1:]])  # the last five twice


def test_features_over_all_corners() -> None:
    """1, x_i and x_1 x_i know F and of the parity nothing: α² for each of 3 outputs; deficient features are no harm."""
    _, terms = target(1, UNIT)
    risks, spread = cube_features.oracle_risks(_quadratic, 6, UNIT, [terms])
    assert risks[0] == pytest.approx(3 * 0.3**2, rel=1e-12)
    assert spread[0] == 0.0


def test_more_features_than_corners_span_no_more_than_they_do() -> None:
    """Twelve copies of x_1 … x_3 on the 8 corners of {±1}^3: the parity stays."""
    terms = {(0, 1, 2): np.ones(2), (1,): np.array([1.0, 0.0])}
    risks, _ = cube_features.oracle_risks(lambda X: np.tile(X, (1, 12)), 3, 1.0, [terms])
    assert risks[0] == pytest.approx(2.0, rel=1e-12)


def _three(X: Floats) -> Floats:
    return np.tanh(X[:, 2:5])


def test_features_on_a_sample_are_below_and_near() -> None:
    _, terms = target(1, UNIT)
    exact = cube_features.oracle_risks(_three, 6, UNIT, [terms])[0][0]
    found = []
    for seed in range(20):
        X = BooleanCube(dim=6, scale=UNIT).sample(500, np.random.default_rng(seed))
        found.append([value[0] for value in cube_features.oracle_risks(_three, 6, UNIT, [terms], X)])
    risks, errors = np.array(found).T
    own = risks.std(ddof=1) / math.sqrt(20)
    assert risks.mean() < exact + 2 * own
    assert abs(risks.mean() / (1 - 3 / 500) - exact) < 4 * own
    assert errors.mean() == pytest.approx(risks.std(ddof=1), rel=0.5)


def test_what_is_no_corner_is_refused() -> None:
    X = np.full((4, 3), 0.5)
    X[2, 1] = 0.25
    with pytest.raises(BadInput, match=r"X: row 2 has the entry 0.25; must be ±0.5, a corner of the cube"):
        cube.CubeKernel.of(gaussian(1.0), 3, 0.5).oracle_risks(X, [{(0,): np.ones(1)}])
    with pytest.raises(BadInput, match=r"X\[0, 0\] = nan"):
        cube.corners([[math.nan, 1.0]])
    with pytest.raises(BadInput, match="X has 3 columns: must have 4"):
        cube.CubeKernel.of(gaussian(1.0), 4, 0.5).risk(np.ones((2, 3)), np.zeros((2, 1)), {(0,): np.ones(1)})
    with pytest.raises(BadInput, match=r"S = \(0, 3\); must be coordinates from 0 to 2"):
        cube.characters(np.ones((2, 3)), [(0, 3)])
    with pytest.raises(BadInput, match="dim = 30: at most 20"):
        cube_features.oracle_risks(np.tanh, 30, 1.0, [{(0,): np.ones(1)}])
