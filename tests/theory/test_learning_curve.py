"""Learning curves against an independent solution in many digits, limits, invariances, and regressions measured."""

from __future__ import annotations

from decimal import Decimal, localcontext
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from simlab import activations
from simlab.core.errors import BadInput
from simlab.kernels import gaussian, nngp, ntk
from simlab.sphere.multiplicity import multiplicity
from simlab.targets.gegenbauer import Gegenbauer
from simlab.theory.learning_curve import learning_curve


def spectrum(eigenvalues: Any, multiplicities: Any, trace: float | None = None) -> Any:
    eta, counts = np.array(eigenvalues, float), np.array(multiplicities)
    with np.errstate(divide="ignore"):
        logs = np.log10(abs(eta))
    return SimpleNamespace(
        eigenvalues=eta, log10=logs, multiplicities=counts, trace=float(eta @ counts) if trace is None else trace
    )


SMALL = spectrum([0.3, 0.1, 0.0, 0.004, 0.0006], [1, 5, 14, 30, 55], trace=1.1)
POWER = np.array([0.5, 1.0, 0.25, 0.1, 0.05])


def by_iteration(s: Any, p: Any, n: float, ridge: float, variance: float, tail_power: float) -> tuple[Any, ...]:
    """The equations as MATH §5 writes them, κ by iteration from above in 50 digits, γ with its cancellation."""
    with localcontext(prec=50):
        modes = [(Decimal(e), int(c)) for e, c in zip(s.eigenvalues.tolist(), s.multiplicities, strict=True)]
        n, tail, kappa = Decimal(n), Decimal(tail_power), Decimal(ridge) + Decimal(s.trace)
        held = kappa - sum(e * c for e, c in modes)
        for _ in range(100_000):
            before, kappa = kappa, held + kappa * sum(c * e / (n * e + kappa) for e, c in modes)
            if abs(before / kappa - 1) < Decimal("1e-25"):
                break
        gamma = n * sum(c * e**2 / (n * e + kappa) ** 2 for e, c in modes)
        learned = [kappa**2 / ((1 - gamma) * (n * e + kappa) ** 2) for e, _ in modes]
        errors = [Decimal(q) * factor for q, factor in zip(p.tolist(), learned, strict=True)]
        return kappa, gamma, errors, tail / (1 - gamma), Decimal(variance) * gamma / (1 - gamma)


@pytest.mark.parametrize("n", [0.5, 10.0, 100.0, 1000.0])
@pytest.mark.parametrize("ridge", [0.0, 1e-3, 2.0])
def test_against_iteration_in_many_digits(n: float, ridge: float) -> None:
    kappa, gamma, modes, tail, noise = by_iteration(SMALL, POWER, n, ridge, 0.09, 0.2)
    got = learning_curve(SMALL, POWER, n, ridge, 0.3, tail_power=0.2)
    assert float(got.kappa) == pytest.approx(float(kappa), rel=1e-12)
    assert float(got.gamma) == pytest.approx(float(gamma), rel=1e-12)
    np.testing.assert_allclose(got.by_degree, [float(m) for m in modes], rtol=1e-11)
    assert float(got.tail) == pytest.approx(float(tail), rel=1e-12)
    assert float(got.noise) == pytest.approx(float(noise), rel=1e-12)
    assert got.error == pytest.approx(float(sum(modes) + tail + noise), rel=1e-12)


@pytest.mark.parametrize(("n", "ridge"), [(3.0, 0.0), (3.0, 0.7), (40.0, 0.1), (1e9, 1e-3)])
def test_one_degree_is_a_quadratic_equation(n: float, ridge: float) -> None:
    """κ = λ + κNη/(nη+κ): κ² + κ(nη − λ − Nη) − λnη = 0, γ = nNη²/(nη+κ)²."""
    eta, count = 0.2, 14
    b = n * eta - ridge - count * eta
    root = np.sqrt(b * b + 4 * ridge * n * eta)
    kappa = (root - b) / 2 if b < 0 else 2 * ridge * n * eta / (b + root)
    gamma = n * count * eta**2 / (n * eta + kappa) ** 2
    got = learning_curve(spectrum([eta], [count]), [1.5], n, ridge)
    assert float(got.kappa) == pytest.approx(kappa, rel=1e-12)
    assert got.error == pytest.approx(1.5 * kappa**2 / ((1 - gamma) * (n * eta + kappa) ** 2), rel=1e-10)


