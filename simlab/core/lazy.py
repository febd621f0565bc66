"""Public names of a package that are imported when they are first used.

The package lists them once, as imports that only type checkers and editors follow::

    if TYPE_CHECKING:
        from simlab.machines.kernel_ridge import KernelRidge as KernelRidge
    else:
        __all__, __getattr__, __dir__ = lazy.exports(__name__)

`exports` reads this list from the text of the package's file.
"""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from simlab.core.errors import nearest


def exports(package: str, **upwards: str) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """``__all__``, ``__getattr__`` and ``__dir__`` of a package.

    package: its name.
    upwards: name → module, for names from a room above, which the package's file must not import.
    """
    homes = _imports_for_types(Path(str(sys.modules[package].__file__)).read_text(encoding="utf-8")) | upwards
    names = sorted(homes)

    def get_attribute(name: str) -> Any:
        if name in homes:
            return getattr(importlib.import_module(homes[name]), name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}{nearest(name, names)}")

    return names, get_attribute, lambda: names


def _imports_for_types(text: str) -> dict[str, str]:
    """Name → module of every ``from module import name as name`` under ``if TYPE_CHECKING:``."""
    found: dict[str, str] = {}
    for block in ast.parse(text).body:
        if isinstance(block, ast.If) and isinstance(block.test, ast.Name) and block.test.id == "TYPE_CHECKING":
            for line in block.body:
                if isinstance(line, ast.ImportFrom):
                    found |= {name.asname: str(line.module) for name in line.names if name.asname}
    return found
