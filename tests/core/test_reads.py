"""What a computation looks at, and what it does not."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import model_validator

from simlab.core import reads
from simlab.core.kinds import Kind
from simlab.core.parsing import parse


class Pair(Kind):
    first: int
    second: int = 0

    @model_validator(mode="after")
    def _first_is_positive(self) -> Pair:
        if self.first < 0:
            raise ValueError("first: must not be negative")
        return self

    @property
    def doubled(self) -> int:
        return 2 * self.second


def test_fields_looked_at_are_noted_under_their_path() -> None:
    with reads.watching(Kind) as watch:
        one = parse(Pair, {"first": 1}, "data")
        assert watch.looked_at("data.first", own=True)  # by its own rule
        assert not watch.looked_at("data.first", own=False)
        assert not watch.looked_at("data.second", own=True)
        assert one.second == 0
        assert watch.looked_at("data.second", own=False)
        assert not watch.looked_at("flow.second", own=True)


@pytest.mark.parametrize(
    "look",
    [hash, repr, copy.copy, copy.deepcopy, pickle.dumps, lambda p: p == Pair(first=1), lambda p: p.model_dump(),
     lambda p: p.model_copy(update={"first": 2}), lambda p: vars(p), lambda p: p.doubled, lambda p: p.second],
)  # fmt: skip
def test_every_way_of_looking_is_noted(look: Callable[[Any], Any]) -> None:
    with reads.watching(Kind) as watch:
        one = parse(Pair, {"first": 1}, "data")
        watch.found.clear()
        look(one)
        assert watch.looked_at("data.second", own=False)


def test_nothing_stays_behind() -> None:
    with pytest.raises(ZeroDivisionError), reads.watching(Kind) as watch:
        raise ZeroDivisionError
    assert "__getattribute__" not in vars(Kind)
    assert reads.current() is None
    assert Pair(first=3).first == 3
    assert not watch.found