def test_finite_rank_without_ridge() -> None:
    """E = p(1 − n/N) up to n = N, noise σ² n/(N−n) before, infinite at, σ² N/(n−N) after it."""
    got = learning_curve(spectrum([0.2], [10]), [1.0], [0.0, 4.0, 10.0, 25.0], 0.0, 1.0)
    np.testing.assert_allclose(got.by_degree[:, 0], [1.0, 0.6, 0.0, 0.0], rtol=1e-13)
    np.testing.assert_allclose(got.noise, [0.0, 4 / 6, np.inf, 10 / 15], rtol=1e-13)
    np.testing.assert_allclose(got.kappa, [2.0, 1.2, 0.0, 0.0], rtol=1e-13)
    unlearnable = learning_curve(spectrum([0.2, 0.0], [10, 3]), [0.0, 1.0], [0.0, 4.0, 25.0])
    np.testing.assert_allclose(unlearnable.error, [1.0, 1 / (1 - 0.4), 1 / (1 - 0.4)], rtol=1e-13)
    nothing = learning_curve(spectrum([0.0], [1]), [1.0], [0.0, 5.0], 0.0, 1.0)
    np.testing.assert_array_equal(nothing.error, [1.0, 1.0])


def test_limits() -> None:
    s = ntk(3).spectrum(5, 40)
    p = np.array([1.0, 0.5, 0.25, 0.125])
    none = learning_curve(s, p, 0, 0.3, 1.0, tail_power=0.5)
    np.testing.assert_allclose(none.by_degree[:4], p, rtol=1e-15)
    assert none.error == pytest.approx(p.sum() + 0.5, rel=1e-15)
    assert float(none.kappa) == pytest.approx(s.trace + 0.3, rel=1e-14)
    many = learning_curve(s, p, [1e6, 1e9, 1e12])
    assert (np.diff(many.error) < 0).all()
    assert many.error[-1] < 1e-15
    # A great ridge: κ → λ, f ≈ nη/λ of each mode.
    ridged = learning_curve(s, p, 10, 1e9)
    assert float(ridged.kappa) == pytest.approx(1e9, rel=1e-8)
    np.testing.assert_allclose(1 - ridged.by_degree[:4] / p, 2 * 10 * s.eigenvalues[:4] / 1e9, rtol=1e-2, atol=1e-15)


def test_degrees_that_the_kernel_does_not_have_are_never_learned() -> None:
    """ReLU, depth 2: degree 3 has eigenvalue 0, and its power grows by 1/(1−γ) like the tail's."""
    s = nngp(2).spectrum(6, 40)
    got = learning_curve(s, [0.0, 0.0, 0.0, 1.0], np.logspace(0, 12, 25), tail_power=1.0)
    np.testing.assert_allclose(got.by_degree[:, 3], 1 / (1 - got.gamma), rtol=1e-9)
    np.testing.assert_allclose(got.by_degree[:, 3], got.tail, rtol=1e-15)


@pytest.mark.parametrize("factor", [1e-30, 7.0, 1e30])
def test_scaling_kernel_and_ridge_changes_nothing(factor: float) -> None:
    s = ntk(3).spectrum(4, 30)
    scaled = spectrum(s.eigenvalues * factor, s.multiplicities, s.trace * factor)
    n = np.logspace(0, 9, 10)
    a, b = learning_curve(s, [1, 1, 1], n, 0.01, 0.5), learning_curve(scaled, [1, 1, 1], n, 0.01 * factor, 0.5)
    np.testing.assert_allclose(a.error, b.error, rtol=1e-11)
    np.testing.assert_allclose(a.kappa * factor, b.kappa, rtol=1e-11)


@pytest.mark.parametrize(
    ("kernel", "dim", "degree"), [(ntk(3), 500, 60), (gaussian(1.0), 10, 180), (gaussian(1.0), 100, 60)]
)
def test_where_eigenvalues_underflow(kernel: Any, dim: int, degree: int) -> None:
    """The equation holds to 1e-10 at every n, in logarithms of 50 digits; nothing is NaN."""
    s = kernel.spectrum(dim, degree)
    n = np.logspace(0, 12, 13)
    got = learning_curve(s, [1.0, 1.0, 0.5], n, 0.0, 0.1)
    assert np.isfinite(got.error).all()
    with localcontext(prec=50):
        rest = Decimal(s.tail.value if s.tail.value > s.tail.error else 0.0)
        modes = [
            (Decimal(10) ** Decimal(log), int(count))
            for log, count in zip(s.log10.tolist(), s.multiplicities, strict=True)
        ]
        for size, kappa in zip(map(Decimal, n.tolist()), map(Decimal, got.kappa.tolist()), strict=True):
            h = rest / kappa + sum(count * eta / (size * eta + kappa) for eta, count in modes)
            assert float(h) == pytest.approx(1.0, abs=1e-10)


def test_truncation_is_told() -> None:
    """Degrees up to 15 are too few for n > 1000: by how much, compared with 240, is told within a factor of 1.5."""
    n = np.logspace(1, 5, 9)
    target, noise = Gegenbauer(degrees=(1, 4)).power(4, 15), 0.2
    short, long = (learning_curve(ntk(3).spectrum(4, top), target, n, 0.0, noise) for top in (15, 240))
    off = abs(short.error - long.error)
    assert (long.truncation < 0.02 * long.error).all()
    assert (off > 0.7 * short.truncation).all()
    assert (off < 1.5 * short.truncation).all()
    assert off[-1] > 10 * short.error[-1]


