"""The contract of an activation φ: compiled functions for kernels and networks, and the facts about it. MATH §2.

For (z, z') centred Gaussian with variances q, p and correlation u = 1 − t = s − 1 (both t and s accurate to their last
digits, so that nothing is lost near u = ±1): F = E φ(z)φ(z'), Ḟ = E φ'(z)φ'(z').

>>> act = activations.get("tanh")
>>> act(Z), act.derivative(Z)           # φ and φ' of every entry of an array
"""

from __future__ import annotations

import functools
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import numpy as np
from flint import arb
from numpy.typing import ArrayLike, NDArray

from simlab.activations import _elementwise, tiles
from simlab.activations._functions import kind_of_function
from simlab.activations.signature import Dual, Phi, Variance
from simlab.core import catalogue
from simlab.core.errors import SimlabError
from simlab.core.kinds import Kind

Floats = NDArray[np.float64]


class Compiled(NamedTuple):
    """The four compiled functions of an activation, of the types in `simlab.activations.signature`.

    ``a`` is the activation's `numbers()`.

    phi: φ(z, a).
    dphi: φ'(z, a).
    variance: F(q, q, u = 1), as variance(q, a).
    dual: (q, p, A, B, t, s, a) → (τ, σ, Ḟ) with A = variance(q), B = variance(p): the correlation after the activation
        is F/√(AB) = 1 − τ = σ − 1. τ = σ = 1 where A or B is 0; τ is exactly 0 for q = p, t = 0; never NaN for finite
        q, p. Closed forms keep the digits of τ near u = 1 (of σ near u = −1 where φ is odd) for q = p; for q ≠ p they
        and the quadratures are right to about 1e-15 and 1e-12.
    """

    phi: Phi
    dphi: Phi
    variance: Variance
    dual: Dual


class Activation(Kind):
    """φ, φ' and their duals.

    bounded: whether |φ| ≤ a constant, whatever the fields are.
    has_arb: whether there is an `arb_dual`; not where φ is only known in float64.
    has_own_code: whether the compiled functions are made from the fields, and differ between objects of the kind.
    taylor_radius: radius of convergence of φ's Taylor series about 0, infinite for an entire function; None where φ is
        not smooth at 0 or the series is not known.
    """

    lack: ClassVar[str] = "not an activation"
    shown: ClassVar[tuple[str, ...]] = (
        "bounded", "both", "derivative", "homogeneity", "jumps", "kink_points", "polynomial_degree", "unit_weight",
    )  # fmt: skip
    bounded: ClassVar[bool] = False
    has_arb: ClassVar[bool] = True
    has_own_code: ClassVar[bool] = False
    taylor_radius: ClassVar[float | None] = None

    @abstractmethod
    def compiled(self) -> Compiled:
        """φ, φ', variance and dual."""

    def numbers(self) -> Floats:
        """The numbers ``a`` that the compiled functions need of the fields."""
        return np.zeros(0)

    def arb_dual(self, q: arb, us: list[arb], tangent: bool) -> tuple[list[arb], list[arb]]:
        """F and Ḟ for variances q = p, at Arb's current precision.

        us: the correlations; F has one entry for each, and so has Ḟ.
        tangent: whether Ḟ is needed; the list of Ḟ's is empty without it.
        """
        raise SimlabError(f"{self.kind}: φ is only known in float64; use float64")

    def homogeneity(self) -> int | None:
        """h with φ(λz) = λ^h φ(z) for λ > 0, 0 or 1; None where there is none."""
        return None

    def polynomial_degree(self) -> int | None:
        """The degree of the polynomial that φ is; None where it is none."""
        return None

    def kink_points(self) -> tuple[float, ...]:
        """Where φ or φ' jumps."""
        return ()

    def jumps(self) -> bool:
        """Whether φ itself jumps: Ḟ is then infinite on the diagonal, and there is no tangent kernel."""
        return False

    def relu_shift(self) -> float | None:
        """b where φ(z) = max(z + b, 0), of which much is known in closed form; None for any other φ."""
        return None

    def arc_cosine_order(self) -> int | None:
        """n where φ(z) = z^n for z > 0, else 0, whose dual is the arc-cosine kernel κ_n; None for any other φ."""
        return None

    def taylor_size(self, i: int) -> arb:
        """|c_i| of the Taylor series φ(z) = Σ c_i z^i, at Arb's current precision; only with a `taylor_radius`."""
        raise SimlabError(f"{self.kind}: its Taylor series is not known")

    @classmethod
    def python_functions(cls) -> dict[Any, dict[str, Any]]:
        """Python functions that are this φ → its fields: ``{np.tanh: {}, math.tanh: {}}`` of tanh."""
        return {}

    @classmethod
    def of_function(cls, function: Any, key: str = "activation") -> Activation:
        """The activation that a function is, told by identity: ``of_function(np.tanh)`` is ``get("tanh")``.

        key: what an error calls it.
        """
        name, fields = kind_of_function(function, key)
        found: Activation = catalogue.get("activations", name)(**fields)
        return found

    def __call__(self, Z: ArrayLike) -> Floats:
        """φ(Z), a new array of Z's shape."""
        return _elementwise.through(self.compiled().phi, self.numbers(), Z)

    def derivative(self, Z: ArrayLike) -> Floats:
        """φ'(Z), a new array of Z's shape."""
        return _elementwise.through(self.compiled().dphi, self.numbers(), Z)

    def both(self, Z: ArrayLike) -> tuple[Floats, Floats]:
        """φ(Z) and φ'(Z), new arrays of Z's shape, by the loop of `tile`."""
        act, a = self.tile()
        D: Floats = np.array(Z, dtype=np.float64, order="C")
        H = np.empty_like(D)
        act(D.reshape(-1), H.reshape(-1), a)
        return H, D

    def tile(self) -> tuple[Callable[..., None], Floats]:
        """(act, a): the compiled loop of `simlab.activations.tiles` for this φ, and its `numbers()`."""
        phi, dphi, _, _ = self.compiled()
        return tiles.loop(phi, dphi, "" if self.has_own_code else self.kind), self.numbers()

    def unit_weight(self) -> float:
        """1/E φ(z)² at unit variance: σ_w² of the normalised family. MATH §3."""
        return _unit_weight(self)


@functools.lru_cache(maxsize=256)
def _unit_weight(activation: Activation) -> float:
    second = activation.compiled().variance(1.0, activation.numbers())
    if not 0.0 < second < np.inf:
        raise SimlabError(f"{activation.kind}: E φ(z)² = {second}: it cannot be normalised; give weight_std")
    return float(1.0 / second)
