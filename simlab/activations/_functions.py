"""Functions that are activations already: ``ntk(3, np.tanh)`` is ``ntk(3, "tanh")``, with every digit of its dual.

They are told by identity. Any other function is refused with the call that makes it an activation: only its author
knows where it or a derivative jumps, and without its kinks the quadrature would be wrong and not say so.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

from simlab.core import lookup
from simlab.core.errors import BadInput

KINDS: dict[Any, tuple[str, dict[str, Any]]] = {
    np.tanh: ("tanh", {}),
    math.tanh: ("tanh", {}),
    np.sin: ("sin", {}),
    math.sin: ("sin", {}),
    np.cos: ("cos", {}),
    math.cos: ("cos", {}),
    np.exp: ("exp", {}),
    math.exp: ("exp", {}),
    np.abs: ("abs", {}),
    np.fabs: ("abs", {}),
    math.fabs: ("abs", {}),
    abs: ("abs", {}),
    np.sign: ("sign", {}),
    np.square: ("monomial", {"degree": 2}),
    math.erf: ("erf", {}),
}


def kind_of_function(function: Any, key: str) -> tuple[str, dict[str, Any]]:
    """The kind, and its fields, of a function of one number; `key` is what the error calls it."""
    special = sys.modules.get("scipy.special")  # who gives scipy's erf has imported it
    if special is not None and function is special.erf:
        return "erf", {}
    try:
        if function in KINDS:
            return KINDS[function]
    except TypeError:  # not hashable
        pass
    name = getattr(function, "__name__", type(function).__name__)
    known = f'the name "{name}", or ' if name in lookup.kinds("activations") else ""
    if getattr(function, "nin", 1) != 1:
        how = f"takes {function.nin} numbers; give {known}a function of one: activations.custom(lambda z: {name}(z, …))"
    else:
        how = f"a function; give {known}activations.custom({name}, dphi=None, kinks=())"
    raise BadInput(f"{key} = {name}: {how}, with every place where it or a derivative jumps in kinks")
