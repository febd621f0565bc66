"""targets: the functions to be learned. A kind is a `Target`: `draw` gives one random function of X (n, d).

What a kind draws may be more than a function: `Radial`, `Hierarchy`, `BooleanFunction` and `NeuronSum` have their parts
as attributes. The facts of a kind (`is_radial`, …) say which of them it draws. `check` runs the contract tests on a
kind. `simlab.sphere.power` estimates the power by degree of any function.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simlab.core import catalogue, checks, parsing
from simlab.targets.boolean_function import BooleanFunction
from simlab.targets.hierarchy import Hierarchy
from simlab.targets.neuron_sum import NeuronSum
from simlab.targets.radial_function import Radial
from simlab.targets.target import Target

__all__ = ["BooleanFunction", "Hierarchy", "NeuronSum", "Radial", "Target", "check", "get"]


def get(name: str, **fields: Any) -> Target:
    """The target of this name: ``get("relu_teacher", neurons=3)``."""
    checks.instance(name, "target", str, "the name of a kind, a string")
    chosen: Target = parsing.parse(catalogue.get("targets", name, "target"), fields, f"target {name}")
    return chosen


def check(kind: Target) -> None:
    """Run the contract tests on one target; AssertionError, one line, where it breaks the contract."""
    from simlab.targets.checking import check_target

    check_target(kind)


if not TYPE_CHECKING:  # mypy reads the files themselves
    __getattr__, __dir__ = catalogue.attributes(__name__)