def test_shapes_and_longer_powers() -> None:
    got = learning_curve(SMALL, np.append(POWER, [0.1, 0.2]), np.array([[1.0], [50.0]]), [0.0, 0.1, 1.0])
    assert got.error.shape == got.kappa.shape == got.truncation.shape == (2, 3)
    assert got.by_degree.shape == (2, 3, 5)
    again = learning_curve(SMALL, POWER, 50.0, 0.1, tail_power=0.3)
    assert again.error.shape == ()
    assert float(again.error) == pytest.approx(got.error[1, 1], rel=1e-14)


def test_large_arrays_are_done_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    n = np.logspace(0, 4, 11)
    whole = learning_curve(SMALL, POWER, n, 0.1, 0.2)
    monkeypatch.setattr("simlab.theory.learning_curve.MOST_FLOATS", 20)
    parts = learning_curve(SMALL, POWER, n, 0.1, 0.2)
    for name in ("kappa", "gamma", "by_degree", "tail", "noise", "truncation"):
        np.testing.assert_allclose(getattr(parts, name), getattr(whole, name), rtol=1e-13, atol=1e-18)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"n": -1.0}, "n = -1.0: must be 0 or more"),
        ({"n": np.nan}, "n = nan: must be finite"),
        ({"ridge": -1e-3}, "ridge = -0.001"),
        ({"noise": -1.0}, "noise = -1.0"),
        ({"power": [np.inf]}, r"power\[0\] = inf"),
        ({"power": [[1.0]]}, r"power has shape \(1, 1\)"),
        ({"spectrum": spectrum([1.0, -0.1], [1, 3])}, "eigenvalue 1 is negative"),
    ],
)
def test_refusals(change: dict[str, Any], says: str) -> None:
    call: dict[str, Any] = {"spectrum": SMALL, "power": POWER, "n": 3.0, **change}
    with pytest.raises(BadInput, match=says):
        learning_curve(**call)


@pytest.mark.parametrize(
    ("n", "noise", "ridge", "repetitions"), [(50, 0.0, 0.0, 40), (200, 0.0, 0.0, 20), (200, 0.5, 0.3, 12)]
)
def test_measured_regression(n: int, noise: float, ridge: float, repetitions: int) -> None:
    """NTK of depth 3, d = 5, a target of degrees 1 and 2: within 3 standard errors or 5 %."""
    kernel, params = ntk(3), Gegenbauer(degrees=(1, 2), powers=(1.0, 0.5))
    errors = []
    for seed in range(repetitions):
        rng = np.random.default_rng([seed, n])
        f = params.draw(5, rng)
        X, X_test = (rng.standard_normal((size, 5)) for size in (n, 1000))
        X, X_test = (Z / np.linalg.norm(Z, axis=1, keepdims=True) for Z in (X, X_test))
        y = f(X) + noise * rng.standard_normal(n)
        K = kernel.gram(X) + ridge * np.eye(n)
        errors.append(np.mean((kernel.gram(X_test, X) @ np.linalg.solve(K, y) - f(X_test)) ** 2))
    spectra = kernel.spectrum(5, 60)
    predicted = float(learning_curve(spectra, params.power(5, 60), n, ridge, noise).error)
    off, se = abs(np.mean(errors) - predicted), np.std(errors, ddof=1) / np.sqrt(repetitions)
    assert off < max(3 * se, 0.05 * predicted)
    assert se < 0.15 * predicted
    assert multiplicity(5, 1) == spectra.multiplicities[1]


def test_a_tail_below_the_rounding_of_the_trace_is_noticed() -> None:
    """A smooth kernel's degrees beyond 20 weigh less than rounding, yet the error of n = 1000 samples hangs on them."""
    curves = {
        K: learning_curve(gaussian(1.0).spectrum(3, K), [0, 1, 1, 1], 1000, 0.0, noise=0.5) for K in (16, 20, 30, 45)
    }
    for K in (16, 20, 30):
        assert curves[K].truncation > 0.2 * curves[K].error
    assert curves[45].truncation < 1e-6 * curves[45].error
    square = nngp(2, activations.get("monomial", degree=2)).spectrum(5, 2)  # a polynomial has no tail
    assert np.all(learning_curve(square, [0, 0, 1], [5, 14, 30]).truncation == 0.0)


@pytest.mark.parametrize("bad", [{"power": [1.0, -1.0]}, {"noise": [0.1, 0.2]}, {"tail_power": -1.0}])
def test_bad_numbers_are_named(bad: dict[str, Any]) -> None:
    good: dict[str, Any] = {"power": [0.0, 1.0], "n": 10}
    with pytest.raises(BadInput, match=next(iter(bad))):
        learning_curve(ntk(3).spectrum(4, 10), **(good | bad))
