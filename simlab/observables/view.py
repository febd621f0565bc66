"""What an observable sees: `View`, one instant of a flow; before the run, `Setting`, what is going to run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from simlab.core import catalogue
from simlab.core.errors import one_of
from simlab.losses.loss import Loss
from simlab.networks.network import Network, ThreeLayer, Trainable

if TYPE_CHECKING:
    from simlab.data.law import Law
    from simlab.observables.observable import Observable
    from simlab.targets.target import Target

Floats = NDArray[np.float64]
T = TypeVar("T")
ANY_DIM = 8
"""Dimension for checks that do not depend on it: that of stored data is not known where their files are missing."""


def _squared() -> Loss:
    found: Loss = catalogue.get("losses", "squared")()
    return found


@dataclass(frozen=True)
class View:
    """One instant of a flow.

    theta: weights now, (size,).
    theta0: weights at the start, (size,).
    X, y: training inputs (n, d) and labels (n,), or (n, c) where there are several outputs. Signs are ±1, classes
        one-hot.
    X_test, y_test: test samples, as the training samples.
    network: what is trained.
    alpha: output scale α: the prediction is α f.
    X_validation, y_validation: samples that a setting is chosen by; None where there are none.
    step: number of steps made.
    time: time passed; of a descent the sum of the step sizes.
    step_size: η of a full-batch descent of constant step; None for any other flow.
    data: law of the inputs; None where they were given as arrays.
    target: the function that gave y, as drawn; None where y was given.
    linear: weights of the linearised network in the same flow, (size,); None where no observable needs it.
    loss: ℓ, which the flow descends on.
    cache: what observables keep from record to record. It may be empty at any record; then they compute it again.
    """

    theta: Floats
    theta0: Floats
    X: Floats
    y: Floats
    X_test: Floats
    y_test: Floats
    network: Trainable
    alpha: float
    X_validation: Floats | None = None
    y_validation: Floats | None = None
    step: int = 0
    time: float = 0.0
    step_size: float | None = None
    data: Law | None = None
    target: Callable[[Floats], Floats] | None = None
    linear: Floats | None = None
    loss: Loss = field(default_factory=_squared)
    cache: dict[str, Any] = field(default_factory=dict)

    @property
    def dim(self) -> int:
        """Dimension d of an input."""
        return int(self.X.shape[1])

    def predict(self, X: Floats, theta: Floats | None = None) -> Floats:
        """α f(x_i) : (n,) or (n, c), with the weights `theta`, by default those of now."""
        f: Floats = self.alpha * self.network.forward(self.theta if theta is None else theta, X)
        return f

    def cached(self, key: str, compute: Callable[[], T]) -> T:
        """``compute()``, kept in the cache: for what does not change along the flow.

        key: a name that no other observable uses.
        """
        if key not in self.cache:
            self.cache[key] = compute()
        found: T = self.cache[key]
        return found

    @cached_property
    def train_loss(self) -> float:
        """(1/n) Σ ℓ(α f(x_i), y_i) over the training samples."""
        return self.mean_loss(self.X, self.y)

    def mean_loss(self, X: Floats, y: Floats) -> float:
        """(1/n) Σ ℓ(α f(x_i), y_i); NaN without data."""
        return self.loss.mean(*self.columns(X, y)) if len(y) else float("nan")

    def losses(self, X: Floats, y: Floats) -> Floats:
        """ℓ(α f(x_i), y_i) : (n,)"""
        return self.loss.value(*self.columns(X, y)) if len(y) else np.empty(0)

    def columns(self, X: Floats, y: Floats) -> tuple[Floats, Floats]:
        """α f(x_i) and y_i, both (n, c), as a `Loss` takes them; n ≥ 1."""
        return self.predict(X).reshape(len(y), -1), y.reshape(len(y), -1)

    def squares(self, X: Floats, y: Floats) -> Floats:
        """‖α f(x_i) − y_i‖² : (n,)"""
        residual = (self.predict(X) - y).reshape(len(y), -1)
        squares: Floats = np.einsum("ic,ic->i", residual, residual)
        return squares


@dataclass(frozen=True)
class Setting:
    """What is about to run, for the checks of its observables.

    network: what is trained.
    target: the kind of the target; None where y is given as an array.
    data: law of the inputs; None where they are given as an array.
    samples: number of training samples; 0 in an exact population flow.
    test_samples: number of test samples.
    validation_samples: number of samples that a setting is chosen by.
    loss: ℓ, which the flow descends on.
    """

    network: Network
    target: Target | None
    data: Law | None
    samples: int
    test_samples: int
    validation_samples: int = 0
    loss: Loss = field(default_factory=_squared)

    @property
    def outputs(self) -> int:
        """Number of outputs that are learned."""
        return self.network.output_count() if self.target is None else self.target.components() or 1

    def require_target(self, observable: str) -> Target:
        """The target; ValueError where there is none."""
        if self.target is None:
            raise ValueError(f"observables: {observable} needs the target that gave y; training on arrays has none")
        return self.target

    def require_law(self, observable: str) -> Law:
        """The law of the inputs; ValueError where there is none."""
        if self.data is None:
            raise ValueError(f"observables: {observable} needs the law of the inputs; training on arrays has none")
        return self.data


def check_setting(observables: Iterable[Observable], setting: Setting) -> None:
    """Raise ValueError, one line with the key, where an observable makes no sense here, or two record one name."""
    names = [name for observable in observables for name in observable.outputs()]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"observables: {twice[0]} is recorded by two of them; name each once")
    for observable in observables:
        if setting.outputs > 1 and not observable.several_outputs:
            what = "the network" if setting.target is None else f"target.kind = {setting.target.kind!r}"
            raise ValueError(f"observables: {observable.kind} is of one output; {what} has {setting.outputs}")
        _check_loss(observable, setting.loss)
        observable.check(setting)


def _check_loss(observable: Observable, loss: Loss) -> None:
    """Raise ValueError where the observable makes no sense with the loss, by `Observable.losses`."""

    def fits(cls: type[Loss] | Loss) -> bool:
        return observable.losses == "any" or cls.quadratic or (observable.losses == "real" and cls.labels == "real")

    if not fits(loss):
        what = "the squared loss" if observable.losses == "squared" else "a loss of real labels"
        allowed = one_of(catalogue.able("losses", fits))
        raise ValueError(f"loss.kind = {loss.kind!r}: {observable.kind} needs {what} (allowed: {allowed})")


def lacks(network: Network, observable: str, what: str, able: Callable[[type[Any]], bool] | type) -> ValueError:
    """The error of an observable that needs something which the network does not have.

    observable: kind of the observable.
    what: what it needs, a noun.
    able: tells which classes have it, as in `catalogue.able`.
    """
    allowed = one_of(catalogue.able("networks", able))
    return ValueError(f"network.kind = {network.kind!r}: {observable} needs its {what} ({allowed})")


def three_layers(network: Network, observable: str) -> ThreeLayer:
    """The network, if it is a mean-field net of three layers; ValueError for any other.

    observable: kind of the observable that needs it.
    """
    if not isinstance(network, ThreeLayer):
        raise lacks(network, observable, "three layers", ThreeLayer)
    return network


def check_neurons(network: Network, observable: str) -> None:
    """Raise ValueError for a network that is no sum of known neurons.

    observable: kind of the observable that needs them.
    """
    if not network.has_neurons:
        raise lacks(network, observable, "neurons", lambda cls: bool(cls.has_neurons))
