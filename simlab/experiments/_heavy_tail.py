"""Networks that have no risk under an input law whose mean radius is infinite (`Law.heavy_tail`), refused. MATH §8.

Where P(‖x‖ > r) ~ 1/r, a function that grows like ‖x‖ in any direction has E f² = ∞, though the loss over any finite
sample is finite: training would go on, and what it shows would mean nothing. Networks tell whether they grow; here are
the words of the refusals.
"""

from __future__ import annotations

from simlab.core import catalogue
from simlab.core.errors import one_of
from simlab.data.law import Law
from simlab.networks.network import Trainable


def check_start(data: Law, network: Trainable) -> None:
    """Raise ValueError where the network grows at the start."""
    if data.heavy_tail and (why := network.grows_at_start()):
        raise ValueError(
            f"{why}: must be less than 0, as a net that grows has infinite risk under data.kind = {data.kind!r}, "
            "whose tail is 1/r (E‖x‖ = ∞)"
        )


def check_bounded(data: Law, network: Trainable) -> None:
    """Raise ValueError where the network may grow and does not tell when it does."""
    if not data.heavy_tail or not (why := network.unbounded()):
        return
    if network.may_be_bounded:
        says, allowed = "not known to be bounded", catalogue.able("activations", lambda cls: cls.bounded)
    else:
        says = "not bounded"
        allowed = catalogue.able("networks", lambda cls: issubclass(cls, Trainable) and cls.may_be_bounded)
    raise ValueError(
        f"{why}: {says}, so infinite risk under data.kind = {data.kind!r}, whose tail is 1/r (E‖x‖ = ∞) "
        f"(allowed: {one_of(allowed)})"
    )
