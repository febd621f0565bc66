"""Targets made of labels: their values, what they refuse, and the contract that says which targets these are."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
import pytest
from numpy.typing import NDArray

from simlab import targets
from simlab.core.errors import BadInput
from simlab.core.parsing import choose
from simlab.targets._of_labels import OfLabels
from simlab.targets.labels import Labels
from simlab.targets.one_vs_rest import OneVsRest
from simlab.targets.target import Floats, Function, Target, ValueKind

LABELS = np.array([2, 0, 1, 2])


def test_one_hot_rows_and_centred_ones() -> None:
    """Centred: rows sum to 0, and differ from the one-hot ones by 1/k."""
    assert Labels(classes=3).values_of(LABELS).tolist() == [[0, 0, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    centred = Labels(classes=4, centred=True).values_of(LABELS)
    np.testing.assert_allclose(centred.sum(axis=1), 0.0, atol=1e-15)
    np.testing.assert_allclose(centred + 0.25, np.eye(4)[LABELS], atol=1e-15)
    assert Labels(classes=4).components() == 4


def test_signs() -> None:
    assert OneVsRest(positive=(2,)).values_of(LABELS).tolist() == [1, -1, -1, 1]
    assert OneVsRest(positive=(1, 0)).values_of(LABELS).tolist() == [-1, 1, 1, -1]
    assert OneVsRest(positive=(2,)).components() is None


@pytest.mark.parametrize(
    ("target", "labels", "says"),
    [
        (Labels(classes=2), [0, 1, 2], r"labels\[2\] = 2: must be a class, a whole number below classes = 2"),
        (Labels(classes=2), [0, -1], r"labels\[1\] = -1: must be a class"),
        (Labels(classes=2), [0, 0.5], r"labels\[1\] = 0.5: must be a class"),
        (Labels(classes=2), [[0, 1]], r"labels has shape \(1, 2\)"),
        (Labels(classes=2), [0, np.nan], r"labels\[1\] = nan: must be finite"),
        (OneVsRest(positive=(0,)), [0, -1], r"labels\[1\] = -1: must be a class, a whole number 0 or more"),
        (OneVsRest(positive=(0,)), ["a"], "must be real numbers"),
    ],
)
def test_labels_that_are_none(target: Target, labels: Any, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        target.values_of(np.array(labels))


@pytest.mark.parametrize(
    ("target", "count", "says"),
    [
        (Labels(classes=2), 3, r"^classes = 2: must be 3 or more, as many as the data have$"),
        (OneVsRest(positive=(0, 5)), 5, r"^positive = \[0, 5\]: the data have no class 5, only 0 … 4$"),
        (OneVsRest(positive=(1, 0)), 2, r"^positive = \[1, 0\]: all 2 classes of the data: must leave one out$"),
    ],
)
def test_data_that_do_not_fit(target: Target, count: int, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        target.check_classes(count)


def test_data_that_fit() -> None:
    Labels(classes=10).check_classes(7)
    OneVsRest(positive=(0, 5)).check_classes(6)


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ({"kind": "labels", "classes": 1}, r"target\.classes = 1: must be"),
        ({"kind": "labels", "classes": 10**9}, r"target\.classes = 1000000000: must be"),
        ({"kind": "one_vs_rest", "positive": []}, r"target\.positive = \[\]"),
        ({"kind": "one_vs_rest", "positive": [1, 1]}, r"target\.positive = \[1, 1\]: must name each class once"),
        ({"kind": "one_vs_rest", "positive": [-1]}, r"target\.positive = \[-1\]: -1 is no class: must be 0 or more"),
    ],
)
def test_fields_that_are_refused(table: dict[str, Any], says: str) -> None:
    with pytest.raises(BadInput, match=says):
        choose("targets", table, "target")


@pytest.mark.parametrize("target", [Labels(classes=3), OneVsRest(positive=(1,))])
def test_known_at_the_stored_rows_alone(target: Target) -> None:
    with pytest.raises(BadInput, match="known at the stored rows alone"):
        target.draw(5, np.random.default_rng(0))(np.ones((2, 5)))
    with pytest.raises(ValueError, match=f"target.kind = '{target.kind}': known at labelled rows alone"):
        target.check_scalar()


@pytest.mark.parametrize(
    ("kind", "fields", "expected"),
    [
        ("parity", {}, "signs"),
        ("monomials", {"terms": [[0, 1]], "coefficients": [-1.0]}, "signs"),
        ("monomials", {"terms": [[0, 1]], "coefficients": [2.0]}, "real"),
        ("staircase", {"steps": 1}, "signs"),
        ("staircase", {"steps": 2}, "real"),
        ("cap", {"share": 0.3}, "signs"),
        ("ball", {}, "signs"),
        ("shells", {"outer": 3.0, "count": 1}, "signs"),
        ("shells", {"outer": 3.0, "count": 2, "signs": [1, 1]}, "signs"),
        ("shells", {"outer": 3.0, "count": 2}, "real"),
        ("shells", {"outer": 3.0, "count": 2, "signs": [-1, -1]}, "real"),
        ("shells", {"outer": 3.0, "count": 1, "signs": "random"}, "real"),
        ("labels", {"classes": 3}, "one_hot"),
        ("labels", {"classes": 3, "centred": True}, "real"),
        ("one_vs_rest", {"positive": [1]}, "signs"),
        ("relu_teacher", {}, "real"),
    ],
)
def test_what_values_are(kind: str, fields: dict[str, Any], expected: str) -> None:
    target = targets.get(kind, **fields)
    assert target.value_kind() == expected
    targets.check(target)


class Read(OfLabels):
    """One-hot rows of three classes: nothing is wrong with it but what subclasses break."""

    def components(self) -> int:
        return 3

    def value_kind(self) -> ValueKind:
        return "one_hot"

    def check_classes(self, count: int) -> None:
        pass

    def values_of(self, labels: NDArray[np.int64]) -> Floats:
        return np.eye(3)[labels]


class Silent(Read):
    """Does not say that it reads labels."""

    reads_labels: ClassVar[bool] = False


class Known(Read):
    """Has values at inputs."""

    def draw(self, dim: int, rng: np.random.Generator) -> Function:
        self.checked(dim, rng)
        return lambda X: np.zeros((len(X), 3))


class Columns(Read):
    """Values of another shape."""

    def values_of(self, labels: NDArray[np.int64]) -> Floats:
        return super().values_of(labels).T


class Ranked(Read):
    """A value depends on the other labels."""

    def values_of(self, labels: NDArray[np.int64]) -> Floats:
        return super().values_of(labels) * np.arange(len(labels))[:, np.newaxis]


class Doubled(Read):
    """Not one-hot."""

    def values_of(self, labels: NDArray[np.int64]) -> Floats:
        return 2.0 * super().values_of(labels)


class Line(Target):
    """f(x) = w·x, which is no sign."""

    def draw(self, dim: int, rng: np.random.Generator) -> Function:
        w = rng.standard_normal(self.checked(dim, rng))
        return lambda X: np.asarray(X @ w)

    def value_kind(self) -> ValueKind:
        return "signs"


class Named(Line):
    """Of no kind that is known."""

    def value_kind(self) -> Any:
        return "complex"


class Claims(Line):
    """Reads labels without a way to."""

    reads_labels: ClassVar[bool] = True

    def value_kind(self) -> Literal["real"]:
        return "real"


def test_one_of_another_package_may_keep_it() -> None:
    targets.check(Read())


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (Silent, r"reads_labels = False: but values_of says True"),
        (Claims, r"reads_labels = True: but values_of says False"),
        (Known, r"reads_labels = True: but a draw has values at inputs"),
        (Columns, r"values of 20 labels have shape \(3, 20\); must be \(20, 3\)"),
        (Ranked, r"a value depends on the other labels"),
        (Doubled, r"value_kind\(\) = 'one_hot': but values are no one-hot rows"),
        (Line, r"value_kind\(\) = 'signs': but values are neither all ±1 nor all 0 and 1"),
        (Named, r"value_kind\(\) = 'complex': must be one of real, signs, one_hot"),
    ],
)
def test_what_breaks_the_contract_is_told(wrong: type[Target], says: str) -> None:
    with pytest.raises(AssertionError, match=says) as told:
        targets.check(wrong())
    assert "\n" not in str(told.value)
