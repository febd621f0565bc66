"""data: laws of inputs, and sampling. A kind is a `Law`: its dimension, samples of it, and facts.

Stored data lie in the directory of ``--data`` or SIMLAB_DATA (`directory`). `splits.draw` gives training, validation
and test inputs; of a stored set their rows are kept apart. `check` tests whether a kind keeps the contract.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simlab.core import catalogue, checks, parsing
from simlab.data.law import Law

__all__ = ["Law", "check", "get"]


def get(name: str, **fields: Any) -> Law:
    """The law of this name: ``get("uniform_sphere", dim=10)``."""
    checks.instance(name, "data", str, "the name of a kind, a string")
    chosen: Law = parsing.parse(catalogue.get("data", name, "data"), fields, f"data {name}")
    return chosen


def check(kind: Law) -> None:
    """Run the contract tests on one law; AssertionError, one line, where it breaks the contract."""
    from simlab.data.checking import check_law

    check_law(kind)


if not TYPE_CHECKING:  # mypy reads the files themselves
    __getattr__, __dir__ = catalogue.attributes(__name__)
