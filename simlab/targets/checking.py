"""The contract tests of a target, also for a kind from another package."""

from __future__ import annotations

from typing import get_args

import numpy as np

from simlab.core.checking import check_value, ensure
from simlab.core.errors import BadInput
from simlab.sphere.power import degree_power
from simlab.targets.boolean_function import OnTheCube
from simlab.targets.hierarchy import Hierarchy
from simlab.targets.neuron_sum import NeuronSum
from simlab.targets.radial_function import Radial
from simlab.targets.target import Floats, Function, OfCoordinates, Target, ValueKind

DIMS = (1, 2, 3, 4, 5, 6, 8, 10, 17, 40)
"""Dimensions in which `check` and `draw` are compared."""
STANDARD_ERRORS = 6.0
"""An estimate of the power may differ from the claimed power by this many standard errors."""
POWER_INPUTS = 2000
"""Number of inputs of that estimate."""
RADII = (1.0, 0.5, 3.0)
"""Spheres on which the power is estimated."""


KIND_INPUTS = 200
"""Number of inputs at which `value_kind` is checked."""
VALUE_KINDS = get_args(ValueKind)


def check_target(target: Target) -> None:
    """Raise AssertionError, one line, where this target breaks the contract."""
    check_value(target, Target)
    who = repr(target)
    possible = [dim for dim in DIMS if _check_refusals(target, dim, who)]
    ensure(possible, f"{who}: refused in every dimension of {DIMS}")
    dim = next((dim for dim in possible if dim >= 5), possible[-1])
    overrides = type(target).values_of is not Target.values_of
    ensure(
        target.reads_labels == overrides, f"{who}.reads_labels = {target.reads_labels}: but values_of says {overrides}"
    )
    if target.reads_labels:
        _check_of_labels(target, dim, who)
        return
    _check_draws(target, dim, who)
    if target.knows_power and dim >= 2:
        _check_power(target, dim, who)


def _refusal(target: Target, dim: int, drawing: bool) -> str | None:
    """The error line of `draw` (with drawing=True) or of `check` in this dimension; None where there is no error."""
    try:
        if drawing:
            target.draw(dim, np.random.default_rng(0))
        else:
            target.check(dim)
    except BadInput as error:
        return str(error)
    return None


def _check_refusals(target: Target, dim: int, who: str) -> bool:
    """Whether the target accepts this dimension; AssertionError where `check` and `draw` differ."""
    by_check, by_draw = _refusal(target, dim, drawing=False), _refusal(target, dim, drawing=True)
    ensure(by_check == by_draw, f"{who}, dim = {dim}: check says {by_check!r}, draw {by_draw!r}")
    ensure("\n" not in (by_check or ""), f"{who}.check({dim}): its message has several lines")
    return by_check is None


def _check_draws(target: Target, dim: int, who: str) -> None:
    rng, k = np.random.default_rng(1), target.components()
    f, again, other = (target.draw(dim, generator) for generator in (rng, *map(np.random.default_rng, (1, 2))))
    is_fixed = rng.random() == np.random.default_rng(1).random()  # the first draw took no random number
    X = np.random.default_rng(0).standard_normal((8, dim))
    values, shape = f(X), (8,) if k is None else (8, k)
    ensure(values.shape == shape, f"{who}: values of 8 inputs have shape {values.shape}; must be {shape}")
    ensure(values.dtype == np.float64, f"{who}: values are {values.dtype}; must be float64")
    ensure(np.array_equal(values, again(X)), f"{who}.draw: the same generator gave another function")
    ensure(np.allclose(values[::-1], f(X[::-1]), rtol=1e-13), f"{who}: a value depends on the other inputs")
    ensure(
        np.array_equal(values, other(X)) == is_fixed,
        f"{who}.draw: {'it takes no random number but is random' if is_fixed else 'two generators gave one function'}",
    )
    _check_facts(target, f, who)
    _check_value_kind(target, f(_inputs_of_kind(target, dim)), who)
    if isinstance(f, NeuronSum):
        same = target.neuron_activation() == f.activation
        ensure(same, f"{who}.neuron_activation(): but a draw has {f.activation!r}")


def _check_facts(target: Target, f: Function, who: str) -> None:
    for fact, holds in _facts(target, f).items():
        ensure(getattr(target, fact) == holds, f"{who}.{fact} = {not holds}: but a draw says {holds}")


