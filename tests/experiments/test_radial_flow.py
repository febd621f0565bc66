"""radial_flow: the α-flow at the recorded times, the certificate, the end of a net without a risk, what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simlab.core.errors import BadInput
from simlab.data import ball_fourier
from simlab.experiments.following import ENDINGS, NO_RISK
from simlab.experiments.radial_flow import RadialFlow
from simlab.lab.spec import Spec, resolve
from simlab.targets.radial_relu import RadialReLU
from simlab.theory import alpha_flow
from simlab.theory.certificate import certificate
from tests.support.points import compute

SMALL: dict[str, Any] = RadialFlow.examples[0]
LAW = ball_fourier.BallFourier(dim=3).radius_law()
TARGET = RadialReLU().draw(3, np.random.default_rng(0))


def spec(**tables: Any) -> Spec:
    both = SMALL | {k: {**SMALL[k], **v} if "kind" not in v else v for k, v in tables.items()}
    return resolve(both | {"experiment": {"seed": 3, **both["experiment"]}})


@pytest.mark.parametrize(
    "flow", [{}, {"kind": "ode", "end_time": 12.0, "unit": "particle"}, {"kind": "ode", "end_time": 144.0}]
)
def test_the_alpha_flow_stands_at_the_recorded_times(flow: dict[str, Any]) -> None:
    """The same as one solution over all times, which in every unit are 0, 2, …, 12 in the time of particles."""
    what = spec(flow=flow)
    columns = compute(what)
    network = what.at(0).network
    theta0 = network.initialise(3, what.sweep.streams(what.seed, 0)["init"])
    _, w, b = network.particles(theta0)
    for name, alpha in (("limit", 0.25), ("matched", network.alpha(theta0))):  # C_Γ/√3 = 1/4
        course = alpha_flow.solve(LAW, TARGET, alpha, w, b, np.arange(0.0, 13.0, 2.0))
        assert columns[f"alpha_{name}"] == pytest.approx(course.alpha, rel=1e-6)
        assert columns[f"loss_{name}"] == pytest.approx(course.loss, rel=1e-5)


def test_wide_nets_follow_the_alpha_flow() -> None:
    """400 neurons of equal norm, 4000 samples: the losses are those of the α-flow, but for the deviation of F."""
    columns = compute(
        spec(
            experiment={"samples": 4000, "test_samples": 4000},
            data={"radii": "stratified"},
            network={"width": 400, "norms": "equal", "init_std": 2.0},
        )
    )
    assert columns["alpha_limit"] == pytest.approx(columns["alpha_matched"], rel=1e-12)
    for name in ("train_loss", "test_loss"):
        assert columns[name] == pytest.approx(columns["loss_limit"], rel=0.05, abs=2e-4)


def test_fresh_batches_of_strata_follow_it_too() -> None:
    flow = {"kind": "sgd", "steps": 60, "step": 0.2, "step_unit": "particle", "batch": 500, "fresh": True}
    network = {"width": 400, "norms": "equal", "init_std": 2.0}
    columns = compute(spec(experiment={"test_samples": 4000}, data={"radii": "stratified"}, network=network, flow=flow))
    assert columns["test_loss"] == pytest.approx(columns["loss_limit"], rel=0.05, abs=3e-4)


def test_the_certificate_of_a_two_layer_net() -> None:
    columns = compute(spec(network=RadialFlow.examples[1]["network"]))
    assert columns["certificate"].tolist() == [certificate(TARGET, LAW, 9).bound]
    assert 0.0 < columns["certificate"][0] < 2.0 * columns["test_loss"].min()
    assert "alpha_limit" not in columns
    one_dimensional = compute(spec(network=RadialFlow.examples[1]["network"], target={"kind": "axis_relu"}))
    assert np.isnan(one_dimensional["certificate"]).all()


@pytest.mark.parametrize("experiment", ["radial_flow", "gradient_flow"])
def test_training_that_makes_an_outer_weight_positive_ends_there(experiment: str) -> None:
    """The target 1 far out pulls neurons up to it; the first record with w > 0 is the last."""
    far = {"kind": "radial", "knots": [0.5, 1.0], "values": [0.0, 1.0]}
    tables = SMALL | {"target": far, "observables": ["train_loss"]}
    columns = compute(resolve(tables | {"experiment": {**SMALL["experiment"], "kind": experiment, "seed": 3}}))
    assert columns["ending"].tolist() == [NO_RISK]
    assert "infinite risk" in ENDINGS[NO_RISK]
    assert columns["diverged"].tolist() == [1]
    assert 1 < len(columns["step"]) < 7


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"network": {"w2": 1.0}}, r"^network\.w2 = 1\.0: must be less than 0, .*infinite risk.*E‖x‖ = ∞"),
    ({"network": {"w2": 0.0}}, r"^network\.w2 = 0\.0: must be less than 0"),
    ({"network": {"width": 0}}, r"^network\.width = 0: must be greater than or equal to 1$"),
    ({"network": {"kind": "two_layer", "width": 4}}, r"^network\.activation = 'relu': .*infinite risk.*tanh"),
    ({"network": {"kind": "neural_tangent", "width": 4}}, r"^network\.kind = 'neural_tangent': not bounded"),
    ({"data": {"kind": "gaussian", "dim": 3}}, r"^data\.kind = 'gaussian': no law .*\(allowed: .*ball_fourier"),
    ({"data": {"dim": 1}}, r"^data\.dim = 1: "),
    ({"data": {"mass": 1.0}}, r"^data\.mass = 1\.0: .*between 0 and 1"),
    ({"flow": {"alpha": 2.0}}, r"^flow\.alpha = 2\.0: must be 1"),
    ({"flow": {"kind": "momentum", "steps": 5, "step": 0.1}}, r"^flow\.kind = 'momentum': the α-flow"),
]


@pytest.mark.parametrize(("tables", "says"), REFUSED)
def test_what_has_no_risk_or_no_theory_is_refused(tables: dict[str, Any], says: str) -> None:
    with pytest.raises(BadInput, match=says):
        spec(**tables)


def test_plain_gradient_flow_refuses_positive_outer_weights_under_the_heavy_tail() -> None:
    tables = SMALL | {"experiment": {**SMALL["experiment"], "kind": "gradient_flow", "seed": 3}}
    with pytest.raises(BadInput, match=r"^network\.w2 = 0\.5: .*infinite risk"):
        resolve(tables | {"network": {**SMALL["network"], "w2": 0.5}})
    light = {"kind": "uniform_sphere", "dim": 3}
    resolve(tables | {"network": {**SMALL["network"], "w2": 0.5}, "data": light})  # the sphere has no tail
