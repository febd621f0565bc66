"""The contract of a kernel: an immutable value that can be called, assembled, decomposed, added and multiplied.

A *leaf* (`Leaf`) evaluates itself on pairs of inputs, given by their norms and correlation. Sums, products and scalings
only combine the values of their leaves, so that one pass over the data serves them all. Kernels are kinds: equality,
hash, pickle and the way from a TOML table come with that. Tables live in a module-level cache, never on the object.

>>> k = 0.5 * kernels.ntk(3) + kernels.laplace(1.0)
>>> k(0.3), k.gram(X), k.spectrum(dim=10, max_degree=20).eigenvalues, k.endpoints().exponent
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from flint import arb
from numpy.typing import ArrayLike, NDArray

from simlab.core import checks
from simlab.core.errors import BadInput
from simlab.core.kinds import Kind, changed_fields

if TYPE_CHECKING:
    from simlab.kernels.spectra.endpoints import Endpoints
    from simlab.kernels.spectra.result import Eigenvalues
    from simlab.kernels.spectra.spectrum import Spectrum

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Pairs:
    """Pairs of inputs of R^dim; pair i has the norms x[rows[i]] and y[columns[i]].

    x : (n,), y : (m,), norms of the inputs on the left and on the right.
    rows, columns : (pairs,), indices into x and y.
    t, s : (pairs,), the correlation u = 1 − t = s − 1 of each pair, t and s accurate to their last digits.
    dim: d.
    """

    x: Floats
    y: Floats
    rows: Integers
    columns: Integers
    t: Floats
    s: Floats
    dim: int

    def part(self, some: slice) -> Pairs:
        """Some of the pairs."""
        rows, columns, t, s = self.rows[some], self.columns[some], self.t[some], self.s[some]
        return Pairs(self.x, self.y, rows, columns, t, s, self.dim)

    @classmethod
    def on_sphere(cls, norm: float, t: Floats, s: Floats, dim: int) -> Pairs:
        """Pairs of inputs that all have this norm."""
        norms, zeros = np.array([norm]), np.zeros(t.size, dtype=np.int64)
        return cls(norms, norms, zeros, zeros, t, s, dim)


class Kernel(Kind):
    """A kernel K(x, y), a function κ(u) of the cosine on the sphere: what all kernels can do."""

    lack: ClassVar[str] = "not a kernel"
    shown: ClassVar[tuple[str, ...]] = (
        "at_cosines",
        "diagonal",
        "endpoints",
        "get_params",
        "gram",
        "set_params",
        "spectrum",
    )

    # What a kind says of itself

    @abstractmethod
    def leaves(self) -> tuple[Leaf, ...]:
        """The kernels whose values this one is made of."""

    @abstractmethod
    def combine(self, values: Mapping[Leaf, Any]) -> Any:
        """This kernel's values from those of its leaves: arrays of floats, or of `arb`, or numbers."""

    @abstractmethod
    def polynomial_degree(self) -> int | None:
        """The degree of κ(u) where it is a polynomial; None where it is none."""

    def linear_terms(self) -> list[tuple[float, Kernel]]:
        """Pairs (a, K) whose sum Σ a K is this kernel: eigenvalues add up in the same way."""
        return [(1.0, self)]

    # What a user asks

    def __call__(self, X: ArrayLike, /, Y: ArrayLike | None = None) -> Any:
        """κ of cosines, or K of inputs, by the number of dimensions of what is given.

        k(u)     a number or a vector of cosines in [−1, 1]: κ(u), entry by entry (`at_cosines`)
        k(X)     a matrix, one input per row: the Gram matrix K(x_i, x_j) : (n, n) (`gram`)
        k(X, Y)  two matrices: K(x_i, y_j) : (n, m)
        k(x, y)  two vectors, one input each: the number K(x, y)
        """
        first = checks.numeric(X, "X", checks.MATRIX)
        if Y is None:
            if first.ndim < 2:
                return self.at_cosines(X)
            if first.ndim == 2:
                return self.gram(first)
            raise BadInput(f"X: an argument of shape {first.shape}: {TAKES}")
        second = checks.numeric(Y, "Y", checks.MATRIX)
        if first.ndim == second.ndim == 1:
            return float(self.gram(first[np.newaxis], second[np.newaxis])[0, 0])
        if first.ndim != 2 or second.ndim != 2:
            raise BadInput(f"X, Y: arguments of shapes {first.shape} and {second.shape}: {TAKES}")
        return self.gram(first, second)

    def at_cosines(self, u: ArrayLike) -> Any:
        """κ(u) entry by entry, for |u| ≤ 1 in an array of any shape; a number for a number.

        On the sphere of MATH §3: of radius 1, or of radius √d for the general recursion.
        """
        cosines = checks.array(u, "u", finite=False)
        wrong = ~(np.abs(cosines) <= 1.0)
        if np.any(wrong):
            value = cosines[wrong].flat[0]
            raise BadInput(f"u = {value}: a cosine must lie in [-1, 1]; inputs are the rows of a matrix, k(X)")
        values = self.profile(1.0 - cosines.ravel(), 1.0 + cosines.ravel())
        return float(values[0]) if cosines.ndim == 0 else values.reshape(cosines.shape)

    def profile(self, t: Floats, s: Floats) -> Floats:
        """κ at u = 1 − t = s − 1, each accurate to its last digit."""
        result: Floats = self.combine({leaf: leaf.profile_leaf(t, s) for leaf in self.leaves()})
        return result

    def gram(self, X: ArrayLike, Y: ArrayLike | None = None, **options: Any) -> NDArray[Any]:
        """K(x_i, y_j) : (n, m), with Y = X where none is given; options as in `simlab.kernels.gram`.

        X : (n, d), Y : (m, d), one input per row.
        """
        from simlab.kernels.gram.assembly import gram

        return gram([self], X, Y, **options)[0]

    def diagonal(self, X: ArrayLike) -> Floats:
        """K(x_i, x_i) : (n,)"""
        from simlab.kernels.gram.assembly import diagonal

        return diagonal(self, X)

    def spectrum(self, dim: int, max_degree: int, *, domain: str = "sphere", rtol: float = 1e-15) -> Spectrum:
        """Eigenvalues at degrees 0 … max_degree.

        dim: d, dimension of the inputs.
        domain: "sphere", S^{d−1}, or "cube", the Boolean cube {±1}^d.
        rtol: largest relative error of an eigenvalue.
        """
        from simlab.kernels.spectra.decompose import decompose

        return decompose(self, dim, max_degree, domain, rtol)

    def endpoints(self) -> Endpoints:
        """The leading non-integer power of κ at u = ±1 and its coefficients: they set the decay. MATH §4."""
        from simlab.kernels.spectra.decompose import expand

        return expand(self)

    def __add__(self, other: Any) -> Kernel:
        from simlab.kernels.sum import sum_of

        return sum_of(self, other) if isinstance(other, Kernel) else NotImplemented

    def __radd__(self, other: Any) -> Kernel:
        """0 + K = K, so that Python's own `sum` works."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __mul__(self, other: Any) -> Kernel:
        from simlab.kernels.product import product_of
        from simlab.kernels.scaled import scaled_by

        if isinstance(other, Kernel):
            return product_of(self, other)
        return (
            scaled_by(self, float(other))
            if isinstance(other, int | float | np.integer | np.floating)
            else NotImplemented
        )

    __rmul__ = __mul__

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Name → value of the fields, as scikit-learn asks for them; `deep` makes no difference."""
        return {name: getattr(self, name) for name in type(self).model_fields}

    def set_params(self, **fields: Any) -> Self:
        """A kernel with these fields changed; this one stays as it is.

        simlab's machines search over ``kernel__depth``. scikit-learn's own estimators do not look at what `set_params`
        returns: with those, search over whole kernels, ``{"kernel": [ntk(2), ntk(3)]}``.
        """
        return type(self)(**(self.get_params() | fields))

    def __sklearn_clone__(self) -> Self:
        return self

    def __repr__(self) -> str:
        """``ntk(depth=3, activation='tanh')``: the call that makes it, defaults left out."""
        return f"{self.kind}({', '.join(f'{name}={_shown(value)}' for name, value in changed_fields(self).items())})"


