"""What has a risk under an input law whose mean radius is infinite, and what has not. MATH §8.

Where P(‖x‖ > r) ~ 1/r, a function that grows like ‖x‖ in any direction has E f² = ∞, though the loss over any finite
sample is finite: training would go on, and what it shows would mean nothing. The law says so by `heavy_tail`.
"""

from __future__ import annotations

from simlab.core import catalogue
from simlab.core.errors import one_of
from simlab.data.law import Law
from simlab.networks.network import Network, ThreeLayer, Trainable
from simlab.observables.view import View


def check_start(data: Law, network: Trainable) -> None:
    """Refuse a three-layer net that grows at the start; also one that does not end, whose outer weights do not move."""
    if data.heavy_tail and isinstance(network, ThreeLayer) and (why := network.unbounded()):
        raise ValueError(
            f"{why}: must be less than 0, as a net that grows has infinite risk under data.kind = {data.kind!r}, "
            "whose tail is 1/r (E‖x‖ = ∞)"
        )


def check_bounded(data: Law, network: Trainable) -> None:
    """Refuse any other net that is not bounded."""
    if not data.heavy_tail or isinstance(network, ThreeLayer) or not (why := network.unbounded()):
        return
    if why.startswith("network.kind"):
        says, allowed = "not bounded", catalogue.able("networks", _may_be_bounded)
    else:
        says, allowed = "not known to be bounded", catalogue.able("activations", lambda cls: cls.bounded)
    raise ValueError(
        f"{why}: {says}, so infinite risk under data.kind = {data.kind!r}, whose tail is 1/r (E‖x‖ = ∞) "
        f"(allowed: {one_of(allowed)})"
    )


def _may_be_bounded(cls: type[Network]) -> bool:
    return issubclass(cls, ThreeLayer) or (issubclass(cls, Trainable) and cls.unbounded is not Network.unbounded)


def has_risk(data: Law, view: View) -> bool:
    """Whether no outer weight of a three-layer net is positive under a heavy tail; of others nothing is asked."""
    if not data.heavy_tail or not isinstance(view.network, ThreeLayer):
        return True
    _, w, _ = view.network.particles(view.theta)
    return not (w > 0).any()
