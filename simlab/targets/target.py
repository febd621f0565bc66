"""The contract of a target: a random function that is to be learned."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from simlab.core.kinds import Kind

Floats = NDArray[np.float64]
Function = Callable[[Floats], Floats]
"""X (n, d) → values (n,), or (n, k) of a target of several outputs"""


class Target(Kind):
    """A law of functions; noise on their values belongs to the experiment.

    is_radial: draws are `Radial`: functions of ‖x‖ that know their profile.
    is_hierarchy: draws are `Hierarchy`: F + αG(F), with their parts.
    has_neurons: draws are a `NeuronSum` of known neurons and coefficients.
    knows_power: `power` is there.
    """

    lack: ClassVar[str] = "no target of use here"
    is_radial: ClassVar[bool] = False
    is_hierarchy: ClassVar[bool] = False
    has_neurons: ClassVar[bool] = False
    knows_power: ClassVar[bool] = False

    @abstractmethod
    def draw(self, dim: int, rng: np.random.Generator) -> Function:
        """One random target in dimension `dim`. Raises BadInput as `check` does."""

    def check(self, dim: int) -> None:
        """Raise BadInput, naming field and value, where there is no such target in this dimension. Draws nothing."""

    def components(self) -> int | None:
        """Number k of outputs of a target whose values are (n, k); None for one of values (n,)."""
        return None

    def power(self, dim: int, max_degree: int, radius: float = 1.0) -> Floats:
        """E f_k² by degree k = 0 … max_degree, the same for every draw, for x uniform on the sphere of this radius."""
        raise NotImplementedError
