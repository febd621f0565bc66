"""Targets of the radius: values by hand, breaks that are where the profile breaks, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simlab import targets
from simlab.core import catalogue
from simlab.core.errors import BadInput
from simlab.core.parsing import choose
from simlab.targets.axis_relu import AxisReLU
from simlab.targets.ball import Ball
from simlab.targets.radial import Radial as RadialKind
from simlab.targets.radial_relu import RadialReLU
from simlab.targets.shells import Shells

RADIAL = [
    (kind, table) for kind, table in catalogue.all_examples("targets") if catalogue.get("targets", kind).is_radial
]


def at(target: Any, radii: list[float], dim: int = 4) -> np.ndarray:
    """Values at these radii, in a random direction each."""
    X = np.random.default_rng(0).standard_normal((len(radii), dim))
    return target(X * (np.array(radii) / np.linalg.norm(X, axis=1))[:, np.newaxis])


def test_values() -> None:
    rng = np.random.default_rng(1)
    radii = [0.0, 0.5, 1.25, 1.75, 2.5, 1e9]
    np.testing.assert_allclose(at(RadialReLU().draw(4, rng), radii), [1, 0.5, 0, 0, 0, 0])
    np.testing.assert_allclose(at(Ball(radius=1.5).draw(4, rng), radii), [1, 1, 1, 0, 0, 0])
    signed = Shells(inner=1.0, outer=2.0, count=2, signs=(-1, 1))
    np.testing.assert_allclose(at(signed.draw(4, rng), radii), [0, 0, -1, 1, 0, 0])
    alternating = Shells(outer=2.0, count=4)
    np.testing.assert_allclose(at(alternating.draw(4, rng), radii), [1, -1, 1, -1, 0, 0])
    profile = RadialKind(knots=(0.25, 1.0, 2.0), values=(3.0, 0.0, 2.0))
    np.testing.assert_allclose(at(profile.draw(4, rng), radii), [3, 2, 0.5, 1.5, 2, 2])
    X = np.array([[9.0, 0.25], [9.0, -1.5], [0.0, 0.0]])
    np.testing.assert_allclose(AxisReLU(coordinate=2, scale=2.0).draw(2, rng)(X), [0.5, 0, 1])


def test_random_signs_are_fair() -> None:
    g = Shells(outer=1.0, count=4000, signs="random").draw(3, np.random.default_rng(2))
    values = g.profile((np.arange(4000) + 0.5) / 4000)
    assert set(values) == {-1.0, 1.0}
    assert abs(values.mean()) < 4 / np.sqrt(4000)


@pytest.mark.parametrize(("kind", "table"), RADIAL)
def test_a_profile_is_smooth_between_its_breaks(kind: str, table: dict[str, Any]) -> None:
    """Piecewise linear ones: second differences vanish strictly inside; constant beyond the last."""
    g = targets.get(kind, **table).draw(3, np.random.default_rng(3))
    assert isinstance(g, targets.Radial)
    edges = np.array([0.0, *g.breaks, 3 * g.breaks[-1]])
    inside = edges[:-1, np.newaxis] + np.diff(edges)[:, np.newaxis] * np.linspace(0.01, 0.99, 9)
    assert np.abs(np.diff(g.profile(inside), n=2, axis=1)).max() < 1e-14
    assert (g.profile(inside[-1]) == g.outside).all()


@pytest.mark.parametrize(
    ("kind", "table", "says"),
    [
        ("ball", {"radius": 0.0}, "target.radius = 0.0: must be greater than 0"),
        ("shells", {"outer": 1.0, "count": 0}, "target.count = 0: must be greater than or equal to 1"),
        ("shells", {"inner": 2.0, "outer": 1.0, "count": 3}, "target.inner = 2.0: must be less than outer = 1.0"),
        ("shells", {"outer": 1.0, "count": 2, "signs": [1]}, "target.signs has 1 entries: must have count = 2"),
        ("shells", {"outer": 1.0, "count": 2, "signs": [1, 0]}, "target.signs = [1, 0]: must hold 1 and -1 only"),
        ("shells", {"outer": 1.0, "count": 2, "signs": "both"}, "target.signs = 'both': must be \"alternating\""),
        ("shells", {"inner": 1.0, "outer": 1.0 + 1e-15, "count": 99}, "target.count = 99: too many for shells"),
        ("radial", {"knots": [1.0, 1.0], "values": [0.0, 1.0]}, "target.knots = [1.0, 1.0]: must be radii, increasing"),
        ("radial", {"knots": [-1.0, 1.0], "values": [0.0, 1.0]}, "target.knots = [-1.0, 1.0]: must be radii"),
        ("radial", {"knots": [1.0], "values": [0.0, 1.0]}, "target.values has 2 entries: must have one per knot, 1"),
        ("radial", {"knots": [], "values": []}, "target.knots = []: must name at least 1"),
        ("axis_relu", {"scale": -1.0}, "target.scale = -1.0: must be greater than 0"),
    ],
)
def test_what_is_refused(kind: str, table: dict[str, Any], says: str) -> None:
    with pytest.raises(BadInput) as refused:
        choose("targets", {"kind": kind, **table}, "target")
    assert str(refused.value).startswith(says)
    assert "\n" not in str(refused.value)


def test_a_coordinate_that_is_not_there() -> None:
    with pytest.raises(BadInput, match="coordinate = 3: must be at most 2"):
        AxisReLU(coordinate=3).draw(2, np.random.default_rng(0))
