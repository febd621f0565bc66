"""Spectra and end points as a user asks for them: references, sums, products, custom activations, the cube."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from flint import ctx

from simlab import activations
from simlab.core.errors import BadInput
from simlab.kernels import gaussian, laplace, nngp, ntk, power_exponential, residual
from simlab.kernels.spectra.decompose import profile_of
from simlab.kernels.spectra.endpoints import predicted
from simlab.kernels.spectra.extract import extract
from simlab.sphere.legendre import legendre

REFERENCE = Path(__file__).parents[2].parent / "shared" / "reference" / "spectra.json"


@pytest.mark.skipif(not REFERENCE.exists(), reason="reference values are with the developers")
def test_reference_spectra():
    for entry in json.loads(REFERENCE.read_text()):
        kernel = {"rf": nngp, "ntk": ntk}[entry["kernel"]](entry["depth"])
        expected = np.array([float(value) for value in entry["eigenvalues"]])
        found = kernel.spectrum(entry["dim"], expected.size - 1)
        assert np.array_equal(found.eigenvalues == 0.0, expected == 0.0)
        some = expected != 0
        assert np.abs(found.eigenvalues[some] / expected[some] - 1).max() < 1e-14
        assert np.all(found.errors < 1e-17)


KERNELS = [
    ntk(3),
    ntk(3, weight_std=1.4, bias_std=0.5),
    nngp(3, "step"),
    nngp(4, "abs"),
    ntk(2, "erf"),
    nngp(3, "gelu", weight_std=1.2),
    ntk(2, "tanh"),
    ntk(3, activations.get("leaky_relu", slope=0.3)),
    nngp(2, activations.get("hermite", degree=4)),
    residual(3),
    laplace(1.5),
    power_exponential(1.0, 0.3),
    ntk(3) + 0.5 * laplace(1.0),
    ntk(2) * gaussian(1.0),
]


KNOWN = [
    nngp(2),
    nngp(5),
    ntk(2),
    ntk(4),
    nngp(2, "step"),
    nngp(4, "step"),
    laplace(2.0),
    power_exponential(1.5, 0.3),
]
UNKNOWN = [
    ntk(3, weight_std=1.4, bias_std=0.5),
    nngp(3, activations.get("leaky_relu", slope=0.2)),
    residual(3),
    residual(4, tangent=False),
    ntk(3) + 0.5 * laplace(1.0),
    ntk(3) * laplace(1.0),
    nngp(3, "sign"),
    nngp(3, "abs"),
]
SMOOTH = [
    gaussian(1.0),
    ntk(2, "erf"),
    nngp(2, "tanh"),
    ntk(1),
    nngp(2, activations.get("monomial", degree=3)),
    ntk(3, "gelu"),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_the_series_sums_to_the_kernel(kernel):
    """κ(u) − Σ_{k≤K} N μ P_k(u) at u where the rest converges fast: within the rest at u = 1."""
    d = 12
    found = kernel.spectrum(d, 60)
    u = np.linspace(-0.6, 0.6, 13)
    parts = found.weights()
    rest = abs(found.tail.value) + found.tail.error
    series = parts @ legendre(d, 60, u)
    assert np.abs(series - kernel(u)).max() <= rest + 1e-13 * kernel(1.0)
    assert rest < 0.25 * kernel(1.0)
    # Jensen: a positive-definite kernel has no negative eigenvalue.
    assert np.all(found.eigenvalues >= 0)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_the_cube_by_brute_force(kernel):
    """The eigenvalues of the Gram matrix of all 2^d points, over 2^d, with multiplicities."""
    d = 6
    found = kernel.spectrum(d, d, domain="cube")
    points = 1.0 - 2.0 * ((np.arange(2**d)[:, None] >> np.arange(d)) & 1)
    K = kernel.at_cosines(np.clip(points @ points.T / d, -1, 1))
    expected = np.sort(np.linalg.eigvalsh(K / 2**d))
    assert np.sort(np.repeat(found.eigenvalues, found.multiplicities)) == pytest.approx(expected, abs=1e-13 * K.max())
    assert found.tail.value == pytest.approx(0.0, abs=1e-13 * kernel(1.0))


def test_eigenvalues_add_and_scale():
    k, m = ntk(3), laplace(2.0)
    both = (2 * k + m).spectrum(7, 40)
    apart = [kernel.spectrum(7, 40) for kernel in (k, m)]
    assert both.eigenvalues == pytest.approx(2 * apart[0].eigenvalues + apart[1].eigenvalues, rel=1e-15)
    assert both.trace == pytest.approx(7.0, rel=1e-15)
    shallow = (ntk(2) + nngp(2)).spectrum(5, 9)
    assert (shallow.eigenvalues[3::2] == 0).all()


@pytest.mark.parametrize("kernel", KNOWN, ids=repr)
def test_formula_and_extraction_agree(kernel):
    known, found = kernel.endpoints(), extract(profile_of(kernel))
    assert known.exponent == pytest.approx(found.exponent, rel=1e-12)
    assert known.at_plus_one == pytest.approx(found.at_plus_one, rel=1e-11)
    assert known.at_minus_one == pytest.approx(found.at_minus_one, rel=1e-11, abs=1e-12)


@pytest.mark.parametrize("kernel", UNKNOWN, ids=repr)
def test_extracted_end_points_predict_the_spectrum(kernel):
    found = kernel.spectrum(6, 400)
    law, _ = predicted(kernel.endpoints(), 6, found.degrees)
    some = np.isfinite(found.log10) & (found.degrees >= 380)
    assert some.sum() >= 10
    assert np.abs(10 ** (found.log10[some] - law[some]) - 1).max() < 0.01


@pytest.mark.parametrize("kernel", SMOOTH, ids=repr)
def test_smooth_kernels_have_no_power(kernel):
    assert kernel.endpoints().exponent is None


@pytest.mark.parametrize("depth", [30, 100])
def test_great_depth(depth):
    """Balls keep their digits: the extraction gives the formula's numbers, and the spectrum those of float64."""
    known, found = ntk(depth).endpoints(), extract(profile_of(ntk(depth)))
    assert found.exponent == known.exponent
    assert found.at_plus_one == pytest.approx(known.at_plus_one, rel=1e-11)
    assert found.at_minus_one == pytest.approx(known.at_minus_one, rel=1e-11)
    assert (2 * ntk(depth)).endpoints().at_plus_one == 2 * known.at_plus_one
    quick, exact = ntk(depth).spectrum(10, 5, rtol=1e-6), ntk(depth).spectrum(10, 5)
    assert (quick.method, exact.method) == ("float64", "arb")  # the recursion in float64, and in balls
    assert quick.eigenvalues == pytest.approx(exact.eigenvalues, rel=1e-6)
    with pytest.raises(BadInput, match="too deep for a spectrum"):
        nngp(depth, "step").spectrum(3, 10)


