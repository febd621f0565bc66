"""Every target keeps the contract; one that breaks it is told so; and what is refused is refused before it is drawn."""

from __future__ import annotations

import tracemalloc
from typing import Any, ClassVar

import numpy as np
import pytest

from simlab import targets
from simlab.core import catalogue, checks
from simlab.core.errors import BadInput
from simlab.core.parsing import choose
from simlab.targets.relu_teacher import ReLUTeacher
from simlab.targets.target import Floats, Function, Target

EXAMPLES = catalogue.all_examples("targets")
LARGE = ("cap", "gegenbauer", "hierarchical", "neuron", "quadratic_form", "relu_teacher", "smooth_zonal", "teacher")
"""Kinds that hold as many numbers as there are coordinates, or more."""


@pytest.mark.parametrize(("kind", "fields"), EXAMPLES)
def test_every_target_keeps_the_contract(kind: str, fields: dict[str, Any]) -> None:
    targets.check(targets.get(kind, **fields))


class Plain(Target):
    """f(x) = w·x, w Gaussian: nothing is wrong with it."""

    def draw(self, dim: int, rng: np.random.Generator) -> Function:
        w = rng.standard_normal(self.checked(dim, rng))
        return lambda X: np.asarray(X @ w)


class Surprise(Plain):
    """Refused by `draw` alone."""

    def draw(self, dim: int, rng: np.random.Generator) -> Function:
        if dim > 8:
            raise BadInput(f"dim = {dim}: too large")
        return super().draw(dim, rng)


class Timid(Plain):
    """Refused by `check` alone."""

    def check(self, dim: int) -> None:
        if dim > 8:
            raise BadInput(f"dim = {dim}: too large")

    def draw(self, dim: int, rng: np.random.Generator) -> Function:
        return lambda X: np.asarray(X[:, 0])


class Impossible(Plain):
    """In no dimension."""

    def check(self, dim: int) -> None:
        raise BadInput("w = 0: no")


class Several(Plain):
    """Does not say how many outputs it has."""

    def draw(self, dim: int, rng: np.random.Generator) -> Function:
        W = rng.standard_normal((self.checked(dim, rng), 2))
        return lambda X: np.asarray(X @ W)


class Forgetful(Plain):
    """Another function for the same generator."""

    def draw(self, dim: int, rng: np.random.Generator) -> Function:
        w = np.random.default_rng().standard_normal(self.checked(dim, rng))
        return lambda X: np.asarray(X @ w)


class Centred(Plain):
    """A value depends on the others."""

    def draw(self, dim: int, rng: np.random.Generator) -> Function:
        w = rng.standard_normal(self.checked(dim, rng))
        return lambda X: np.asarray(X @ w * np.arange(len(X)))


class Wasteful(Plain):
    """Draws a number that it does not use."""

    def draw(self, dim: int, rng: np.random.Generator) -> Function:
        rng.standard_normal(self.checked(dim, rng))
        return lambda X: np.asarray(X[:, 0])


class Boastful(Plain):
    """Claims to be a function of the radius."""

    is_radial: ClassVar[bool] = True


class Loud(Plain):
    """Claims twice its power."""

    knows_power: ClassVar[bool] = True

    def draw(self, dim: int, rng: np.random.Generator) -> Function:
        w = rng.standard_normal(self.checked(dim, rng))
        return lambda X: np.asarray(X @ (w / np.linalg.norm(w)))

    def power(self, dim: int, max_degree: int, radius: float = 1.0) -> Floats:
        return np.eye(max_degree + 1)[1] * 2.0 * radius**2 / dim


