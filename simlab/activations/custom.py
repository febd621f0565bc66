"""A φ of your own: ``activations.custom(np.tanh)``, ``activations.custom(f, kinks=(0.0,))``; in a spec "module:name".

Text is imported only where the user allows it (``--allow-code``, `simlab.core.foreign_code`), also in Python, as a
table may come from a file. A function object needs no permission.

φ, and φ' where given, are functions of one float: plain Python that numba can compile, a numba function, or a NumPy
ufunc. The dual is found by quadrature (`_numeric`, which states what it takes for granted about φ); every place
where φ or a derivative jumps must be listed in `kinks`. Error: 1e-10 of √(AB) at most for F; the same for Ḟ with a φ'
given, else 1e-8 (`_differences`; ten times slower). Where φ itself jumps Ḟ is given as infinite.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Annotated, Any, ClassVar

import numba
import numpy as np
from numba.core.errors import NumbaError
from numpy.typing import NDArray
from pydantic import BeforeValidator, Field, field_validator

from simlab.activations._differences import WEIGHTS, stencil
from simlab.activations._numeric import PAIR, numeric_dual, numeric_variance
from simlab.activations.activation import Activation, Compiled
from simlab.activations.signature import DUAL, PHI, VARIANCE
from simlab.core import foreign_code
from simlab.core.errors import BadInput, shown
from simlab.core.jit import FLAGS, jit

Floats = NDArray[np.float64]


def _listed(value: Any) -> Any:
    return tuple(value) if isinstance(value, Iterable) and not isinstance(value, str) else value


def _resolve(function: Any) -> Callable[..., Any]:
    """The function itself, or what "module:name" names; ValueError if there is none, or if it is not allowed."""
    if not callable(function) and not isinstance(function, str):
        raise ValueError('must be "module:name" or a function of one float')
    found: Callable[..., Any] = foreign_code.load(function) if isinstance(function, str) else function
    return found


def _compile(field: str, function: Any) -> Any:
    """function(z) as a compiled φ(z, a)"""
    try:
        resolved = _resolve(function)
    except ValueError as error:
        raise BadInput(f"{field} = {shown(function)}: {error}") from None
    # A ufunc or a compiled function is called as it is.
    inner: Any = numba.njit(**FLAGS)(resolved) if isinstance(resolved, FunctionType) else resolved

    def call(z: float, a: Floats) -> float:
        value: float = inner(z)
        return value

    phi: Any = jit(signatures=[PHI], named="")(call)
    name = function if isinstance(function, str) else getattr(function, "__name__", repr(function))
    try:
        phi.compile(PHI)
    except (NumbaError, TypeError, ValueError, NotImplementedError) as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        reason = next((line for line in lines if not line.startswith("Failed in")), type(error).__name__)
        raise BadInput(f"{field} = {name}: numba cannot compile it as a function of one float ({reason})") from None
    for z in (-2.0, -0.1, 0.1, 2.0):
        value = phi(z, np.zeros(0))
        if not math.isfinite(value):
            raise BadInput(f"{field} = {name}: its value at {z} is {value}; it must be finite everywhere")
    return phi


def _differentiated(phi: Any) -> Any:
    """φ' by differences; a holds the kinks."""

    @jit(signatures=[PHI], named="")
    def dphi(z: float, a: Floats) -> float:
        h, shift = stencil(z, a)
        total = 0.0
        for j in range(9):
            total += WEIGHTS[shift + 4, j] * phi(z + (j - 4 + shift) * h, a)
        return total / h

    return dphi


@functools.lru_cache(maxsize=64)
def _compiled(activation: Custom) -> Compiled:
    """φ, φ', variance and dual, compiled once for each φ."""
    phi = _compile("phi", activation.phi)
    dphi = _differentiated(phi) if activation.dphi is None else _compile("dphi", activation.dphi)
    infinite = _jumps(phi, activation.kinks)

    @jit(signatures=[PAIR], named="")
    def pair(z: float, a: Floats) -> tuple[float, float]:
        return phi(z, a), dphi(z, a)

    @jit(signatures=[VARIANCE], named="")
    def variance(q: float, a: Floats) -> float:
        return numeric_variance(pair, q, a)

    @jit(signatures=[DUAL], named="")
    def dual(q: float, p: float, A: float, B: float, t: float, s: float, a: Floats) -> tuple[float, float, float]:
        tau, sigma, slope_dual = numeric_dual(pair, q, p, A, B, t, s, a)
        return tau, sigma, math.inf if infinite else slope_dual

    for k in activation.kinks:
        if not math.isfinite(phi(k, np.array(activation.kinks))):
            raise BadInput(f"phi: its value at the kink {k} is {phi(k, np.array(activation.kinks))}; it must be finite")
    second = variance(1.0, np.array(activation.kinks, dtype=np.float64))
    if not math.isfinite(second):
        raise BadInput(f"phi: E φ(z)² = {second} at unit variance; it must be finite")
    return Compiled(phi, dphi, variance, dual)


def _jumps(phi: Any, kinks: tuple[float, ...]) -> bool:
    """A jump stays as the step shrinks; a steep slope shrinks with it."""
    a = np.array(kinks)

    def difference(k: float, h: float) -> float:
        return abs(float(phi(k + h * max(1.0, abs(k)), a) - phi(k - h * max(1.0, abs(k)), a)))

    return any(difference(k, 1e-13) > 0.5 * difference(k, 1e-9) > 0.0 for k in kinks)


class Custom(Activation):
    """A φ of the user's."""

    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {"phi": "numpy:tanh"},
        {"phi": "numpy:abs", "dphi": "numpy:sign", "kinks": [0.0]},
    )
    has_arb: ClassVar[bool] = False
    has_own_code: ClassVar[bool] = True

    phi: Any = Field(description='φ: "module:name" (needs --allow-code), or from Python a function of one float')
    dphi: Any = Field(None, description="φ' in the same form; without it φ is differentiated by differences")
    kinks: Annotated[tuple[float, ...], BeforeValidator(_listed)] = Field(
        (), description="where φ or one of its derivatives jumps"
    )

    @field_validator("phi", "dphi")
    @classmethod
    def _is_a_function(cls, value: Any) -> Any:
        if foreign_code.is_unread(value):
            foreign_code.check_form(value)
        elif value is not None:
            _resolve(value)
        return value

    @field_validator("kinks")
    @classmethod
    def _in_order(cls, value: tuple[float, ...]) -> tuple[float, ...]:
        return tuple(sorted(set(map(float, value))))

    def compiled(self) -> Compiled:
        return _compiled(self)

    def numbers(self) -> Floats:
        """The kinks."""
        return np.array(self.kinks, dtype=np.float64)

    def kink_points(self) -> tuple[float, ...]:
        return self.kinks

    def jumps(self) -> bool:
        if foreign_code.is_unread(self.phi):  # a run that is only read was checked when it was made
            return False
        return _jumps(self.compiled().phi, self.kinks)
