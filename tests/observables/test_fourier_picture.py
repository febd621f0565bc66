"""The picture of the proof: energies by Parseval, a transform known in closed form, tubes that hold a two-layer net."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from simlab import data, networks, observables, targets
from simlab.core.errors import BadInput
from simlab.observables import fourier_picture
from simlab.observables.view import Setting, View

Floats = NDArray[np.float64]
PICTURE = observables.FourierPicture(extent=4.0, pixels=41, grid=768)
TWO = networks.TwoLayer(width=4, activation="tanh", bias=True, scaling="none", init_std=1.5)
THREE = networks.ThreeLayerMeanField(width=4, outer_width=5, init_std=8.0)


def measured(network: Any, target: Any, mass: Any = 0.5, times: float = 1.0) -> dict[str, Any]:
    """Of a net whose weights are `times` those that it would start from."""
    law = data.BallFourier(dim=2, mass=mass)
    theta = times * network.initialise(2, np.random.default_rng(3))
    none = np.empty((0, 2))
    y = np.empty(0)
    return PICTURE.measure(View(theta, theta, none, y, none, y, network, 1.0, data=law, target=target))


def drawn(kind: str, **fields: Any) -> Any:
    return targets.get(kind, **fields).draw(2, np.random.default_rng(0))


def test_a_constant_has_the_ball_itself() -> None:
    """g = 1 everywhere: (gφ)^ is the indicator of the ball of radius R_d, but for the blur at its rim."""
    found = measured(TWO, drawn("radial", knots=(5.0,), values=(1.0,)))
    axis = PICTURE.outputs()["fourier_target"].coords["frequency_x"]
    rho = np.hypot(axis[:, np.newaxis], axis)
    picture = found["fourier_target"]
    np.testing.assert_allclose(picture[rho < 0.75], 1.0, atol=5e-3)
    np.testing.assert_allclose(picture[rho > 1.25], 0.0, atol=5e-3)
    assert found["target_outside"] < 1e-6


@pytest.mark.parametrize("mass", [0.95, 0.98])
def test_radial_transforms_agree_with_the_plane(mass: float) -> None:
    """Of a target that does not jump, many points of the grid wide, the transform in the radius is the plane's."""
    g = drawn("radial_relu")
    here = fourier_picture._box(PICTURE)
    scale = data.BallFourier(dim=2, mass=mass).radius_law().scale
    window = fourier_picture._window(here)
    by_radius, total = fourier_picture._of_target(here, scale, g, window)
    by_grid, _ = fourier_picture._of_target(here, scale, lambda X: g(X), window)
    assert 0 <= 1 - by_radius.sum() / total < 1e-5
    assert np.abs(by_radius - by_grid).sum() < 1e-3 * total


def test_energy_of_the_target_is_its_second_moment() -> None:
    """E g² by the law's own CDF; the taper takes less than 1 % of a target in the unit ball."""
    for target, mass in ((drawn("ball"), 0.5), (drawn("shells", outer=1.0, count=3), 0.7)):
        found = measured(TWO, target, mass)
        total = found["outside_energy"] / found["target_outside"]
        assert total == pytest.approx(mass, rel=1e-2)


def test_a_two_layer_net_lies_in_its_tubes_and_a_three_layer_net_does_not() -> None:
    target = drawn("shells", outer=4.0, count=6)  # a ring at 2.8 R_d
    two, three = measured(TWO, target), measured(THREE, target)
    assert two["net_outside"] < 1e-6 < 1e-3 < three["net_outside"]
    assert two["target_outside"] > 0.05
    assert two["outside_energy"] < two["squared_error"]
    assert two["tube_angle"].shape == (4,)


def test_a_net_that_is_zero_has_nothing_outside_its_tubes() -> None:
    """Exactly 0 on every CPU here, as doubled nets start on some."""
    assert measured(TWO, drawn("ball"), times=0.0)["net_outside"] == 0.0


def test_tubes_are_seen_where_they_are() -> None:
    """One neuron: along w the transform is much larger than across, and the picture is symmetric about 0."""
    one = networks.TwoLayer(width=1, activation="tanh", bias=True, scaling="none")
    theta = np.array([1.0, 0.3, 2.0 * math.cos(0.6), 2.0 * math.sin(0.6)])
    none, y = np.empty((0, 2)), np.empty(0)
    law = data.BallFourier(dim=2, mass="natural")
    view = View(theta, theta, none, y, none, y, one, 1.0, data=law, target=drawn("ball"))
    found = PICTURE.measure(view)
    picture = found["fourier_net"]
    assert found["tube_angle"] == pytest.approx([0.6])
    middle, pixel = 20, 8.0 / 40
    at = [(round(middle + 2.0 * math.sin(a) / pixel), round(middle + 2.0 * math.cos(a) / pixel)) for a in (0.6, 2.17)]
    assert picture[at[0]] > 100 * picture[at[1]]
    np.testing.assert_allclose(picture, picture[::-1, ::-1], rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(
    ("fields", "changed", "says"),
    [
        ({}, {"data": data.BallFourier(dim=3)}, "data.dim = 3: fourier_picture is drawn in the plane"),
        ({}, {"data": data.Gaussian(dim=2)}, "data.kind = 'gaussian': fourier_picture needs ball_fourier"),
        ({}, {"network": networks.MLP(width=3, depth=3)}, "network.kind = 'mlp': fourier_picture needs neurons"),
        ({"grid": 256}, {}, "fourier_picture.grid = 256: reaches the frequency"),
    ],
)
def test_what_is_refused(fields: dict[str, Any], changed: dict[str, Any], says: str) -> None:
    usual: dict[str, Any] = {"network": TWO, "target": targets.Ball(), "data": data.BallFourier(dim=2)}
    with pytest.raises(ValueError, match=says):
        observables.FourierPicture(**fields).check(Setting(**(usual | changed), samples=5, test_samples=5))
    with pytest.raises(BadInput, match="must be odd"):
        observables.FourierPicture(pixels=20)
