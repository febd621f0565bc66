"""Targets of an experiment: refused while a spec is checked, drawn when a point begins. Errors name the table."""

from __future__ import annotations

import numpy as np

from simlab.core.errors import BadInput
from simlab.data.law import Law
from simlab.networks.network import Network
from simlab.targets._trial import on_trial
from simlab.targets.target import Function, Target


def check_target(target: Target, data: Law, key: str = "target") -> None:
    """Raise BadInput where there is no such target in the dimension of the data. Draws nothing.

    key: the table of the target.
    """
    if not data.finite:  # whose files may not be here
        on_trial(target, data.dimension())


def draw_target(target: Target, dim: int, rng: np.random.Generator, key: str = "target") -> Function:
    """One target as drawn. Raises BadInput that names the table `key`."""
    try:
        return target.draw(dim, rng)
    except BadInput as error:
        raise BadInput(f"{key}.{error}") from None


def check_outputs(network: Network, target: Target) -> None:
    """Raise ValueError where the network has not as many outputs as the target."""
    if (outputs := network.output_count()) != (wanted := target.components() or 1):
        raise ValueError(f"network.outputs = {outputs}: the target has {wanted}")
