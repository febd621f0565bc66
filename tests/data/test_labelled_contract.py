"""A law that carries labels keeps the contract; one that breaks it is told so."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pytest

from simlab import data
from simlab.core.errors import BadInput
from simlab.data.law import Floats, Labelled, Law


class Two(Law):
    """Forty rows of two classes, with which nothing is wrong but what subclasses break."""

    finite: ClassVar[bool] = True
    has_labels: ClassVar[bool] = True

    def dimension(self) -> int:
        return 1

    def sample(self, n: int, rng: np.random.Generator) -> Floats:
        return np.asarray(rng.permutation(40)[:n, np.newaxis], dtype=np.float64)

    def class_count(self) -> int:
        return 2

    def row_count(self, part: str = "train") -> int:
        if part == "test":
            raise BadInput("no test rows")
        return 40

    def labelled_rows(self, numbers: Any, part: str = "train") -> Labelled:
        return Labelled(numbers[:, np.newaxis].astype(np.float64), numbers % 2)


class Endless(Two):
    """Not finite."""

    finite: ClassVar[bool] = False


class Silent(Two):
    """Does not say that it has labels."""

    has_labels: ClassVar[bool] = False

    def carries_labels(self) -> bool:
        return True


class ThirdClass(Two):
    """A class too many."""

    def labelled_rows(self, numbers: Any, part: str = "train") -> Labelled:
        return Labelled(numbers[:, np.newaxis].astype(np.float64), numbers % 3)


class Small(Two):
    """Labels of another type."""

    def labelled_rows(self, numbers: Any, part: str = "train") -> Labelled:
        return Labelled(numbers[:, np.newaxis].astype(np.float64), (numbers % 2).astype(np.int8))


class Mixed(Two):
    """Labels by the place in the draw, not by the row."""

    def labelled_rows(self, numbers: Any, part: str = "train") -> Labelled:
        return Labelled(numbers[:, np.newaxis].astype(np.float64), np.arange(len(numbers)) % 2)


class Other(Two):
    """Other rows with labels than without."""

    def sample(self, n: int, rng: np.random.Generator) -> Floats:
        return super().sample(n, rng) + 1.0


class WithTest(Two):
    """Has a test part that it does not speak of."""

    def row_count(self, part: str = "train") -> int:
        return 40


class OnlyTest(Two):
    """A test part without labels."""

    def carries_labels(self) -> bool:
        return False

    def has_test_part(self) -> bool:
        return True


def test_a_law_of_another_package_may_carry_labels() -> None:
    data.check(Two())


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (Endless, r"carries_labels\(\): only of a finite law"),
        (Silent, r"carries_labels\(\) = True: but has_labels = False"),
        (ThirdClass, r"part train: labels from 0 to 2: must be 0 … 1"),
        (Small, r"part train: labels are int8: must be int64"),
        (Mixed, r"part train: all rows drawn are not each row once, with its own label"),
        (Other, r"sample_labelled: other inputs than those of sample"),
        (WithTest, r"has_test_part\(\) = False: but row_count\('test'\) is not refused"),
        (OnlyTest, r"has_test_part\(\): only of a law that carries labels"),
    ],
)
def test_what_breaks_the_contract_is_told(wrong: type[Law], says: str) -> None:
    with pytest.raises(AssertionError, match=says) as told:
        data.check(wrong())
    assert "\n" not in str(told.value)