def test_a_custom_activation_has_an_honest_float64_spectrum():
    own = nngp(2, activations.custom(lambda z: max(z, 0.0), kinks=(0.0,)))
    found, exact = own.spectrum(4, 12), nngp(2).spectrum(4, 12)
    assert found.method == "float64"
    known = found.known() & (exact.eigenvalues > 0)
    assert known.sum() >= 4
    assert np.all(np.abs(found.eigenvalues / np.where(known, exact.eigenvalues, 1.0) - 1)[known] <= found.errors[known])
    assert own.endpoints().exponent == 1.5
    assert own.endpoints().at_plus_one == pytest.approx(nngp(2).endpoints().at_plus_one, rel=1e-3)


def test_a_loose_tolerance_takes_the_fast_path_by_itself():
    quick, exact = ntk(3).spectrum(3, 20, rtol=1e-8), ntk(3).spectrum(3, 20)
    assert (quick.method, exact.method) == ("float64", "arb")
    assert quick.eigenvalues == pytest.approx(exact.eigenvalues, rel=1e-8)
    assert ntk(3).spectrum(50, 20, rtol=1e-8).method == "arb"


def test_a_spectrum_is_computed_once_and_leaves_the_precision_alone():
    before = ctx.prec
    assert ntk(4).spectrum(9, 30) is ntk(4).spectrum(9, 30)
    assert ctx.prec == before
    with pytest.raises(ValueError, match="read-only"):
        ntk(4).spectrum(9, 30).eigenvalues[0] = 1.0


def test_threads_of_a_user_do_not_mix_their_precision():
    kernels = [ntk(depth, weight_std=1.3) for depth in range(2, 8)]
    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(lambda kernel: (kernel.spectrum(6, 30), kernel.endpoints()), kernels))
    for kernel, (spectrum, ends) in zip(kernels, found, strict=True):
        alone = (2.0 * kernel).spectrum(6, 30)  # not in the cache
        assert 2.0 * spectrum.eigenvalues == pytest.approx(alone.eigenvalues, rel=1e-15)
        assert ends == kernel.endpoints()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"dim": 1, "max_degree": 5}, "dim = 1: must be from 2 to 100000"),
        ({"dim": 3.0, "max_degree": 5}, "dim = 3.0: must be a whole number, from 2"),
        ({"dim": 3, "max_degree": -1}, "max_degree = -1: must be from 0 to"),
        ({"dim": True, "max_degree": 1}, "dim = True: must be a whole number"),
        ({"dim": 3, "max_degree": 5, "domain": "ball"}, "domain = 'ball': unknown (allowed: sphere, cube)"),
        ({"dim": 3, "max_degree": 5, "domain": "cube"}, "max_degree = 5: at most 3, the dimension, on the cube"),
        ({"dim": 3, "max_degree": 5, "rtol": 0.0}, "rtol = 0.0: must be 1e-30 or more and less than 1"),
        ({"dim": 3, "max_degree": 5, "rtol": "a"}, "rtol = 'a': must be a number, 1e-30 or more and less than 1"),
    ],
)
def test_what_is_refused(arguments, says):
    with pytest.raises(BadInput) as refused:
        ntk(2).spectrum(**arguments)
    assert says in str(refused.value)
