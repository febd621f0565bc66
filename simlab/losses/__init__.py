"""losses: ℓ(f, y) with value, slope and curvature in f, and the labels that each takes. The contract is `Loss`.

`check(kind)` runs the contract tests on one loss, also on one from another package.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simlab.core import catalogue
from simlab.core.parsing import choose
from simlab.losses.loss import Loss, Scalars, Separable

__all__ = ["Loss", "Scalars", "Separable", "check", "get"]


def get(name: str, **fields: Any) -> Loss:
    """A loss by name: ``losses.get("huber", width=0.5)``."""
    found: Loss = choose("losses", {"kind": name, **fields}, "loss")
    return found


def check(kind: Loss) -> None:
    """Run the contract tests on one loss; AssertionError, one line, where it breaks the contract."""
    from simlab.losses.checking import check_loss

    check_loss(kind)


if not TYPE_CHECKING:  # mypy reads the files themselves
    __getattr__, __dir__ = catalogue.attributes(__name__)
