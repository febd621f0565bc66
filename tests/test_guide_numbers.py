"""Numbers that the guide `mathematics` states, computed anew with SciPy alone."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from scipy import integrate, optimize, special

from simlab.core import guides

TEXT = guides.read("mathematics")


def row(section: str, name: str) -> list[float]:
    """The numbers of a table's row."""
    found = re.search(rf"^\| {re.escape(name)} *\|(.+)$", guides.section(TEXT, section), re.MULTILINE)
    assert found, name
    return [float(number) for number in re.findall(r"[\d.]+(?:e-\d+)?", found.group(1))]


def test_radii_of_the_heavy_tailed_law() -> None:
    """Medians and masses of section 8.1: CDF(s) = J_ν² + 2Σ J_{ν+k}², s = 2πR_d‖x‖."""
    for d, median, mass in zip(row("8.1", "d"), row("8.1", "median of ‖x‖"), row("8.1", "P(‖x‖ < 1)"), strict=True):
        wave = 2 * math.sqrt(math.pi) * special.gamma(d / 2 + 1) ** (1 / d)

        def cdf(r: float, order: float = d / 2, wave: float = wave) -> float:
            s = wave * r
            return float(special.jv(order, s) ** 2 + 2 * sum(special.jv(order + k, s) ** 2 for k in range(1, 400)))

        found = optimize.brentq(lambda r, cdf=cdf: cdf(r) - 0.5, 1e-3, 10.0)
        assert found == pytest.approx(median, abs=5e-3 if d > 50 else 5e-4)
        assert cdf(1.0) == pytest.approx(mass, rel=0.1 if d > 50 else 0.02)


def test_tubes_and_mean_relu() -> None:
    shares = re.search(r"(0\.134),\s+(5\.67e-4)\s+and\s+(3\.92e-7)", guides.section(TEXT, "8.2"))
    assert shares
    exact = [special.betainc((d - 1) / 2, 0.5, 0.25) for d in (3, 10, 20)]
    assert [float(share) for share in shares.groups()] == pytest.approx(exact, rel=2e-3)
    stated = re.findall(r"(0\.\d{5})\s+\(d\s+=\s+(\d+)\)", guides.section(TEXT, "8.5"))
    assert [int(d) for _, d in stated] == [3, 10, 100]
    for value, d in stated:
        # E σ(v̄·x) over the sphere by quadrature in the angle; C_Γ is √d times it.
        density = special.gamma(int(d) / 2) / (math.sqrt(math.pi) * special.gamma((int(d) - 1) / 2))
        mean = density * integrate.quad(lambda a, d=int(d): math.cos(a) * math.sin(a) ** (d - 2), 0, math.pi / 2)[0]
        assert math.sqrt(int(d)) * mean == pytest.approx(float(value), abs=5e-6)


def test_share_of_a_relu_neuron_beyond_degree_1() -> None:
    stated = re.search(r"\((0\.\d\d) at d = 3, (0\.\d\d) at d = 10", " ".join(guides.section(TEXT, "7.4").split()))
    assert stated
    for value, d in zip(stated.groups(), (3, 10), strict=True):

        def mean(power: int, d: int = d) -> float:
            density = special.gamma(d / 2) / (math.sqrt(math.pi) * special.gamma((d - 1) / 2))
            part = integrate.quad(lambda a: math.cos(a) ** power * math.sin(a) ** (d - 2), 0, math.pi / 2)[0]
            return float(density * part)

        variance = mean(2) - mean(1) ** 2
        assert 1 - d * mean(2) ** 2 / variance == pytest.approx(float(value), abs=5e-3)


@pytest.mark.parametrize("q", [0.5, 1.7])
def test_closed_forms_of_the_duals(q: float) -> None:
    """erf, exp(−z²), sin and GELU of section 2.2 by a product rule of Gauss and Hermite."""
    p, u = 0.7, 0.4
    c = math.sqrt(q * p) * u
    x, w = special.roots_hermitenorm(160)
    w = w / w.sum()
    z = math.sqrt(q) * x[:, None]
    zz = math.sqrt(p) * (u * x[:, None] + math.sqrt(1 - u * u) * x[None, :])
    R = math.sqrt((1 + 2 * q) * (1 + 2 * p) - 4 * c * c)
    N2, A = (1 + q) * (1 + p), math.asin(c / math.sqrt((1 + q) * (1 + p)))
    S = math.sqrt(N2 - c * c)
    cases = {
        "erf": (special.erf, 2 / math.pi * math.asin(2 * c / math.sqrt((1 + 2 * q) * (1 + 2 * p)))),
        "bump": (lambda y: np.exp(-(y**2)), 1 / R),
        "sin": (np.sin, math.exp(-(q + p) / 2) * math.sinh(c)),
        "gelu": (
            lambda y: y * special.ndtr(y),
            c / 4 + c * A / (2 * math.pi) + q * p * (S * S + u * u) / (2 * math.pi * S * N2),
        ),
    }
    for name, (phi, closed) in cases.items():
        assert float(w @ (phi(z) * phi(zz)) @ w) == pytest.approx(closed, abs=1e-9), name
