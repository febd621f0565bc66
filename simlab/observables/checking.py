"""The contract tests of an observable, also for a kind from another package."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simlab.core.checking import check_value, ensure
from simlab.core.errors import BadInput
from simlab.core.parsing import choose
from simlab.observables.observable import Observable
from simlab.observables.view import Setting, View, check_setting
from simlab.record.schema import Output

Floats = NDArray[np.float64]
SAMPLES, TEST_SAMPLES, VALIDATION_SAMPLES = 9, 60, 7
TWO_LAYER: dict[str, Any] = {"kind": "two_layer", "width": 30, "doubled": True}
THREE_LAYER: dict[str, Any] = {"kind": "three_layer_mean_field", "width": 12, "outer_width": 5}
SQUARED: dict[str, Any] = {"kind": "squared"}
RESIDUAL: dict[str, Any] = {"kind": "resnet3", "width": 6, "outputs": 2}
SCENES: tuple[dict[str, dict[str, Any]], ...] = (
    {"network": TWO_LAYER, "target": {"kind": "relu_teacher"}, "data": {"kind": "uniform_sphere", "dim": 4}},
    {"network": THREE_LAYER, "target": {"kind": "radial_relu"}, "data": {"kind": "ball_fourier", "dim": 4}},
    {"network": TWO_LAYER, "target": {"kind": "ball"}, "data": {"kind": "ball_fourier", "dim": 2}},
    {
        "network": RESIDUAL,
        "target": {"kind": "separation", "size": 2, "alpha": 0.4},
        "data": {"kind": "gaussian", "dim": 4},
    },
    {
        "network": TWO_LAYER,
        "target": {"kind": "parity", "degree": 2},
        "data": {"kind": "boolean_cube", "dim": 5},
        "loss": {"kind": "logistic"},
    },
    {
        "network": RESIDUAL,
        "target": {"kind": "separation", "size": 2, "alpha": 0.4},
        "data": {"kind": "gaussian", "dim": 4},
        "loss": {"kind": "softmax"},
    },
)
"""Small settings. For each loss an observable is measured in the first that its own `check` accepts.

