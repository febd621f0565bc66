"""observables: what is measured along a flow, one file per kind. The contract is `Observable`.

`check(kind)` runs the contract tests on one observable, also on one from another package.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simlab.core import catalogue
from simlab.core.parsing import choose
from simlab.observables.observable import Observable
from simlab.observables.view import Setting, View

__all__ = ["Observable", "Setting", "View", "check", "get"]


def get(name: str, **fields: Any) -> Observable:
    """An observable by name: ``observables.get("tangent_drift", limit=True)``."""
    found: Observable = choose("observables", {"kind": name, **fields}, "observables")
    return found


def check(kind: Observable, view: View | None = None) -> None:
    """Run the contract tests on one observable; AssertionError, one line, where it breaks the contract.

    view: an instant to measure at; by default instants of small networks are tried until one fits.
    """
    from simlab.observables.checking import check_observable

    check_observable(kind, view)


if not TYPE_CHECKING:  # mypy reads the files themselves
    __getattr__, __dir__ = catalogue.attributes(__name__)
