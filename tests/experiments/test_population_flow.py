"""Exact population flow: the way that plain steps go, recovery far below 1e-16, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simlab.core.errors import BadInput
from simlab.data.uniform_sphere import UniformSphere
from simlab.experiments.population_flow import PopulationFlow
from simlab.lab.spec import Spec, resolve
from simlab.networks.two_layer import TwoLayer
from simlab.theory.population import risk, risk_gradient
from tests.support.points import compute, follow

SMALL: dict[str, Any] = PopulationFlow.examples[0]


def spec(**tables: Any) -> Spec:
    merged = {name: {**SMALL[name], **table} for name, table in tables.items() if name != "observables"}
    merged |= {"observables": tables.get("observables", SMALL["observables"])}
    both = SMALL | merged
    return resolve(both | {"experiment": {"seed": 3, **both["experiment"]}})


@pytest.mark.parametrize("trained", ["both", "first", "second"])
def test_it_goes_the_way_of_plain_steps(trained: str) -> None:
    """θ ← θ − η m/α² ∇R with the gradient for arrays, s = 1/m, α = 2; the frozen layer stays."""
    flow = {"steps": 20, "step": 0.3, "alpha": 2.0}
    columns, work, state = follow(spec(flow=flow, network={"trained": trained}))
    law = UniformSphere(dim=5)
    a, _, W = TwoLayer(width=6).neurons(work.theta0.copy())
    c, V = work.target.coefficients, work.target.neurons
    assert columns["risk"][0] == pytest.approx(risk(2.0 * a / 6, W, c, V, law), rel=1e-9)
    for _ in range(20):
        grad_b, grad_W = risk_gradient(2.0 * a / 6, W, c, V, law)
        if trained != "first":
            a = a - 0.3 * 6 / 4 * (2.0 / 6) * grad_b
        if trained != "second":
            W = W - 0.3 * 6 / 4 * grad_W
    assert np.allclose(state.net.theta, np.concatenate([a, W.ravel()]), rtol=1e-11, atol=1e-13)
    assert columns["risk"][-1] == pytest.approx(risk(2.0 * a / 6, W, c, V, law), rel=1e-9)


def test_a_teacher_is_recovered_far_below_the_rounding_of_the_sum() -> None:
    """A risk of 1e-20 or less, where a sum of doubles ends at 1e-17; and there the neurons are the teacher's."""
    columns = compute(
        spec(
            experiment={"records": 3, "seed": 5},
            data={"dim": 4, "radius": 2.0},
            target={"neurons": 2},
            network={"width": 2, "scaling": "none"},
            flow={"steps": 1600, "step": 0.2, "step_unit": "absolute"},
        )
    )
    assert columns["risk"][0] > 0.1
    assert 0.0 < columns["risk"][-1] < 1e-20
    assert np.all(columns["alignment_max"][-1] > 1.0 - 1e-9)


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"data": {"kind": "boolean_cube", "dim": 5}}, r"data\.kind = 'boolean_cube'.*gaussian, uniform_sphere"),
    ({"target": {"kind": "gegenbauer"}}, r"target\.kind = 'gegenbauer'.*neuron, relu_teacher"),
    ({"target": {"kind": "neuron", "activation": "tanh"}}, r"target\.activation = 'tanh': .*allowed: relu"),
    ({"network": {"kind": "mlp", "width": 4, "depth": 2}}, r"network\.kind = 'mlp'.*two_layer"),
    ({"network": {"kind": "two_layer", "width": 4, "activation": "erf"}}, r"network\.activation = 'erf'"),
    ({"network": {"kind": "two_layer", "width": 4, "bias": True}}, r"network\.bias = true"),
    ({"flow": {"kind": "sgd", "steps": 5, "step": 0.1, "batch": 2}}, r"flow\.kind = 'sgd': there are no samples"),
    ({"observables": ["train_loss"]}, r"observables: train_loss is about training samples.*risk"),
    ({"flow": {"kind": "gradient_descent", "steps": 5, "step": 0.1, "step_unit": "edge"}}, r"flow\.step_unit = 'edge'"),
]


@pytest.mark.parametrize(("tables", "says"), REFUSED)
def test_what_has_no_closed_form_is_refused(tables: dict[str, Any], says: str) -> None:
    both = SMALL | tables
    with pytest.raises(BadInput, match=says):
        compute(resolve(both | {"experiment": {**both["experiment"], "seed": 3}}))