Without `loss` it is squared. Of a loss of classes the labels are one-hot, given as arrays: the class is the target's
largest value.
"""


@dataclass(frozen=True)
class _PopulationView(View):
    """An instant of an exact population flow: a loss, but no training samples."""

    @cached_property
    def train_loss(self) -> float:
        return 0.5 + float(np.mean(self.theta**2))


def check_observable(observable: Observable, view: View | None = None) -> None:
    """Raise AssertionError, one line, where the observable breaks the contract.

    view: an instant to measure at; by default one of a small network that the observable accepts.
    """
    check_value(observable, Observable)
    declared = observable.outputs()
    _check_declared(observable, declared)
    for later in small_views(observable) if view is None else [view]:
        _check_at(observable, later, scene=view is None)


def _check_at(observable: Observable, later: View, scene: bool) -> None:
    """The checks at one instant, and at its flow's start.

    scene: it is one of `SCENES`.
    """
    declared = observable.outputs()
    begun = replace(later, theta=later.theta0, step=0, time=0.0, linear=None if later.linear is None else later.theta0)
    for instant in (later, begun):
        _check_measured(observable, declared, replace(instant, cache={}))
    _check_bits(observable, begun, later)
    if not observable.needs_linearised:
        _check_same(observable, later, replace(later, linear=None), "it reads view.linear; set needs_linearised")
    if not observable.needs_samples and scene:
        _check_measured(observable, declared, _without_samples(later))


def small_views(observable: Observable) -> list[View]:
    """Instants of small flows that the observable accepts, one per loss; AssertionError where it refuses all `SCENES`.

    Labels may be refused at the setting, or by BadInput when they are first seen.
    """
    refused, found = [], dict[str, View]()
    for scene in SCENES:
        for samples in (SAMPLES, 0):
            try:
                view, setting = _scene(scene, samples)
                if view.loss.kind in found:
                    break
                check_setting([observable], setting)
                view = view if samples else _without_samples(view)
                observable.measure(replace(view, theta=view.theta.copy(), cache={}))
            except (ValueError, BadInput) as error:
                refused.append(str(error))
                continue
            found[view.loss.kind] = view
    if found:
        return list(found.values())
    raise AssertionError(f"{observable!r}: give a view to measure at; all that were tried are refused: {refused[0]}")


def _scene(scene: dict[str, dict[str, Any]], samples: int) -> tuple[View, Setting]:
    """An instant, and its setting, of the tables `scene` with this number of training samples."""
    rng = np.random.default_rng(0)
    rooms = {"network": "networks", "target": "targets", "data": "data", "loss": "losses"}
    tables = {"loss": SQUARED} | scene
    network, target, law, loss = (choose(room, tables[key], key) for key, room in rooms.items())
    dim = law.dimension()
    drawn, theta0 = target.draw(dim, rng), network.initialise(dim, rng)
    given = loss.labels == "classes"

    def labels(X: Floats) -> Floats:
        values: Floats = drawn(X)
        return np.eye(values.shape[1])[np.argmax(values, axis=1)] if given else values

    X, X_test, X_validation = (law.sample(count, rng) for count in (SAMPLES, TEST_SAMPLES, VALIDATION_SAMPLES))
    view = View(
        theta=theta0 + 0.1 * rng.standard_normal(theta0.size), theta0=theta0, X=X, y=labels(X), X_test=X_test,
        y_test=labels(X_test), X_validation=X_validation, y_validation=labels(X_validation), network=network,
        alpha=2.0, step=3, time=0.6, step_size=0.2, data=law,
        target=None if given else drawn, linear=theta0 - 0.1, loss=loss,
    )  # fmt: skip
    known = None if given else target
    return view, Setting(network, known, law, samples, TEST_SAMPLES, VALIDATION_SAMPLES, loss)


def _without_samples(view: View) -> View:
    """The same instant in an exact population flow."""
    given = {one.name: getattr(view, one.name) for one in fields(view)}
    return _PopulationView(**(given | {"X": view.X[:0], "y": view.y[:0], "linear": None, "cache": {}}))


def _check_declared(observable: Observable, declared: dict[str, Output]) -> None:
    ensure(declared, f"{observable!r}.outputs() is empty: it must name what is measured")
    for name, output in declared.items():
        ensure(isinstance(output, Output), f"{observable!r}.outputs(): {name} is no simlab.record.schema.Output")
        ensure(output.description, f"{observable!r}.outputs(): {name} has no description")
        ensure(name.isidentifier(), f"{observable!r}.outputs(): {name!r} is no name; use letters, digits and _")


def _check_measured(observable: Observable, declared: dict[str, Output], view: View) -> None:
    given = {name: value.copy() for name in ("theta", "theta0", "X", "y") if (value := getattr(view, name)) is not None}
    measured = observable.measure(view)
    if different := sorted(set(measured).symmetric_difference(declared)):
        where = "outputs() alone" if different[0] in declared else "measure() alone"
        raise AssertionError(f"{observable!r}: {different[0]} is named by {where}")
    for name, value in given.items():
        ensure(np.array_equal(getattr(view, name), value), f"{observable!r}.measure changed view.{name}")
    for name, output in declared.items():
        value = np.asarray(measured[name])
        ensure(
            value.ndim == len(output.inner),
            f"{observable!r}: {name} has shape {value.shape}; declared with the dimensions {output.inner} per record",
        )
        ensure(np.all(np.isfinite(value)), f"{observable!r}: {name} is not finite at step {view.step}")
        for size, dim in zip(value.shape, output.inner, strict=True):
            ensure(
                dim not in output.coords or len(output.coords[dim]) == size,
                f"{observable!r}: {name} has {size} entries along {dim}; its coordinates are another number",
            )


def _bits(measured: dict[str, Any]) -> dict[str, bytes]:
    """Name → the bytes of what was measured: equal only if every bit is."""
    return {name: np.asarray(value).tobytes() for name, value in measured.items()}


def _check_same(observable: Observable, first: View, second: View, says: str) -> None:
    one, other = (_bits(observable.measure(replace(view, cache={}))) for view in (first, second))
    ensure(one == other, f"{observable!r}: {says}")


def _check_bits(observable: Observable, begun: View, later: View) -> None:
    """The same bits when measured twice, and when the cache of earlier records is lost, as after a stop."""
    _check_same(observable, later, later, "measured twice at one instant, it gives other numbers")
    cache: dict[str, Any] = {}
    observable.measure(replace(begun, cache=cache))
    after, fresh = (_bits(observable.measure(replace(later, cache=known))) for known in (cache, {}))
    ensure(after == fresh, f"{observable!r}: what it keeps in view.cache from an earlier record changes the numbers")
