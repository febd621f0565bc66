"""Every observable declares what it measures; the measurements against direct formulas."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simlab.core import lookup
from simlab.networks import two_layer
from simlab.observables import tangent_spectrum, weight_movement
from simlab.observables._view import View

rng = np.random.default_rng(0)
network = two_layer.Params(width=30)
theta0 = two_layer.initialise(network, 4, rng)
view = View(
    theta=theta0 + 0.1, theta0=theta0, X=rng.standard_normal((9, 4)), y=rng.standard_normal(9),
    X_test=np.empty((0, 4)), y_test=np.empty(0), network=network, alpha=2.0,
)  # fmt: skip


@pytest.mark.parametrize(("kind", "fields"), lookup.all_examples("observables"))
def test_measures_what_it_declares(kind: str, fields: dict[str, Any]) -> None:
    module = lookup.get("observables", kind)
    params = module.Params(**fields)
    declared, measured = module.outputs(params), module.measure(params, view)
    assert set(declared) == set(measured)
    for name, output in declared.items():
        assert output.description
        assert np.ndim(measured[name]) == len(output.inner)


def test_without_test_data_the_test_loss_is_nan() -> None:
    assert np.isnan(view.half_mean_square(view.X_test, view.y_test))


def test_weight_movement() -> None:
    moved = weight_movement.measure(weight_movement.Params(), view)
    assert moved["weight_movement"] == pytest.approx(0.1 * np.sqrt(theta0.size), rel=1e-12)


def test_tangent_spectrum_predicts_the_first_steps_of_a_wide_net() -> None:
    """Σ λ_i = trace(K)/n, Σ power = |αf − y|²/n, and ½ Σ power (1 − ηλ)² is the loss after one small step."""
    found = tangent_spectrum.measure(tangent_spectrum.Params(), view)
    lam, power = found["tangent_eigenvalue"], found["tangent_power"]
    K = two_layer.tangent_gram(network, view.theta, view.X)
    assert lam.sum() == pytest.approx(np.trace(K) / 9, rel=1e-12)
    assert np.all(np.diff(lam) >= 0)
    assert power.sum() / 2 == pytest.approx(view.half_mean_square(view.X, view.y), rel=1e-12)
