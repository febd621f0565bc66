"""Rates against the local slopes of learning curves themselves, norms against sums in closed form."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from simlab.core.errors import BadInput, SimlabError
from simlab.kernels import gaussian, nngp, ntk
from simlab.sphere.multiplicity import multiplicity
from simlab.theory.learning_curve import learning_curve
from simlab.theory.source_condition import PowerLaw, Source, fit_power_decay, native_norm

DEGREES = 2500


def slope(y: np.ndarray, n: np.ndarray) -> float:
    return float(np.polyfit(np.log(n), np.log(y), 1)[0])


def target(b: float, dim: int) -> tuple[np.ndarray, float]:
    """p_k = x^{−b}, x = k + d/2, of sum 1; and what lies beyond the last degree, as an integral."""
    p = (np.arange(DEGREES + 1) + dim / 2) ** -b
    beyond = (DEGREES + dim / 2 + 0.5) ** (1 - b) / (b - 1)
    return p / (p.sum() + beyond), beyond / (p.sum() + beyond)


@pytest.mark.parametrize(
    ("a", "b", "noise"), [(5.0, 2.0, 1.0), (5.0, 4.0, 1.0), (5.0, 8.0, 0.1), (5.0, 14.0, 0.1), (7.0, 4.0, 1.0)]
)
def test_rates_are_the_slopes_of_the_curves(a: float, b: float, noise: float) -> None:
    """d = 5, n from 1e8 to 1e10, without noise and ridge, and with noise at the best ridge; b = 14 saturates."""
    source = Source(dim=5, kernel_decay=a, power_decay=b)
    spectrum, (p, beyond) = PowerLaw(5, a, DEGREES), target(b, 5)
    n = np.logspace(8, 10, 5)
    noiseless = learning_curve(spectrum, p, n, 0.0, 0.0, beyond)
    assert slope(noiseless.error, n) == pytest.approx(-source.noiseless_rate, abs=0.05)
    n = np.logspace(8, 10, 3)
    best = [
        minimize_scalar(
            lambda log: float(learning_curve(spectrum, p, size, np.exp(log), noise, beyond).error),  # noqa: B023
            bounds=(-20.0, 20.0),
            options={"xatol": 1e-2},
        )
        for size in n
    ]
    assert slope(np.array([found.fun for found in best]), n) == pytest.approx(-source.noisy_rate, abs=0.05)
    assert slope(np.exp([found.x for found in best]), n) == pytest.approx(source.ridge_growth, abs=0.05)
    assert source.saturated == (b == 14.0)


def test_what_the_kernels_of_deep_nets_pay_for() -> None:
    """NTK: H^{d/2}, RF: H^{d/2+1}, from their measured decay; a cap (β = 1/2) is in neither, and learned at 1/(d−1)."""
    for kernel, expected in ((ntk(3), 3 / 2), (nngp(3), 5 / 2)):
        decay = kernel.spectrum(3, 300).fit().exponent
        assert Source(3, decay, 2.0).native_smoothness == pytest.approx(expected, abs=0.02)
    cap = Source(3, 3.0, 2.0)
    assert (cap.smoothness, cap.native, cap.saturated) == (0.5, False, False)
    assert cap.exponent == pytest.approx(1 / 6)
    assert cap.noiseless_rate == pytest.approx(1 / 2)
    assert cap.noisy_rate == pytest.approx(1 / 3)
    assert Source(3, 3.0, 4.1).native


def test_power_law_is_one() -> None:
    law = PowerLaw(6, 7.5, 400)
    assert -np.diff(law.log10[[100, 200]])[0] == pytest.approx(7.5 * math.log10(203 / 103))
    longer = PowerLaw(6, 7.5, 4000)
    assert law.trace == pytest.approx(longer.trace, rel=1e-7)
    assert law.multiplicities[7] == multiplicity(6, 7)


def test_native_norm() -> None:
    """A degree alone: p/μ. p_k = μ_k k^{−2}: Σ k^{−2}. p_k = μ_k k^{−0.9} diverges, though the partial sums do not."""
    spectrum = ntk(3).spectrum(4, 200)
    one = np.zeros(6)
    one[5] = 2.0
    assert native_norm(spectrum, one, 4).squared == pytest.approx(2.0 / spectrum.eigenvalues[5], rel=1e-12)
    k = np.arange(1, 201)
    inside = native_norm(spectrum, np.append(0.0, spectrum.eigenvalues[1:] / k**2), 4)
    assert inside.squared == pytest.approx(sum(1 / k**2), rel=1e-12)
    assert inside.slope == pytest.approx(-2.0, abs=0.05)
    outside = native_norm(spectrum, np.append(0.0, spectrum.eigenvalues[1:] / k**0.9), 4)
    assert math.isinf(outside.squared)
    assert outside.partial == pytest.approx(sum(1 / k**0.9), rel=1e-12)


def test_native_norm_of_what_the_kernel_does_not_have() -> None:
    shallow = nngp(2).spectrum(5, 20)
    assert math.isinf(native_norm(shallow, [0.0, 0.0, 0.0, 1.0], 5).squared)
    assert native_norm(shallow, [0.0, 0.0, 1.0, 0.0], 5).squared == pytest.approx(1 / shallow.eigenvalues[2])
    assert native_norm(shallow, [0.0], 5).squared == 0.0
    # Below the range of float64 the eigenvalue is 0, its logarithm is not.
    smooth = gaussian(1.0).spectrum(10, 180)
    far = np.zeros(181)
    far[180] = 1e-300
    assert native_norm(smooth, far, 10).squared == pytest.approx(10 ** (-300 - smooth.log10[180]), rel=1e-10)


def test_fitted_decay() -> None:
    k = np.arange(301)
    power = (k + 1.5) ** -3.2 * np.where(k % 2, 0.0, 1.0)
    assert fit_power_decay(power, 5) == pytest.approx(3.2, abs=1e-10)
    with pytest.raises(SimlabError, match="at least 3"):
        fit_power_decay(np.eye(10)[2], 5)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: Source(1, 3.0, 2.0), "dim = 1"),
        (lambda: Source(4, 3.0, 2.0), "kernel_decay = 3.0: must be more than d − 1 = 3"),
        (lambda: Source(4, 4.0, 1.0), "power_decay = 1.0: must be more than 1"),
        (lambda: native_norm(ntk(3).spectrum(4, 5), [1.0] * 7, 4), r"power has shape \(7,\)"),
        (lambda: native_norm(ntk(3).spectrum(4, 5), [-1.0], 4), "must be 0 or more"),
    ],
)
def test_refusals(call: object, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        call()  # type: ignore[operator]
