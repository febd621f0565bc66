"""What has a risk under an input law whose mean radius is infinite, and what has not. MATH §8.

Where P(‖x‖ > r) ~ 1/r, a function that grows like ‖x‖ in any direction has E f² = ∞, though the loss over any finite
sample is finite: training would go on, and what it shows would mean nothing. The law says so by ``HEAVY_TAIL``.
"""

from __future__ import annotations

from typing import Any

from simlab.core.errors import one_of
from simlab.core.params import Params, kind_of, module_of
from simlab.observables.view import View

THREE_LAYER = "three_layer_mean_field"
BOUNDED = ("cos", "erf", "gaussian", "sign", "sin", "step", "tanh")
SUMS_OF_NEURONS = ("mlp", "random_features", "two_layer")
"""Networks that are bounded where their activation is."""


def heavy_tailed(data: Params) -> bool:
    return getattr(module_of(data), "HEAVY_TAIL", False)


def check_outer_weights(data: Params, network: Any) -> None:
    """Refuses a three-layer net that grows; also one that does not end, whose outer weights have no velocity."""
    if heavy_tailed(data) and kind_of(network) == THREE_LAYER and network.w2 >= 0:
        raise ValueError(
            f"network.w2 = {network.w2}: must be less than 0, as a net that grows has infinite risk "
            f"under data.kind = {kind_of(data)!r}, whose tail is 1/r (E‖x‖ = ∞)"
        )


def check_bounded(data: Params, network: Any) -> None:
    """Refuses any other net that is not bounded."""
    if not heavy_tailed(data) or kind_of(network) == THREE_LAYER:
        return
    why = f"infinite risk under data.kind = {kind_of(data)!r}, whose tail is 1/r (E‖x‖ = ∞)"
    if kind_of(network) not in SUMS_OF_NEURONS:
        raise ValueError(
            f"network.kind = {kind_of(network)!r}: not bounded, so {why} "
            f"(allowed: {one_of([THREE_LAYER, *SUMS_OF_NEURONS])})"
        )
    if (activation := kind_of(network.activation)) not in BOUNDED:
        raise ValueError(
            f"network.activation = {activation!r}: not known to be bounded, so {why} (allowed: {one_of(BOUNDED)})"
        )


def has_risk(view: View) -> bool:
    """Whether no outer weight of a three-layer net is positive; of other nets nothing is asked."""
    if kind_of(view.network) != THREE_LAYER:
        return True
    _, w, _ = view.network.particles(view.theta)
    return not (w > 0).any()
