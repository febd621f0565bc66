"""TRANSITION: old names of `simlab.core.kinds`."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

from simlab.core import kinds as _kinds
from simlab.core.kinds import all_examples, attributes, first_line, rooms  # noqa: F401
from simlab.core.kinds import check_name as check  # noqa: F401
from simlab.core.kinds import names as kinds  # noqa: F401
from simlab.core.sources import PACKAGE  # noqa: F401


def get(room: str, kind: str, key: str = "kind") -> ModuleType:
    _kinds.check_name(room, kind, key)
    if kind in _kinds.added(room):
        return importlib.import_module(_kinds.get(room, kind).__module__)
    return importlib.import_module(f"simlab.{room}.{kind}")


def examples(room: str, kind: str) -> list[dict[str, Any]]:
    from simlab.core import transition

    return transition.examples(room, kind)
