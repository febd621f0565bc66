"""Every target: one draw is one function, the same at the same point."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simlab.core import lookup
from simlab.core.params import parse
from simlab.targets import components, relu_teacher


@pytest.mark.parametrize(("kind", "fields"), lookup.all_examples("targets"))
def test_a_draw_is_a_function(kind: str, fields: dict[str, Any]) -> None:
    module = lookup.get("targets", kind)
    rngs = [np.random.default_rng(seed) for seed in (1, 2)]
    params = parse(module.Params, fields)
    f, g = (module.draw(params, 5, rng) for rng in rngs)
    fixed = rngs[0].random() == np.random.default_rng(1).random()  # a target that takes no random number
    X = np.random.default_rng(0).standard_normal((8, 5))
    k = components(params)
    assert f(X).shape == ((8,) if k is None else (8, k))
    assert np.allclose(f(X)[::-1], f(X[::-1]), rtol=1e-13)
    assert np.array_equal(f(X), g(X)) == fixed


def test_relu_teacher_has_unit_neurons() -> None:
    """E f(x)² of one unit neuron over Gaussian x is 1/2: Monte Carlo within 5 standard errors (variance 5/4)."""
    f = relu_teacher.draw(relu_teacher.Params(neurons=1), 7, np.random.default_rng(4))
    values = f(np.random.default_rng(5).standard_normal((40_000, 7))) ** 2
    assert abs(values.mean() - 0.5) < 5 * np.sqrt(1.25 / 40_000)


@pytest.mark.parametrize(("kind", "fields"), [("relu_teacher", {"neurons": 4}), ("neuron", {"norm": 3.0})])
def test_known_neurons_make_the_target(kind: str, fields: dict[str, Any]) -> None:
    module = lookup.get("targets", kind)
    f = module.draw(parse(module.Params, fields), 5, np.random.default_rng(1))
    X = np.random.default_rng(0).standard_normal((8, 5))
    assert np.allclose(f(X), np.maximum(X @ f.neurons.T, 0.0) @ f.coefficients, rtol=1e-14)
    assert np.allclose(np.linalg.norm(f.neurons, axis=1), fields.get("norm", 1.0))
