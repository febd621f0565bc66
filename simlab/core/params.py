"""TRANSITION: old names of `simlab.core.kinds` and `simlab.core.parsing`."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from types import ModuleType
from typing import Any, TypeVar

from simlab.core import transition
from simlab.core.kinds import Kind
from simlab.core.kinds import KindClass as Listed  # noqa: F401
from simlab.core.parsing import (  # noqa: F401
    CHUNK,
    EXACT,
    MOST_ENTRIES,
    AsTuple,
    choose,
    dump,
    first_wrong,
    join,
    parse,
    rooms_of,
    whole,
)


class Params(Kind):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            return super().__getattr__(name)  # type: ignore[misc]
        return transition.bound(self, name)


P = TypeVar("P", bound=Kind)


@dataclass(frozen=True)
class Room:
    name: str


def module_of(params: Kind) -> ModuleType:
    return sys.modules[type(params).__module__]


def kind_of(params: Kind) -> str:
    return params.kind
