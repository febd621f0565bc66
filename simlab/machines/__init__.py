"""machines: what learns with a kernel or features: ridge regression, Gaussian processes, kernel gradient flow.

A machine is an object made in Python; experiments choose theirs.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # for editors and type checkers; at run time `__getattr__` below
    from simlab.machines.kernel_ridge import KernelRidge

_HOMES = {
    "KernelRidge": "kernel_ridge",
}

__all__ = ["KernelRidge"]


def __getattr__(name: str) -> Any:
    """A public name, from its module when first asked for: LAPACK and the solvers take 0.2 s to import."""
    if name in _HOMES:
        return getattr(importlib.import_module(f"simlab.machines.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'simlab.machines' has no attribute {name!r}")
