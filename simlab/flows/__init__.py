"""flows: descent loops and solvers, one file per kind, on any `problem.Problem`. The contract is `Flow`.

`check(kind)` runs the contract tests on one flow, also on one from another package.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simlab.core import catalogue
from simlab.core.parsing import choose
from simlab.flows.flow import Flow, FlowState

__all__ = ["Flow", "FlowState", "check", "get"]


def get(name: str, **fields: Any) -> Flow:
    """A flow by name: ``flows.get("sgd", steps=100, step=0.1, batch=8)``."""
    found: Flow = choose("flows", {"kind": name, **fields}, "flow")
    return found


def check(kind: Flow) -> None:
    """Run the contract tests on one flow; AssertionError, one line, where it breaks the contract."""
    from simlab.flows.checking import check_flow

    check_flow(kind)


if not TYPE_CHECKING:  # mypy reads the files themselves
    __getattr__, __dir__ = catalogue.attributes(__name__)
