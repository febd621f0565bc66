"""Every law: shape, prefix property, and moments within their standard errors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from simlab.core import lookup
from simlab.core.errors import BadInput
from simlab.core.params import parse
from simlab.data import boolean_cube, gaussian, uniform_sphere
from tests.data.stored import write_images

KINDS = lookup.all_examples("data")


@pytest.fixture(autouse=True)
def _stored_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files that examples name, in a data directory."""
    rng = np.random.default_rng(0)
    np.save(tmp_path / "inputs.npy", rng.standard_normal((40, 3)))
    np.savez(tmp_path / "inputs.npz", x=rng.standard_normal((35, 4)), y=np.ones(35))
    write_images(tmp_path / "mnist")
    write_images(tmp_path / "digits")
    monkeypatch.setenv("SIMLAB_DATA", str(tmp_path))


@pytest.mark.parametrize(("kind", "fields"), KINDS)
def test_samples_are_drawn_one_after_another(kind: str, fields: dict[str, Any]) -> None:
    law = lookup.get("data", kind)
    params = parse(law.Params, fields)
    many, few = (law.sample(params, count, np.random.default_rng(1)) for count in (30, 10))
    assert many.shape == (30, law.dimension(params))
    assert many.flags.c_contiguous
    together = getattr(law, "together", lambda params: False)(params)
    assert np.array_equal(many[:10], few) != together
    assert many.dtype == np.float64
    assert not np.array_equal(many, law.sample(params, 30, np.random.default_rng(2)))
    assert law.sample(params, 0, np.random.default_rng(1)).shape == (0, law.dimension(params))


@pytest.mark.parametrize("fields", lookup.examples("data", "uniform_sphere"))
def test_sphere_has_its_radius(fields: dict[str, Any]) -> None:
    params = uniform_sphere.Params(**fields)
    X = uniform_sphere.sample(params, 100, np.random.default_rng(2))
    assert np.allclose(np.linalg.norm(X, axis=1), params.radius, rtol=1e-14)


def test_sphere_is_uniform() -> None:
    """A coordinate of a uniform point on S^{d-1} has (1+x)/2 ~ Beta((d-1)/2, (d-1)/2), along any direction."""
    X = uniform_sphere.sample(uniform_sphere.Params(dim=6), 20_000, np.random.default_rng(3))
    direction = np.ones(6) / np.sqrt(6)
    for values in (X[:, 0], X[:, 5], X @ direction):
        assert stats.kstest((1 + values) / 2, stats.beta(2.5, 2.5).cdf).pvalue > 1e-4


def test_gaussian_is_normal() -> None:
    X = gaussian.sample(gaussian.Params(dim=3, scale=2.0), 10_000, np.random.default_rng(3))
    for values in (X[:, 1], X @ np.array([0.6, 0.0, 0.8])):
        assert stats.kstest(values, stats.norm(scale=2.0).cdf).pvalue > 1e-4


def test_cube_is_uniform() -> None:
    """All 2⁴ corners equally often: χ² with 15 degrees of freedom."""
    X = boolean_cube.sample(boolean_cube.Params(dim=4, scale=0.5), 8000, np.random.default_rng(4))
    assert set(np.unique(X)) == {-0.5, 0.5}
    corners = np.bincount((X > 0) @ np.array([1, 2, 4, 8]), minlength=16)
    assert stats.chisquare(corners).pvalue > 1e-4


def test_cube_beside_another_law() -> None:
    """Each part has its own law, and no covariance is more than 5 standard errors from 0."""
    table = {"dim": 2, "scale": "unit", "rest": {"kind": "gaussian", "dim": 2, "scale": 3.0}}
    params, n = parse(boolean_cube.Params, table), 8000
    X = boolean_cube.sample(params, n, np.random.default_rng(5))
    assert set(np.unique(X[:, :2])) == {-0.5, 0.5}  # 1/√4: all coordinates count
    assert stats.chisquare(np.bincount((X[:, :2] > 0) @ np.array([1, 2]))).pvalue > 1e-4
    assert stats.kstest(X[:, 3], stats.norm(scale=3.0).cdf).pvalue > 1e-4
    unit = X / np.array([0.5, 0.5, 3.0, 3.0])
    assert np.abs(np.triu(unit.T @ unit / n, 1)).max() < 5 / np.sqrt(n)


def test_a_cube_beside_a_cube_shares_the_unit() -> None:
    table = {"dim": 3, "scale": "unit", "rest": {"kind": "boolean_cube", "dim": 6, "scale": "unit"}}
    X = boolean_cube.sample(parse(boolean_cube.Params, table), 9, np.random.default_rng(5))
    assert np.allclose(np.abs(X), 1 / 3, rtol=1e-15)


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"scale": "small"}, r"scale = 'small': must be a number greater than 0, or \"unit\" for 1/√d"),
        ({"scale": -1.0}, r"scale = -1.0: must be a number greater than 0"),
        ({"scale": True}, r"scale = True: must be a number greater than 0"),
        ({"rest": {"kind": "arrays", "path": "x.npy"}}, r"rest.kind = 'arrays': arrays has a fixed number of rows"),
        ({"rest": {"kind": "ball_fourier", "dim": 3}}, r"rest.kind = 'ball_fourier': ball_fourier has no mean"),
    ],
)
def test_cube_refuses_in_one_line(fields: dict[str, Any], says: str) -> None:
    with pytest.raises(BadInput, match=says):
        parse(boolean_cube.Params, {"dim": 4} | fields)
