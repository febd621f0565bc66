"""What experiments with deep random nets share: a refusal that names the kind, before types are compared."""

from __future__ import annotations

from typing import Any

from simlab.core.params import Params, kind_of
from simlab.networks import mlp


def only_deep_nets(values: Any) -> Any:
    """The fields of an experiment as they are, unless their network is of another kind than mlp."""
    network = values.get("network") if isinstance(values, dict) else None
    if isinstance(network, Params) and not isinstance(network, mlp.Params):
        raise ValueError(f"network.kind = {kind_of(network)!r}: this experiment draws deep nets (allowed: mlp)")
    return values
