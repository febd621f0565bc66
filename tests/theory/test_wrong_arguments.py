"""Every public function of the room with each argument wrong in turn: a result, or one line that names it."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

import numpy as np
import pytest

from simlab import activations, theory
from simlab.data.gaussian import Gaussian
from simlab.kernels import ntk
from simlab.sphere.ball_law import BallLaw
from simlab.targets import Radial
from simlab.theory import (
    alpha_flow,
    certificate,
    complexity,
    cube,
    cube_features,
    degree_residual,
    dimension_free,
    hankel,
    leap,
    learning_curve,
    neuron_span,
    population,
    source_condition,
    tubes,
)
from tests.support.argument_walk import Call, mistakes, public

LAW = BallLaw.of_mass(3, 0.4)
TARGET = Radial(lambda r: np.maximum(1.0 - r, 0.0), (1.0,))
SPECTRUM = ntk(2).spectrum(3, 6)
POWER = [0.0, 1.0, 0.5]
CURVE = learning_curve.learning_curve(SPECTRUM, POWER, [10.0, 20.0])
CORNERS = np.array([[1.0, 1.0, -1.0], [1.0, -1.0, 1.0]])
CUBE = cube.CubeKernel.of(ntk(2), 3, 1.0)
TERMS: dict[Any, Any] = {(0,): np.array([1.0]), (0, 1): np.array([0.5])}
RATES = dimension_free.Rates(activations.get("relu"), [1.0, -1.0])
START = dimension_free.begin([1.0, -1.0], 1)
TRANSFORM = hankel.Transform(TARGET, LAW)
BOUND = certificate.Spectrum(TARGET, LAW)
CONCEPT = complexity.separation(10, 2)
W = np.array([[1.0, 0.0, 0.0], [0.0, 0.6, 0.8]])
NEURONS = neuron_span.Neurons.of(activations.get("relu"), 0.0, W, 8, True)
STUDENT = {"a": [1.0, 2.0], "W": W, "c": [1.0], "V": W[:1], "law": Gaussian(dim=3)}
NAMES = {"text", "digits"}

CALLS = [
    Call("alpha_flow.Rates", alpha_flow.Rates, {"law": LAW, "target": TARGET}),
    Call(
        "alpha_flow.solve",
        alpha_flow.solve,
        {"law": LAW, "target": TARGET, "alpha0": 0.3, "w": [-1.0, -0.5], "b": [1.0, 0.4], "times": [0.0, 0.1]}
        | {"trained": "both", "accuracy": alpha_flow.Accuracy(1e-3, 1e-3, 1000)},
    ),
    Call("alpha_flow.Accuracy", alpha_flow.Accuracy, {"rtol": 1e-3, "atol": 1e-3, "most": 1000}),
    Call("certificate.Spectrum", certificate.Spectrum, {"target": TARGET, "law": LAW}),
    Call("certificate.Spectrum.certificate", BOUND.certificate, {"width": 3}),
    Call("certificate.Spectrum.at_log", BOUND.at_log, {"log_width": 1.0}),
    Call("certificate.Spectrum.beyond", BOUND.beyond, {"ratio": 1.5}),
    Call("certificate.Spectrum.least_width", BOUND.least_width, {"eps": 0.01}),
    Call("certificate.certificate", certificate.certificate, {"target": TARGET, "law": LAW, "width": 3}),
    Call("certificate.least_width", certificate.least_width, {"target": TARGET, "law": LAW, "eps": 0.01}),
    Call("complexity.c_s", complexity.c_s, {"series": [0.0, 1.0], "C": 1.0}, takes={"series": {"generator"}}),
    Call(
        "complexity.c_alpha",
        complexity.c_alpha,
        {"series": "sin", "alpha": 0.1, "C": 1.0},
        takes={"series": {"generator"}},
    ),
    Call("complexity.product_powers", complexity.product_powers, {"k": 3, "unit": True}),
    Call("complexity.Concept", complexity.Concept, {"k": 2, "p_F": 1, "C_F": 1.0, "p_G": 4, "C_G": 1.0}),
    Call("complexity.Concept.risk", CONCEPT.risk, {"alpha": 0.01}),
    Call("complexity.Concept.delta", CONCEPT.delta, {"alpha": 0.01}),
    Call("complexity.Concept.samples", CONCEPT.samples, {"delta": 0.01}),
    Call("complexity.separation", complexity.separation, {"dim": 10, "k": 2, "C": 1.0}),
    Call("complexity.resnet_samples", complexity.resnet_samples, {"dim": 10, "k": 2, "alpha": 0.1}),
    Call("complexity.resnet_error", complexity.resnet_error, {"alpha": 0.1, "k": 2, "C": 1.0}),
    Call("complexity.kernel_samples", complexity.kernel_samples, {"dim": 10, "k": 2}),
    Call("complexity.kernel_features", complexity.kernel_features, {"dim": 10, "k": 2}),
    Call("complexity.kernel_risk", complexity.kernel_risk, {"alpha": 0.1}),
    Call("complexity.simple_line", complexity.simple_line, {"k": 2, "alpha": 0.1}),
    Call("complexity.consequence", complexity.consequence, {"dim": 10, "k": 2, "power": 0.1}),
    Call("cube.corners", cube.corners, {"X": CORNERS, "scale": 1.0}),
    Call("cube.subsets_of", cube.subsets_of, {"targets": [TERMS]}),
    Call("cube.characters", cube.characters, {"signs": CORNERS, "subsets": [(0,), (0, 1)]}),
    Call("cube.sums", cube.sums, {"form": np.eye(2), "subsets": [(0,), (0, 1)], "targets": [TERMS]}),
    Call("cube.krawtchouk", cube.krawtchouk, {"dim": 3}),
    Call("cube.CubeKernel", cube.CubeKernel, {"dim": 1, "eigenvalues": [1.0, 0.5]}),
    Call("cube.CubeKernel.of", cube.CubeKernel.of, {"kernel": ntk(2), "dim": 3, "scale": 1.0}),
    Call("cube.CubeKernel.values", CUBE.values, {"power": 1}),
    Call("cube.error_form", CUBE.error_form, {"X": CORNERS, "weights": np.ones((2, 1)), "subsets": [(0,)]}),
    Call("cube.risk", CUBE.risk, {"X": CORNERS, "weights": np.ones((2, 1)), "terms": TERMS}),
    Call("cube.captured", CUBE.captured, {"X": CORNERS, "subsets": [(0,)]}),
    Call("cube.oracle_risks", CUBE.oracle_risks, {"X": CORNERS, "targets": [TERMS]}),
    Call("cube_features.every_corner", cube_features.every_corner, {"dim": 3, "scale": 1.0, "block": 4}),
    Call(
        "cube_features.oracle_risks",
        cube_features.oracle_risks,
        {"features": lambda X: X[:, :2], "dim": 3, "scale": 1.0, "targets": [TERMS], "sample": CORNERS},
    ),
    Call(
        "degree_residual",
        degree_residual.degree_residual,
        {"spectrum": SPECTRUM, "power": POWER, "curve": CURVE, "noise": 0.1},
    ),
    Call(
        "dimension_free.Rates",
        dimension_free.Rates,
        {"activation": activations.get("tanh"), "target": [1.0, -1.0], "nodes": 24},
    ),
    Call("dimension_free.spread", dimension_free.spread, {"m": 3, "size": 1.0}),
    Call("dimension_free.begin", dimension_free.begin, {"a": [1.0], "count": 2, "s": 1.0}),
    Call(
        "dimension_free.solve",
        dimension_free.solve,
        {"rates": RATES, "start": START, "times": [0.0, 0.1], "step": 0.1, "rtol": 1e-3, "atol": 1e-3, "most": 100},
    ),
    Call("hankel.Transform", hankel.Transform, {"target": TARGET, "law": LAW}),
    Call("hankel.amplitude", TRANSFORM.amplitude, {"ratio": [0.5, 2.0], "finer": 1.0}),
    Call("hankel.density", TRANSFORM.density, {"ratio": [0.5, 2.0]}),
    Call("hankel.at", TRANSFORM.at, {"rho": [0.5, 2.0]}),
    Call("hankel.segment", TRANSFORM.segment, {"first": 1.0, "last": 2.0}),
    Call("leap.points", leap.points, {"count": 3}),
    Call("leap.check_count", leap.check_count, {"count": 3}),
    Call("leap.walsh", leap.walsh, {"values": [1.0, -1.0]}),
    Call("leap.checked_table", leap.checked_table, {"values": [1.0, -1.0]}),
    Call("leap.members", leap.members, {"index": 5}),
    Call(
        "leap.coefficients", leap.coefficients, {"target": [1.0, -1.0], "count": 1, "tolerance": 0.1}, words=("terms",)
    ),
    Call("leap.coefficients of terms", leap.coefficients, {"target": {(0,): 1.0}, "count": 3}, words=("terms",)),
    Call("leap.values", leap.values, {"terms": {(0,): 1.0}, "count": 2}),
    Call("leap.leap", leap.leap, {"support": [(0,), (0, 1)]}, words=("terms",)),
    Call(
        "learning_curve",
        learning_curve.learning_curve,
        {"spectrum": SPECTRUM, "power": POWER, "n": [10.0], "ridge": 0.1, "noise": 0.1, "tail_power": 0.1},
    ),
    Call("learning_curve.checked_spectrum", learning_curve.checked_spectrum, {"spectrum": SPECTRUM}),
    Call(
        "neuron_span.Neurons.of",
        neuron_span.Neurons.of,
        {"activation": activations.get("relu"), "bias": 0.0, "W": W, "max_degree": 4, "tangent": False},
    ),
    Call("neuron_span.projections", NEURONS.projections, {"degree": 2, "V": W}),
    Call("neuron_span.power", NEURONS.power, {"degree": 2, "coefficients": np.ones((6, 1))}),
    Call("population.second_moment", population.second_moment, {"law": W}),
    Call("population.risk", population.risk, STUDENT),
    Call("population.risk_gradient", population.risk_gradient, STUDENT),
    Call("source_condition.Source", source_condition.Source, {"dim": 3, "kernel_decay": 3.0, "power_decay": 2.0}),
    Call(
        "source_condition.native_norm", source_condition.native_norm, {"spectrum": SPECTRUM, "power": POWER, "dim": 3}
    ),
    Call(
        "source_condition.fit_power_decay",
        source_condition.fit_power_decay,
        {"power": np.arange(1.0, 20.0) ** -2, "dim": 3},
        takes={"power": {"nans"}},
    ),
    Call(
        "source_condition.PowerLaw",
        lambda **fields: source_condition.PowerLaw(**fields).trace,
        {"dim": 3, "decay": 3.0, "max_degree": 5},
    ),
    Call("dimension_free.check_activation", dimension_free.check_activation, {"activation": activations.get("relu")}),
    Call("tubes.check_dim", tubes.check_dim, {"dim": 3}),
    Call("tubes.log_share", tubes.log_share, {"dim": 3, "ratio": [1.0, 2.0]}),
    Call("tubes.share", tubes.share, {"dim": 3, "ratio": [1.0, 2.0]}),
    Call("tubes.share_bound", tubes.share_bound, {"dim": 3, "ratio": [1.0, 2.0], "width": 2.0}),
    Call("tubes.rate", tubes.rate, {"ratio": 2.0}),
    Call(
        "tubes.share_of_tubes",
        tubes.share_of_tubes,
        {"directions": W, "ratio": [1.0, 2.0], "rng": np.random.default_rng(0), "samples": 100},
    ),
    Call("tubes.covered_to", tubes.covered_to, {"unit": W, "samples": 10, "rng": np.random.default_rng(0)}),
]

RESULTS = {
    "Certificate", "Consequence", "Course", "Cover", "Curve", "Leap", "LeastWidth", "NativeNorm", "Powers", "Segment",
}  # fmt: skip
"""What functions return: made by them alone."""
INNER = {"OfKernel", "Particles", "Spectral", "check_breaks", "packed", "unpacked", "exact_risk", "sums"}
"""A holder of arrays that `solve` checks, two protocols, and functions called on what was checked before."""


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.name)
def test_a_wrong_argument_is_named(call: Call) -> None:
    call.run()
    found = mistakes(call)
    assert not found, "\n".join(found)


def test_every_public_name_is_called() -> None:
    called = {call.name.split(".")[-1].split(" ")[0] for call in CALLS} | {
        call.name.split(".")[1] for call in CALLS if "." in call.name
    }
    for module in pkgutil.iter_modules(theory.__path__):
        if not module.name.startswith("_"):
            missing = public(importlib.import_module(f"simlab.theory.{module.name}")) - called - RESULTS - INNER
            assert not missing, f"{module.name}: add a valid call of {sorted(missing)} to CALLS"