def _inputs_of_kind(target: Target, dim: int) -> Floats:
    """Inputs at which `value_kind` holds: corners of the cube for functions on it, points all over the space else."""
    rng = np.random.default_rng(3)
    if isinstance(target, OnTheCube):
        corners: Floats = rng.choice([-1.0, 1.0], size=(KIND_INPUTS, dim)) / target.sign_factor(dim)
        return corners
    # Radii over the decades, so that functions of the radius show all their values.
    return rng.standard_normal((KIND_INPUTS, dim)) * np.logspace(-2, 2, KIND_INPUTS)[:, np.newaxis]


def _check_value_kind(target: Target, values: Floats, who: str) -> None:
    kind = target.value_kind()
    ensure(kind in VALUE_KINDS, f"{who}.value_kind() = {kind!r}: must be one of {', '.join(VALUE_KINDS)}")
    near = {one: np.isclose(values, one, rtol=1e-12, atol=0.0) for one in (-1.0, 0.0, 1.0)}
    if kind == "signs":
        fits = bool((near[-1.0] | near[1.0]).all() or (near[0.0] | near[1.0]).all())
        ensure(fits, f"{who}.value_kind() = 'signs': but values are neither all ±1 nor all 0 and 1")
    if kind == "one_hot":
        fits = values.ndim == 2 and bool((near[0.0] | near[1.0]).all() and (near[1.0].sum(axis=1) == 1).all())
        ensure(fits, f"{who}.value_kind() = 'one_hot': but values are no one-hot rows")


def _check_of_labels(target: Target, dim: int, who: str) -> None:
    f, k = target.draw(dim, np.random.default_rng(1)), target.components()
    try:
        f(np.ones((3, dim)))
    except BadInput as error:
        ensure("\n" not in str(error), f"{who}: what it draws refuses inputs in several lines")
    else:
        raise AssertionError(f"{who}.reads_labels = True: but a draw has values at inputs")
    _check_facts(target, f, who)
    labels = np.arange(20) % (k or 10)
    values, shape = target.values_of(labels), (20,) if k is None else (20, k)
    ensure(values.shape == shape, f"{who}: values of 20 labels have shape {values.shape}; must be {shape}")
    ensure(values.dtype == np.float64, f"{who}: values are {values.dtype}; must be float64")
    ensure(np.array_equal(values[::-1], target.values_of(labels[::-1])), f"{who}: a value depends on the other labels")
    ensure(target.values_of(labels[:0]).shape == (0, *shape[1:]), f"{who}: values of no labels; must be none")
    _check_value_kind(target, values, who)


def _facts(target: Target, f: Function) -> dict[str, bool]:
    """Fact → whether it holds of the drawn function f."""
    return {
        "is_radial": isinstance(f, Radial),
        "is_hierarchy": isinstance(f, Hierarchy),
        "has_neurons": isinstance(f, NeuronSum),
        "knows_coordinates": isinstance(f, OfCoordinates) and f.coordinates is not None,
        "knows_power": type(target).power is not Target.power,
    }


def _check_power(target: Target, dim: int, who: str) -> None:
    """`power` against an estimate over pairs of inputs, on several spheres; more degrees do not change the first."""
    for radius in RADII:
        X: Floats = np.random.default_rng(2).standard_normal((POWER_INPUTS, dim))
        X *= radius / np.linalg.norm(X, axis=1, keepdims=True)
        claimed = target.power(dim, 4, radius)
        got = degree_power(target.draw(dim, np.random.default_rng(1)), dim, 4, X)
        ensure(claimed.shape == (5,), f"{who}.power(…, max_degree=4) has shape {claimed.shape}; must be (5,)")
        more = target.power(dim, 60, radius)
        ensure(np.allclose(more[:5], claimed, rtol=1e-10, atol=1e-16), f"{who}.power: other with max_degree=60 than 4")
        # 1e-12: of an exact harmonic the standard error can be 0, and only rounding is left.
        wrong = np.abs(got.power - claimed) > STANDARD_ERRORS * got.errors + 1e-12
        if wrong.any():
            k = int(np.argmax(wrong))
            raise AssertionError(
                f"{who}.power: {claimed[k]:.6g} in degree {k} at radius {radius}, but an estimate over {POWER_INPUTS} "
                f"inputs is {got.power[k]:.6g} ± {got.errors[k]:.2g}"
            )
        ensure(
            more.sum() <= got.total + STANDARD_ERRORS * got.total_error,
            f"{who}.power: {more.sum():.6g} in all degrees at radius {radius}, but E f² is {got.total:.6g}",
        )
