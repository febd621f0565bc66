"""The contract of a target: a random function that is to be learned.

>>> from simlab import targets
>>> kind = targets.ReLUTeacher(neurons=3)
>>> f = kind.draw(dim=10, rng=np.random.default_rng(0))     # one function
>>> f(X)                                                    # (n,)
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from simlab.core import checks
from simlab.core.errors import BadInput
from simlab.core.kinds import Kind

if TYPE_CHECKING:
    from simlab.activations.activation import Activation

Floats = NDArray[np.float64]
Function = Callable[[Floats], Floats]
"""X (n, d) → values (n,); (n, k) of a target with k outputs."""
ValueKind = Literal["real", "signs", "one_hot"]


@runtime_checkable
class OfCoordinates(Protocol):
    """A function that knows which coordinates of x it depends on.

    coordinates: their indices, from 0; None where it depends on all.
    """

    coordinates: NDArray[np.int64] | None

    def __call__(self, X: Floats) -> Floats: ...


class Target(Kind):
    """A law of random functions. Noise on their values belongs to the experiment.

    is_radial: draws are `targets.Radial`: functions of ‖x‖ that know their profile.
    is_hierarchy: draws are `targets.Hierarchy`: F + αG(F), with their parts.
    has_neurons: draws are `targets.NeuronSum`: their neurons and coefficients are known.
    knows_coordinates: draws are `OfCoordinates` and tell which coordinates of x they depend on.
    knows_power: `power` is defined.
    reads_labels: values are made of the labels of a stored set, by `values_of`; draws refuse every input.
    """

    lack: ClassVar[str] = "no target of use here"
    shown: ClassVar[tuple[str, ...]] = ("check", "components", "draw", "power")
    is_radial: ClassVar[bool] = False
    is_hierarchy: ClassVar[bool] = False
    has_neurons: ClassVar[bool] = False
    knows_coordinates: ClassVar[bool] = False
    knows_power: ClassVar[bool] = False
    reads_labels: ClassVar[bool] = False

    @abstractmethod
    def draw(self, dim: int, rng: np.random.Generator) -> Function:
        """One random function of inputs in dimension `dim`.

        Its first line calls `checked`, so that it raises BadInput exactly where `check` does.
        """

    def check(self, dim: int) -> None:
        """Raise BadInput, naming field and value, where there is no such target in this dimension. Draws nothing.

        The message begins with "dim" if the dimension is wrong, otherwise with the field of the target.
        """
        checks.dimension(dim)

    def checked(self, dim: Any, rng: Any) -> int:
        """The dimension, after a check of the generator and `check`: the first line of every `draw`."""
        checks.generator(rng)
        self.check(dim)
        return int(dim)

    def check_in_spec(self, dim: int, key: str = "target") -> None:
        """`check`, for a spec: the error names the table, ``target.coordinate = 9`` or ``data.dim = 1``.

        key: name of the table that holds the target.
        """
        try:
            self.check(dim)
        except BadInput as error:
            raise BadInput(f"{'data' if str(error).startswith('dim ') else key}.{error}") from None

    def draw_in_spec(self, dim: int, rng: np.random.Generator, key: str = "target") -> Function:
        """`draw`, for a spec: errors as of `check_in_spec`."""
        self.check_in_spec(dim, key)
        return self.draw(dim, rng)

    def components(self) -> int | None:
        """Number k of outputs of a target whose values are (n, k); None for one of values (n,)."""
        return None

    def value_kind(self) -> ValueKind:
        """What values are: "signs" where all are ±1 or all are 0 and 1, "one_hot" rows, otherwise "real" numbers.

        Of functions on the Boolean cube: at inputs of the cube, up to rounding.
        """
        return "real"

    def values_of(self, labels: NDArray[np.int64]) -> Floats:
        """Values (n,) or (n, k) at rows with these labels; only where `reads_labels`.

        labels: class of each row, (n,): 0, 1, …
        """
        raise NotImplementedError

    def check_classes(self, count: int) -> None:
        """Raise BadInput, naming field and value, where data with classes 0 … count − 1 do not fit the target.

        Only where `reads_labels`. It is about the classes of the whole set: a few rows of it may lack some.
        """
        raise NotImplementedError

    def check_function(self) -> None:
        """Raise ValueError where the target reads labels, for experiments that ask for values at any input."""
        if self.reads_labels:
            raise ValueError(
                f"target.kind = {self.kind!r}: known at labelled rows alone; must be a function of the inputs here"
            )

    def check_scalar(self) -> None:
        """Raise ValueError where values are (n, k) or made of labels, for experiments with one output."""
        self.check_function()
        if (k := self.components()) is not None:
            raise ValueError(f"target.kind = {self.kind!r}: it has {k} outputs; must have one value here")

    def power(self, dim: int, max_degree: int, radius: float = 1.0) -> Floats:
        """E f_k², k = 0 … max_degree, of the part f_k of degree k: (max_degree + 1,). The same for every draw.

        dim: dimension d of the inputs.
        radius: x is uniform on the sphere of this radius.
        """
        raise NotImplementedError

    def break_radii(self) -> tuple[float, ...]:
        """Radii, increasing, where the profile or a derivative of it jumps; only where `is_radial`."""
        raise NotImplementedError

    def neuron_count(self) -> int:
        """Number k of neurons; only where `has_neurons`."""
        return 1

    def neuron_activation(self) -> Activation:
        """φ of the neurons; only where `has_neurons`."""
        raise NotImplementedError


def check_power(dim: Any, max_degree: Any, radius: Any) -> tuple[int, int, float]:
    """The arguments of `power`, refused where they are out of range."""
    dim, max_degree = checks.dimension(dim, least=2), checks.degree(max_degree)
    return dim, max_degree, checks.number(radius, "radius", above=0)