class Leaf(Kernel):
    """A kernel that evaluates itself.

    A kind of your own defines `evaluate`, `profile_arb` and `at_one_arb` (or `has_arb` as False), `polynomial_degree`,
    and those of the facts below that differ from their defaults. `simlab.kernels.check` compares them with its values.
    """

    def leaves(self) -> tuple[Leaf, ...]:
        return (self,)

    def combine(self, values: Mapping[Leaf, Any]) -> Any:
        return values[self]

    def family(self) -> Hashable:
        """What leaves that one call of `evaluate` can take together have in common."""
        return self

    @staticmethod
    @abstractmethod
    def evaluate(leaves: Sequence[Any], pairs: Pairs) -> Floats:
        """(leaves, pairs): the value of each leaf, all of one family, on each pair of inputs."""

    def profile_leaf(self, t: Floats, s: Floats) -> Floats:
        """κ at u = 1 − t = s − 1, each accurate to its last digit."""
        self.check_inputs(np.ones(1), 1)
        # Of dimension 1 and norm 1 the first layer has x·y/d = u, as on the sphere of radius √d.
        values: Floats = self.evaluate([self], Pairs.on_sphere(1.0, t, s, 1))[0]
        return values

    def has_arb(self) -> bool:
        """Whether `profile_arb` and `at_one_arb` can evaluate it to any precision."""
        return True

    @abstractmethod
    def profile_arb(self, us: list[arb]) -> list[arb]:
        """κ at these cosines, |u| < 1, at Arb's current precision."""

    @abstractmethod
    def at_one_arb(self) -> arb:
        """κ(1) at Arb's current precision."""

    def check_inputs(self, norms: Floats, dim: int) -> None:
        """Refuse inputs of R^dim, of these norms, on which the kernel overflows."""

    def homogeneity(self) -> int | None:
        """h, 0 or 1, where K(x, y) = (‖x‖‖y‖)^h κ(u); None where there is none."""
        return None

    def depends_on_dim(self) -> bool:
        """Whether K(x, y) depends on d beyond the inputs' inner products."""
        return False

    def grading(self) -> int | None:
        """m where κ is analytic in x, θ = (π/2) x^m, at both ends; None where there is none."""
        return 1

    def known_endpoints(self) -> Endpoints | None:
        """The singularities at u = ±1 by formula; None where they are to be found by numbers."""
        return None

    def series_eigenvalues(self, dim: int, max_degree: int, rtol: float) -> Eigenvalues | None:
        """`Eigenvalues` on the sphere by an exact series; None where the kernel has none."""
        return None


TAKES = (
    "a kernel takes cosines (a number or a vector), a matrix of inputs (one per row), two such matrices, or two vectors"
)


def leaves_of(kernels: Iterable[Kernel]) -> tuple[Leaf, ...]:
    """The distinct leaves of several kernels, in order."""
    return tuple(dict.fromkeys(leaf for kernel in kernels for leaf in kernel.leaves()))


def _shown(value: Any) -> str:
    """A field's value; ``'tanh'`` for a kind all of whose fields have their defaults."""
    text = repr(value)
    return repr(text.removesuffix("()")) if isinstance(value, Kind) and text.endswith("()") else text
