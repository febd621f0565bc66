"""Functions that are activations already: ``ntk(3, np.tanh)`` is ``ntk(3, "tanh")``, with every digit of its dual.

They are told by identity (`Activation.python_functions`). Any other function is refused with the call that makes it an
activation: only its author knows where it or a derivative jumps, and without its kinks the quadrature would be wrong
and not say so.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simlab.core import catalogue
from simlab.core.errors import BadInput


def kind_of_function(function: Any, key: str) -> tuple[str, dict[str, Any]]:
    """The kind, and its fields, of a function of one number; `key` is what the error calls it."""
    for kind in catalogue.names("activations"):
        for known, fields in catalogue.get("activations", kind).python_functions().items():
            if function is known:
                return kind, fields
    name = getattr(function, "__name__", type(function).__name__)
    by_name = f'the name "{name}", or ' if name in catalogue.names("activations") else ""
    if isinstance(function, np.ufunc) and function.nin != 1:
        how = (
            f"takes {function.nin} numbers; give {by_name}a function of one: activations.custom(lambda z: {name}(z, …))"
        )
    else:
        how = f"a function; give {by_name}activations.custom({name}, dphi=None, kinks=())"
    raise BadInput(f"{key} = {name}: {how}, with every place where it or a derivative jumps in kinks")
