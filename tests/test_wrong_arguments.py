"""The Python face of the rooms with each argument wrong in turn: a result, or one line that names it.

Theory has a file of its own. Kinds are found by walking, their functions by name.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import simlab
from simlab import activations, kernels, machines, networks
from simlab.core import catalogue
from simlab.core.parsing import choose
from simlab.kernels import ntk
from simlab.machines.feature_ridge import feature_path
from simlab.networks.bound import Bound
from simlab.sphere import legendre, mean_relu, multiplicity, power, zonal
from simlab.targets import Radial
from tests.support.argument_walk import Call, mistakes

X = np.array([[1.0, 0.0, 0.0], [0.0, 0.6, 0.8], [0.0, 1.0, 0.0]])
y = np.array([1.0, -1.0, 0.5])
POINTS = np.random.default_rng(1).standard_normal((60, 3))
K = ntk(2).gram(X)
SPECTRUM = ntk(2).spectrum(3, 40)
MAP = networks.get("random_features", width=4)
LAYERED = {"depth": 2, "activation": "relu", "weight_std": 1.0, "bias_std": 0.1}
FLOW = machines.KernelFlow(ntk(2)).fit(X, y)
RIDGE, PROCESS = machines.KernelRidge(ntk(2)).fit(X, y), machines.GaussianProcess(ntk(2), 0.1).fit(X, y)
FEATURES = machines.FeatureRidge(MAP).fit(X, y)


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def machine(name: str, **fields: Any) -> Any:
    """A machine with these fields, fitted: `fit` checks them."""
    return lambda **changed: getattr(machines, name)(**(fields | changed)).fit(X, y)


SPHERE = [
    Call("legendre_sum", legendre.legendre_sum, {"dim": 3, "coefficients": [1.0, 2.0], "u": [0.5]}),
    Call("legendre", legendre.legendre, {"dim": 3, "max_degree": 4, "u": [0.5]}),
    Call("mean_relu", mean_relu.mean_relu, {"dim": 3}),
    Call("c_gamma", mean_relu.c_gamma, {"dim": 3}),
    Call("multiplicity", multiplicity.multiplicity, {"dim": 3, "degree": 4}),
    Call("log_multiplicity", multiplicity.log_multiplicity, {"dim": 3, "degree": 4}),
    Call("log10_multiplicity", multiplicity.log10_multiplicity, {"dim": 3, "degree": 4}),
    Call(
        "degree_power",
        power.degree_power,
        {"f": lambda Z: Z[:, 0], "dim": 3, "max_degree": 2, "X1": POINTS, "X2": POINTS},
    ),
    Call(
        "zonal_coefficients",
        power.zonal_coefficients,
        {"g": np.abs, "dim": 3, "max_degree": 2, "kinks": (0.0,)},
        takes={"kinks": {"generator"}},
    ),
    Call(
        "zonal_power",
        power.zonal_power,
        {"g": np.abs, "dim": 3, "max_degree": 2, "kinks": (0.0,)},
        takes={"kinks": {"generator"}},
    ),
    Call("power_of", power.power_of, {"coefficients": [1.0, 2.0], "dim": 3}),
    Call(
        "angle_quadrature",
        power.angle_quadrature,
        {"dim": 3, "max_degree": 2, "kinks": (0.0,)},
        takes={"kinks": {"generator"}},
    ),
    Call("mode", zonal.mode, {"dim": 3, "degree": 2, "u": [0.5]}),
    Call("slope_at_one", zonal.slope_at_one, {"dim": 3, "degree": 2}),
    Call("mode_slope", zonal.mode_slope, {"dim": 3, "degree": 2, "u": [0.5]}),
    Call("mode_curvature", zonal.mode_curvature, {"dim": 3, "degree": 2, "u": [0.5]}),
    Call("axes", zonal.axes, {"count": 2, "dim": 3, "rng": rng()}),
    Call("cosines", zonal.cosines, {"X": X, "V": X}),
    Call("zonal", zonal.zonal, {"degree": 2, "V": X, "X": X}),
    Call("zonal_gradient", zonal.zonal_gradient, {"degree": 2, "V": X, "X": X}),
    Call("unlearned", zonal.unlearned, {"degree": 2, "eigenvalue": 0.1, "X": X, "coefficients": X, "V": X}),
]
KERNELS = [
    Call("gram", kernels.gram, {"kernels": [ntk(2)], "X": X, "Y": X, "dtype": np.float64, "threads": 1}),
    Call("at_cosines", ntk(2).at_cosines, {"u": [0.5]}),
    Call("diagonal", ntk(2).diagonal, {"X": X}),
    Call("spectrum", ntk(2).spectrum, {"dim": 3, "max_degree": 4, "domain": "sphere", "rtol": 1e-15}),
    Call("effective_dimension", SPECTRUM.effective_dimension, {"ridge": 0.1}),
    Call("fit", SPECTRUM.fit, {"parity": "even", "window": (10, 40)}),
    Call("set_params", ntk(2).set_params, {"depth": 3}),
    Call(
        "scaled", lambda factor: kernels.get("scaled", scale=factor, kernel=ntk(2)), {"factor": 2.0}, words=("scale",)
    ),
]
MACHINES = [
    Call("KernelRidge", machine("KernelRidge", kernel=ntk(2)), {"kernel": ntk(2), "ridge": 0.1}),
    Call("KernelRidge.fit", machines.KernelRidge(ntk(2)).fit, {"X": X, "y": y, "sample_weight": y**2}),
    Call("KernelRidge.predict", RIDGE.predict, {"X": X}),
    Call("KernelRidge.score", RIDGE.score, {"X": X, "y": y, "sample_weight": y**2}),
    Call("GaussianProcess", machine("GaussianProcess", kernel=ntk(2)), {"kernel": ntk(2), "noise": 0.1}),
    Call("GaussianProcess.predict", PROCESS.predict, {"X": X, "return_std": True, "return_cov": False}),
    Call("sample_prior", PROCESS.sample_prior, {"X": X, "count": 2, "rng": rng()}),
    Call("sample_posterior", PROCESS.sample_posterior, {"X": X, "count": 2, "rng": rng()}),
    Call(
        "FeatureRidge",
        machine("FeatureRidge", features=MAP),
        {"features": MAP, "ridge": 0.1, "seed": 0, "memory": 10**6},
    ),
    Call("FeatureRidge.path", FEATURES.path, {"X": X, "y": y, "ridges": [0.1, 1.0]}, takes={"ridges": {"generator"}}),
    Call(
        "feature_path",
        feature_path,
        {"features": MAP, "weights": FEATURES.weights_, "X": X, "y": y, "ridges": [0.1], "memory": 10**6},
        takes={"ridges": {"generator"}},
    ),
    Call(
        "KernelFlow",
        machine("KernelFlow", kernel=ntk(2)),
        {"kernel": ntk(2), "rate": 1.0, "method": "RK45", "rtol": 1e-3},
    ),
    Call("KernelFlow.fit", machines.KernelFlow(ntk(2)).fit, {"X": X, "y": y, "initial": y}),
    Call("KernelFlow.train", FLOW.train, {"times": [0.0, 1.0]}),
    Call("KernelFlow.loss", FLOW.loss, {"times": [0.0, 1.0]}),
    Call("KernelFlow.coefficients", FLOW.coefficients, {"times": [0.0, 1.0]}),
    Call("KernelFlow.predict", FLOW.predict, {"X": X, "times": [0.0, 1.0]}),
    Call(
        "ridge_path",
        machines.ridge_path,
        {"kernel": ntk(2), "X": X, "y": y, "ridges": [0.1], "dtype": np.float64, "memory": 10**6, "threads": 1}
        | {"tolerance": 1e-6},
        takes={"ridges": {"generator"}},
    ),
    Call(
        "solve_path",
        machines.solve_path,
        {"K": K, "Y": y, "ridges": [0.1], "tolerance": 1e-6, "rank": 2, "limit": 10},
        takes={"ridges": {"generator"}},
    ),
]


def examples(room: str) -> Iterator[tuple[str, Any]]:
    """(name, kind) of every example of every kind of a room."""
    for kind, fields in catalogue.all_examples(room):
        yield kind, choose(room, {"kind": kind, **fields}, room)


def of_kinds() -> Iterator[Call]:
    """The methods of every kind of networks, targets and data that draw, and those that tell a size."""
    for kind, net in examples("networks"):
        if isinstance(net, networks.Trainable):
            theta, labels = net.initialise(3, np.random.default_rng(1)), np.ones((3, net.output_count()))
            yield Call(f"{kind}.initialise", net.initialise, {"dim": 3, "rng": rng()})
            yield Call(f"{kind}.Bound", lambda dim, dtype, p=net: Bound(p, dim, dtype), {"dim": 3, "dtype": "float64"})
            yield Call(f"{kind}.forward", net.forward, {"theta": theta, "X": X})
            yield Call(f"{kind}.tangent_gram", net.tangent_gram, {"theta": theta, "X": X, "Y": X})
            yield Call(f"{kind}.tangent_blocks", net.tangent_blocks, {"theta": theta, "X": X, "Y": X})
            labelled = {"theta": theta, "X": X, "y": labels, "alpha": 1.0}
            yield Call(f"{kind}.loss_and_gradient", net.loss_and_gradient, labelled)
            yield Call(f"{kind}.push", net.push, {"theta": theta, "v": theta, "X": X})
            yield Call(f"{kind}.pull", net.pull, {"theta": theta, "R": labels, "X": X})
            if net.has_features:
                yield Call(f"{kind}.features", net.features, {"theta": theta, "X": X})
        if isinstance(net, networks.FeatureMap):
            weights = net.draw(3, np.random.default_rng(1))
            yield Call(f"{kind}.draw", net.draw, {"dim": 3, "rng": rng()})
            yield Call(f"{kind}.features_of", net.features_of, {"weights": weights, "X": X, "part": slice(0, 2)})
    for kind, target in examples("targets"):
        yield Call(f"{kind}.draw", target.draw, {"dim": 5, "rng": rng()})
        if target.knows_power:
            yield Call(f"{kind}.power", target.power, {"dim": 5, "max_degree": 3})
        if target.reads_labels:
            yield Call(f"{kind}.values_of", target.values_of, {"labels": np.array([0, 1, 1])})
    for kind, law in examples("data"):
        if not law.finite:
            yield Call(f"{kind}.sample", law.sample, {"n": 3, "rng": rng()})


OTHERS = [
    Call(
        "Radial",
        lambda profile, breaks: Radial(profile, breaks)(X),
        {"profile": np.cos, "breaks": (1.0, 2.0)},
        takes={"breaks": {"generator"}},
    ),
    Call("activations.get", activations.get, {"name": "relu"}, words=("activation",)),
    Call("networks.get", networks.get, {"name": "two_layer", "width": 3}, words=("network",)),
    Call("kernels.get", kernels.get, {"name": "ntk", "depth": 3}, words=("kernel",)),
    Call("simlab.open", simlab.open, {"path": "no such directory"}, words=("no such",)),
]


def check(calls: list[Call]) -> None:
    found = []
    for call in calls:
        if call.name != "simlab.open":
            call.run()
        found += mistakes(call)
    assert not found, f"{len(found)} mistakes\n" + "\n".join(found)


@pytest.mark.parametrize("call", [*SPHERE, *KERNELS, *MACHINES, *OTHERS], ids=lambda call: call.name)
def test_a_wrong_argument_is_named(call: Call) -> None:
    check([call])


KINDS = list(of_kinds())


@pytest.mark.parametrize("kind", sorted({call.name for call in KINDS}))
def test_wrong_arguments_of_kinds_are_named(kind: str) -> None:
    """Of every example of a kind: examples differ in what they check."""
    check([call for call in KINDS if call.name == kind])
