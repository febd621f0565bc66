"""Every law: shape, prefix property, and moments within their standard errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from simlab.core import lookup
from simlab.data import uniform_sphere

KINDS = lookup.all_examples("data")


@pytest.mark.parametrize(("kind", "fields"), KINDS)
def test_samples_are_drawn_one_after_another(kind: str, fields: dict[str, Any]) -> None:
    law = lookup.get("data", kind)
    params = law.Params(**fields)
    many, few = (law.sample(params, count, np.random.default_rng(1)) for count in (30, 10))
    assert many.shape == (30, law.dimension(params))
    assert many.flags.c_contiguous
    assert np.array_equal(many[:10], few)
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
