"""Base of the targets that read labels: they are known at the rows of a stored set and nowhere else."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from simlab.core import checks
from simlab.core.errors import BadInput, shown
from simlab.targets.target import Floats, Function, Target


class OfLabels(Target):
    """Values are made of labels by `values_of`; what `draw` gives refuses every input."""

    lack: ClassVar[str] = "does not read labels"
    shown: ClassVar[tuple[str, ...]] = (*Target.shown, "check_classes", "values_of")
    reads_labels: ClassVar[bool] = True

    def draw(self, dim: int, rng: np.random.Generator) -> Function:
        self.checked(dim, rng)

        def unknown(X: Floats) -> Floats:
            checks.matrix(X)
            raise BadInput(f"target {self.kind}: made of labels, known at the stored rows alone; use values_of(labels)")

        return unknown

    @abstractmethod
    def values_of(self, labels: NDArray[np.int64]) -> Floats:
        """As in the contract."""

    @abstractmethod
    def check_classes(self, count: int) -> None:
        """As in the contract."""


def checked_labels(labels: Any, below: int | None = None, field: str = "") -> NDArray[np.int64]:
    """Classes (n,) as int64; BadInput where they are no whole numbers from 0 on.

    below: number of classes; any by default.
    field: name of the target's field that says so.
    """
    found = checks.array(labels, "labels", ndim=1, dtype=None)
    bad = (found < 0) | (found != np.floor(found))
    if below is not None:
        bad |= found >= below
    if bad.any():
        at = int(np.argmax(bad))
        must = "0 or more" if below is None else f"below {field} = {below}"
        raise checks.BadData(f"labels[{at}] = {shown(found[at].item())}: must be a class, a whole number {must}")
    return found.astype(np.int64)
