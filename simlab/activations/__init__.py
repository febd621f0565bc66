"""activations: φ, φ' and their duals, one file per kind. MATH §2.

`activation` has the contract, `signature` the types of the compiled functions. A φ of your own is `custom`; a kind of
your own subclasses `Activation`, and `check` says whether it keeps the contract.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from simlab.activations.activation import Activation, Compiled
from simlab.core import catalogue, checks
from simlab.core.errors import BadInput, shown
from simlab.core.parsing import parse

__all__ = ["Activation", "Compiled", "check", "custom", "get", "of_function"]

# Imported before the function of the same name is bound below: an import binds the module to its name once, the first.
importlib.import_module("simlab.activations.custom")

of_function = Activation.of_function


def get(name: str, **fields: Any) -> Activation:
    """The activation of this name: ``get("leaky_relu", slope=0.1)``."""
    checks.instance(name, "activation", str, "the name of a kind, a string")
    chosen: Activation = parse(catalogue.get("activations", name, "activation"), fields, f"activation {name}")
    return chosen


def custom(phi: Any, dphi: Any = None, kinks: Any = ()) -> Activation:
    """An activation from a function of one float: ``custom(lambda z: max(z, 0.0), kinks=(0.0,))``."""
    return get("custom", phi=phi, dphi=dphi, kinks=kinks)


def required(activation: Any, name: str = "activation") -> Activation:
    """The activation itself; BadInput where it is none. `name` is the argument's."""
    if not isinstance(activation, Activation):
        raise BadInput(f"{name} = {shown(activation)}: must be an activation, such as activations.get('relu')")
    return activation


def check(activation: Activation, **tolerances: float) -> None:
    """Check that an activation keeps the contract; AssertionError says in one line where it does not.

    tolerances: as in `simlab.activations.checking.check`.
    """
    from simlab.activations.checking import check

    check(activation, **tolerances)


if not TYPE_CHECKING:  # mypy reads the files themselves
    __getattr__, __dir__ = catalogue.attributes(__name__)
