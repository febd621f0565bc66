"""machines: what learns with a kernel or features: ridge regression, Gaussian processes, kernel gradient flow.

A machine is an object made in Python; experiments choose theirs. `TrainedNetwork`, a network as an estimator, is a
machine too; its file is in `simlab.training`, which may use networks, flows and machines.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # for editors and type checkers; at run time `__getattr__` below
    from simlab.machines._path import RidgePath, ridge_path
    from simlab.machines._solver import solve_path
    from simlab.machines.feature_ridge import FeatureRidge
    from simlab.machines.gaussian_process import GaussianProcess
    from simlab.machines.kernel_flow import KernelFlow
    from simlab.machines.kernel_ridge import KernelRidge

_HOMES = {
    "FeatureRidge": "simlab.machines.feature_ridge",
    "GaussianProcess": "simlab.machines.gaussian_process",
    "KernelFlow": "simlab.machines.kernel_flow",
    "KernelRidge": "simlab.machines.kernel_ridge",
    "RidgePath": "simlab.machines._path",
    "TrainedNetwork": "simlab.training.estimator",
    "ridge_path": "simlab.machines._path",
    "solve_path": "simlab.machines._solver",
}

__all__ = [
    "FeatureRidge",
    "GaussianProcess",
    "KernelFlow",
    "KernelRidge",
    "RidgePath",
    "TrainedNetwork",
    "ridge_path",
    "solve_path",
]


def __getattr__(name: str) -> Any:
    """A public name, from its module when first asked for: LAPACK and the solvers take 0.2 s to import."""
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'simlab.machines' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
