"""The mean of a ReLU over the sphere, against the published constants and an integral over the angle."""

from __future__ import annotations

import math

import pytest
from scipy.integrate import quad

from simlab.core.errors import BadInput
from simlab.sphere.mean_relu import c_gamma, mean_relu


@pytest.mark.parametrize(("dim", "published"), [(3, 0.43301), (10, 0.40902), (100, 0.39994)])
def test_published_constants(dim: int, published: float) -> None:
    assert c_gamma(dim) == pytest.approx(published, abs=5e-6)


@pytest.mark.parametrize("dim", [2, 3, 7, 50])
def test_against_the_integral_over_the_angle(dim: int) -> None:
    """v̄·x̄ = cos θ has density ∝ sin^{d−2} θ."""
    mass, _ = quad(lambda t: math.sin(t) ** (dim - 2), 0, math.pi)
    mean, _ = quad(lambda t: math.cos(t) * math.sin(t) ** (dim - 2), 0, math.pi / 2)
    assert mean_relu(dim) == pytest.approx(mean / mass, rel=1e-10)


def test_in_one_dimension_and_in_very_many() -> None:
    assert mean_relu(1) == pytest.approx(0.5, rel=1e-14)
    assert c_gamma(10**9) == pytest.approx(1 / math.sqrt(2 * math.pi), rel=1e-9)
    with pytest.raises(BadInput, match="dim = 0"):
        mean_relu(0)
