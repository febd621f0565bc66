"""The arrays that a user trains on, checked: training data and, if given, test and validation data."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simlab.core import checks
from simlab.core.checks import BadData
from simlab.experiments.course import Samples
from simlab.losses.loss import Loss

Floats = NDArray[np.float64]
Pair = tuple[Any, Any]


class Arrays(Samples):
    """Inputs X : (n, d) and values y : (n,) or (n, c), in float64; with no rows for data that were not given."""

    @property
    def dim(self) -> int:
        """Dimension d of the inputs."""
        return int(self.X.shape[1])

    @property
    def columns(self) -> int:
        """Number c of values per input."""
        return 1 if self.y.ndim == 1 else int(self.y.shape[1])


def checked(X: Any, y: Any, test: Pair = (None, None), validation: Pair = (None, None)) -> Arrays:
    """Arrays as the compiled loops need them: float64, C order, writable. A single column of values becomes a vector.

    X: inputs, (n, d).
    y: values, (n,) or (n, c).
    test: (inputs, values); (None, None) if there are none.
    validation: the same for validation data.
    """
    inputs, values = _pair(X, y, "")
    dim = inputs.shape[1]
    optional = [_optional(pair, name, dim, values) for pair, name in ((test, "_test"), (validation, "_validation"))]
    return Arrays(inputs, values, *optional[0], *optional[1])


def encoded(arrays: Arrays, loss: Loss, outputs: int) -> Arrays:
    """The arrays with labels as the loss takes them; BadData where they do not fit, also those of one class only."""
    names = ("y", "y_test", "y_validation")
    found = {name: loss.encode(getattr(arrays, name), outputs, name, several=name == "y") for name in names}
    return replace(arrays, **{name: c_writable(y[:, 0] if outputs == 1 else y) for name, y in found.items()})


def c_writable(values: Floats) -> Floats:
    """The values in C order and writable, the only form that compiled loops take; copied only if they are not so."""
    return np.require(values, requirements=["C", "W"])


def _pair(X: Any, y: Any, name: str, dim: int | None = None) -> tuple[Floats, Floats]:
    """Inputs and values, checked against each other.

    name: suffix of the arguments' names in errors: "", "_test" or "_validation".
    dim: dimension that the inputs must have; None for any.
    """
    inputs = c_writable(checks.matrix(X, f"X{name}", dim=dim))
    n = len(inputs)
    if not n:
        raise BadData(f"X{name} has shape {inputs.shape}: must have one row or more")
    values = c_writable(checks.array(y, f"y{name}", ndim=(1, 2), must=f"({n},) or ({n}, outputs)"))
    if len(values) != n or not values.size:
        raise BadData(f"y{name} has shape {values.shape}: must be ({n},) or ({n}, outputs), one row per row of X{name}")
    return inputs, values[:, 0].copy() if values.shape[1:] == (1,) else values


def _optional(pair: Pair, name: str, dim: int, like: Floats) -> tuple[Floats, Floats]:
    """As `_pair`, with as many columns of values as `like`; arrays with no rows for (None, None)."""
    X, y = pair
    if X is None and y is None:
        return np.empty((0, dim)), np.empty((0, *like.shape[1:]))
    for missing, given, value in (("X", "y", X), ("y", "X", y)):
        if value is None:
            raise BadData(f"{missing}{name} is not given: {given}{name} alone is of no use, give both or neither")
    inputs, values = _pair(X, y, name, dim)
    if values.shape[1:] != like.shape[1:]:
        raise BadData(f"y{name} has shape {values.shape}: must have as many columns as y, of shape {like.shape}")
    return inputs, values