def test_one_of_another_package_may_keep_it() -> None:
    targets.check(Plain())


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (Surprise, "dim = 10: check says None, draw 'dim = 10: too large'"),
        (Timid, "check says 'dim = 10: too large', draw None"),
        (Impossible, "refused in every dimension"),
        (Several, r"have shape \(8, 2\); must be \(8,\)"),
        (Forgetful, "the same generator gave another function"),
        (Centred, "a value depends on the other inputs"),
        (Wasteful, "two generators gave one function"),
        (Boastful, "is_radial = True: but a draw says False"),
        (Loud, "in degree 1 at radius 1.0, but an estimate"),
    ],
)
def test_what_breaks_the_contract_is_told(wrong: type[Target], says: str) -> None:
    with pytest.raises(AssertionError, match=says) as told:
        targets.check(wrong())
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(("kind", "fields"), EXAMPLES)
@pytest.mark.parametrize("dim", [1, 2, 3, 4, 5, 6, 7, 9, 12, 33, 100, 400_000_000])
def test_check_and_draw_refuse_alike(kind: str, fields: dict[str, Any], dim: int, monkeypatch: Any) -> None:
    """Of large dimensions too: a machine without memory refuses what takes some, before it is drawn."""
    monkeypatch.setattr(checks, "free_memory", lambda: 0)
    target = targets.get(kind, **fields)
    told = []
    for refused in (lambda: target.check(dim), lambda: target.draw(dim, np.random.default_rng(0))):
        try:
            refused()
            told.append("")
        except BadInput as error:
            told.append(str(error))
    assert told[0] == told[1]
    assert dim < 10**6 or told[0] or kind not in LARGE


@pytest.mark.parametrize(("kind", "fields"), EXAMPLES)
def test_checking_takes_no_memory(kind: str, fields: dict[str, Any], monkeypatch: Any) -> None:
    monkeypatch.setattr(checks, "free_memory", lambda: 1 << 62)
    target = targets.get(kind, **fields)
    target.check(10)
    tracemalloc.start()
    try:
        target.check(100_000_000)
        assert tracemalloc.get_traced_memory()[1] < 200_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("table", "dim", "says"),
    [
        ({"kind": "axis_relu", "coordinate": 9}, 5, "target.coordinate = 9"),
        ({"kind": "cap", "share": 0.5}, 1, "data.dim = 1: a target on the sphere"),
        ({"kind": "relu_teacher", "neurons": 10**12}, 10, "data.dim = 10 and neurons = 1000000000000: needs"),
    ],
)
def test_in_a_spec_a_refusal_names_its_table(table: dict[str, Any], dim: int, says: str) -> None:
    target = choose("targets", table, "target")
    for refused in (lambda: target.check_in_spec(dim), lambda: target.draw_in_spec(dim, np.random.default_rng(0))):
        with pytest.raises(BadInput) as told:
            refused()
        assert str(told.value).startswith(says)
    with pytest.raises(BadInput, match=r"^(reference|data)\."):
        target.check_in_spec(dim, "reference")


def test_a_sum_over_degrees_is_bounded() -> None:
    for fields in (
        {"degrees": [10**9]},
        {"degrees": [3], "directions": 10**5},
        {"degrees": [10**5], "directions": 100},
    ):
        with pytest.raises(BadInput, match="at most"):
            choose("targets", {"kind": "gegenbauer", **fields}, "target")


def test_relu_teacher_has_unit_neurons() -> None:
    """E f(x)² of one unit neuron over Gaussian x is 1/2: Monte Carlo within 5 standard errors (variance 5/4)."""
    f = ReLUTeacher(neurons=1).draw(7, np.random.default_rng(4))
    values = f(np.random.default_rng(5).standard_normal((40_000, 7))) ** 2
    assert abs(values.mean() - 0.5) < 5 * np.sqrt(1.25 / 40_000)


@pytest.mark.parametrize(("kind", "fields"), [("relu_teacher", {"neurons": 4}), ("neuron", {"norm": 3.0})])
def test_known_neurons_make_the_target(kind: str, fields: dict[str, Any]) -> None:
    f = targets.get(kind, **fields).draw(5, np.random.default_rng(1))
    assert isinstance(f, targets.NeuronSum)
    X = np.random.default_rng(0).standard_normal((8, 5))
    assert np.allclose(f(X), np.maximum(X @ f.neurons.T, 0.0) @ f.coefficients, rtol=1e-14)
    assert np.allclose(np.linalg.norm(f.neurons, axis=1), fields.get("norm", 1.0))
