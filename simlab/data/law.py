"""The contract of an input law: its dimension and independent samples of it."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from simlab.core.kinds import Kind

Floats = NDArray[np.float64]


class Law(Kind):
    """Where inputs come from.

    finite: a stored set of a fixed number of rows; training and test rows of it are kept apart (`data.draw`).
    heavy_tail: E‖x‖ = ∞, so that a function that grows linearly has infinite risk.
    """

    lack: ClassVar[str] = "no law of inputs"
    finite: ClassVar[bool] = False
    heavy_tail: ClassVar[bool] = False

    @abstractmethod
    def dimension(self) -> int:
        """The dimension d of an input."""

    @abstractmethod
    def sample(self, n: int, rng: np.random.Generator) -> Floats:
        """X : (n, d). Rows are drawn one after another: the first 100 of 200 are those of 100 (but see `together`)."""

    def together(self) -> bool:
        """Whether all n rows are one design, of which the first few are no sample."""
        return False

    def require(self) -> None:
        """Raise BadInput where files that the law reads are not there. Asked before a run writes anything."""
