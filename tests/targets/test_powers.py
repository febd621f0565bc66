"""Powers by degree in closed form, and what each kind of target promises."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from simlab import targets
from simlab.core import catalogue
from simlab.core.errors import BadInput
from simlab.core.parsing import parse
from simlab.sphere.power import zonal_power
from simlab.targets.cap import Cap
from simlab.targets.gegenbauer import Gegenbauer
from simlab.targets.neuron import Neuron
from simlab.targets.quadratic_form import QuadraticForm
from simlab.targets.smooth_zonal import SmoothZonal
from simlab.targets.teacher import Teacher


def points(n: int, dim: int, seed: int) -> np.ndarray:
    X = np.random.default_rng(seed).standard_normal((n, dim))
    return X / np.linalg.norm(X, axis=1, keepdims=True)


@pytest.mark.parametrize("kind", ["gegenbauer", "cap", "smooth_zonal"])
def test_targets_on_the_sphere_see_the_direction_only(kind: str) -> None:
    f = targets.get(kind, **catalogue.get("targets", kind).examples[1]).draw(6, np.random.default_rng(1))
    X = points(50, 6, 3)
    np.testing.assert_allclose(f(X), f(7.5 * X), rtol=1e-9)
    assert np.isfinite(f(np.zeros((2, 6)))).all()


@pytest.mark.parametrize("dim", [2, 3, 40])
@pytest.mark.parametrize(
    "fields", [{"share": 1e-3}, {"share": 0.2}, {"share": 0.5}, {"share": 0.93}, {"angle": 1.0}, {"angle": 2.5}]
)
def test_caps_in_closed_form(dim: int, fields: dict[str, float]) -> None:
    target = Cap(**fields)
    c = target.threshold(dim)
    by_quadrature = zonal_power(lambda u: (u > c).astype(float), dim, 30, kinks=[c])
    np.testing.assert_allclose(target.power(dim, 30), by_quadrature, rtol=1e-8, atol=1e-14)
    assert target.power(dim, 0)[0] == pytest.approx(target.surface_share(dim) ** 2, rel=1e-12)
    assert Cap(angle=math.acos(c)).surface_share(dim) == pytest.approx(target.surface_share(dim), rel=1e-9)


@pytest.mark.parametrize(("dim", "s"), [(2, 1.0), (5, 3.0), (100, 20.0), (500, 100.0)])
def test_exponentials_in_closed_form(dim: int, s: float) -> None:
    """Against quadrature of the same function; all of E f² = 1 lies in degrees that are summed."""
    target = SmoothZonal(s=s)
    p = target.power(dim, 80)
    shift = 0.5 * math.log(np.mean(target.draw(dim, np.random.default_rng(0))(np.zeros((1, dim))) ** -2))
    np.testing.assert_allclose(p, zonal_power(lambda u: np.exp(s * u - shift), dim, 80), rtol=1e-6, atol=1e-13)
    assert p.sum() == pytest.approx(1.0, rel=1e-10)


def test_a_power_decay_is_one() -> None:
    p = SmoothZonal(family="power_decay", b=2.5, max_degree=40).power(3, 60)
    np.testing.assert_allclose(p[10] / p[20], 2**2.5)
    assert p.sum() == pytest.approx(1.0)
    assert p[0] == 0.0
    assert not p[41:].any()


def test_a_quadratic_form_has_its_rank_trace_and_norm() -> None:
    """B from values of f: B_ij = (f(e_i+e_j) − f(e_i) − f(e_j))/2."""
    target = QuadraticForm(rank=3, trace=-1.2, frobenius=2.0)
    f = target.draw(7, np.random.default_rng(2))
    eye = np.eye(7)
    diagonal = f(eye)
    B = np.array([[(f((a + b)[None])[0] - f(a[None])[0] - f(b[None])[0]) / 2 for a in eye] for b in eye])
    np.testing.assert_allclose(np.diag(B), diagonal, atol=1e-13)
    assert np.trace(B) == pytest.approx(-1.2)
    assert np.linalg.norm(B) == pytest.approx(2.0)
    assert np.linalg.matrix_rank(B, tol=1e-9) == 3


@pytest.mark.parametrize("name", ["relu", "tanh"])
def test_a_neuron_is_its_activation_at_a_product(name: str) -> None:
    f = parse(Neuron, {"activation": name, "norm": 2.0}).draw(6, np.random.default_rng(3))
    g = Neuron(norm=2.0).draw(6, np.random.default_rng(3))
    X = np.random.default_rng(4).standard_normal((9, 6))
    z = g(X) - g(-X)
    np.testing.assert_allclose(f(X), np.tanh(z) if name == "tanh" else np.maximum(z, 0), atol=1e-15)
    assert g(1e6 * np.eye(6)).max() <= 2e6


@pytest.mark.parametrize(
    ("kind", "fields", "dim", "says"),
    [
        ("gegenbauer", {"degrees": [1, 1]}, 5, "each named once"),
        ("gegenbauer", {"degrees": []}, 5, "degrees"),
        ("gegenbauer", {"degrees": [1], "powers": [1.0, 2.0]}, 5, "powers has 2 numbers: must be 1"),
        ("gegenbauer", {"degrees": [-1]}, 5, "must be 0 or more"),
        ("gegenbauer", {"powers": [0.0]}, 5, "must be positive"),
        ("gegenbauer", {}, 1, "dim = 1"),
        ("cap", {}, 5, "give either share or angle"),
        ("cap", {"share": 0.5, "angle": 1.0}, 5, "give either share or angle"),
        ("quadratic_form", {"rank": 6}, 5, "rank = 6: must be at most the dimension 5"),
        ("quadratic_form", {"rank": 1}, 5, "must be ±1 for rank 1"),
        ("quadratic_form", {"rank": 4, "trace": 2.1}, 5, "between −2 and 2 for rank 4"),
        ("teacher", {"network": {"kind": "fourier_features", "width": 3}}, 5, "cannot be a teacher"),
    ],
)
def test_refusals(kind: str, fields: dict[str, Any], dim: int, says: str) -> None:
    with pytest.raises(BadInput, match=says) as refused:
        targets.get(kind, **fields).check(dim)
    assert "\n" not in str(refused.value)


def test_a_teacher_is_its_network_at_the_start() -> None:
    fields = {"network": {"kind": "mlp", "width": 6, "depth": 3}, "scale": 2.0}
    teacher = parse(Teacher, fields)
    X = np.random.default_rng(4).standard_normal((9, 5))
    theta = teacher.network.initialise(5, np.random.default_rng(3))
    f = teacher.draw(5, np.random.default_rng(3))
    np.testing.assert_array_equal(f(X), 2.0 * teacher.network.forward(theta, X))
    with pytest.raises(BadInput, match=r"network\.kind = 'mlp': outputs = 3: a teacher has 1"):
        parse(Teacher, {"network": {"kind": "mlp", "width": 6, "depth": 2, "outputs": 3}})


def test_many_directions_make_a_generic_harmonic() -> None:
    """One direction peaks at its poles, many level them: the mean of f⁴ falls. N = 14 for d = 5, degree 2."""
    X = points(4000, 5, 8)

    def fourth_moment(directions: int) -> float:
        target = Gegenbauer(degrees=(2,), directions=directions)
        return float(np.mean([target.draw(5, np.random.default_rng(s))(X) ** 4 for s in range(20)]))

    assert fourth_moment(30) < 0.8 * fourth_moment(1)
