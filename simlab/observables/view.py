"""What an observable may look at: one instant of a flow, and before it the setting that it will be used in."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simlab.core import lookup
from simlab.core.errors import one_of
from simlab.core.params import Params, kind_of, module_of

Floats = NDArray[np.float64]
ANY_DIM = 8  # for checks that do not depend on the dimension, which stored data tell only where they are


@dataclass(frozen=True)
class View:
    """One instant: weights now (`theta`) and at the start, data, the network and its output scale α, and

    - `X_validation`, `y_validation`: those samples that choose a setting, none by default;

    - `step`, `time`: steps made, and time passed (the sum of the step sizes);
    - `step_size`: η of a full-batch descent of constant step; None for a flow without steps, or of another kind;
    - `data`: the law of the inputs, its parameters;
    - `target`: the function that gave y, as drawn; it has `neurons` and `coefficients` where it is a teacher;
    - `linear`: θ of the linearised network trained beside this one, if an observable needs it;
    - `cache`: what observables keep from record to record; it may be empty at any record, and is derived again then.
    """

    theta: Floats
    theta0: Floats
    X: Floats
    y: Floats
    X_test: Floats
    y_test: Floats
    network: Params
    alpha: float
    X_validation: Floats | None = None
    y_validation: Floats | None = None
    step: int = 0
    time: float = 0.0
    step_size: float | None = None
    data: Params | None = None
    target: Callable[[Floats], Floats] | None = None
    linear: Floats | None = None
    cache: dict[str, Any] = field(default_factory=dict)

    @property
    def module(self) -> ModuleType:
        return module_of(self.network)

    @property
    def dim(self) -> int:
        return int(self.X.shape[1])

    def predict(self, X: Floats, theta: Floats | None = None) -> Floats:
        """α f(x_i) : (n,) or (n, c), at `theta` or the weights now"""
        f: Floats = self.alpha * self.module.forward(self.network, self.theta if theta is None else theta, X)
        return f

    def once(self, key: str, make: Callable[[], Any]) -> Any:
        """What does not change along the flow: made at the first record that asks for it."""
        if key not in self.cache:
            self.cache[key] = make()
        return self.cache[key]

    @cached_property
    def train_loss(self) -> float:
        return self.half_mean_square(self.X, self.y)

    def half_mean_square(self, X: Floats, y: Floats) -> float:
        """(1/2n) Σ ‖α f(x_i) − y_i‖²; NaN without data."""
        if not len(y):
            return float("nan")
        residual = (self.predict(X) - y).ravel()
        return float(residual @ residual) / (2 * len(y))

    def squares(self, X: Floats, y: Floats) -> Floats:
        """‖α f(x_i) − y_i‖² : (n,)"""
        residual = (self.predict(X) - y).reshape(len(y), -1)
        squares: Floats = np.einsum("ic,ic->i", residual, residual)
        return squares


@dataclass(frozen=True)
class Setting:
    """What an experiment is about to run, for the checks of its observables."""

    network: Params
    target: Params
    data: Params
    samples: int
    test_samples: int
    validation_samples: int = 0

    @property
    def outputs(self) -> int:
        return self.target.components() or 1

    @property
    def dim(self) -> int:
        return int(module_of(self.data).dimension(self.data))


def check(observables: Iterable[Params], setting: Setting) -> None:
    """Refuses (ValueError, one line with the key) observables that make no sense here, or two of one name."""
    names = [name for o in observables for name in module_of(o).outputs(o)]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"observables: {twice[0]} is recorded by two of them; name each once")
    for observable in observables:
        module = module_of(observable)
        if setting.outputs > 1 and not getattr(module, "SEVERAL_OUTPUTS", False):
            raise ValueError(
                f"observables: {kind_of(observable)} is of one output; target.kind = {kind_of(setting.target)!r} "
                f"has {setting.outputs}"
            )
        if hasattr(module, "check"):
            module.check(observable, setting)


def check_able(network: Params, function: str, observable: str) -> None:
    """Refuses a network whose kind does not define what the observable asks of it."""
    if not hasattr(module_of(network), function):
        able = [kind for kind in lookup.kinds("networks") if hasattr(lookup.get("networks", kind), function)]
        raise ValueError(f"network.kind = {kind_of(network)!r}: {observable} needs its {function} ({one_of(able)})")


def need(observables: Iterable[Params], what: str) -> bool:
    """Whether one of them needs this of the experiment, such as "linearised"."""
    return any(what in getattr(module_of(o), "NEEDS", ()) for o in observables)
