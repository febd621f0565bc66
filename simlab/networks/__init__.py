"""networks: finite-width networks, their gradients and tangent kernels, and maps to random features.

    net = networks.TwoLayer(width=200, activation="tanh")          # or networks.get("two_layer", …)
    theta = net.initialise(10, np.random.default_rng(0))
    net.forward(theta, X), net.gradient(theta, X, y), net.tangent_gram(theta, X)

One file per kind. Each kind is a subclass of a contract in `simlab.networks.network`: `Trainable` (has a gradient),
`ThreeLayer` (also gives its layers), `FeatureMap` (random features, not trained), or of two of them. A kind of your own
subclasses one too, and `check` says whether it keeps the contract.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simlab.core import catalogue, checks
from simlab.core.parsing import parse
from simlab.networks.network import FeatureMap, Network, ThreeLayer, Trainable

__all__ = ["FeatureMap", "Network", "ThreeLayer", "Trainable", "check", "get"]


def get(name: str, **fields: Any) -> Network:
    """The network of this name: ``get("random_features", width=500, activation="erf")``."""
    checks.instance(name, "network", str, "the name of a kind, a string")
    found: Network = parse(catalogue.get("networks", name, "network"), fields, f"network {name}")
    return found


def check(network: Network) -> None:
    """Check that a network keeps its contract; AssertionError says in one line where it does not.

    For small networks: each weight is moved once for the central differences.
    """
    from simlab.networks.checking import check_network

    check_network(network)


if not TYPE_CHECKING:  # mypy reads the files themselves
    __getattr__, __dir__ = catalogue.attributes(__name__)
