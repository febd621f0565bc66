"""training: networks trained from Python on a user's own arrays. `simlab.train` is its public face.

>>> from simlab import flows, networks, train
>>> net = networks.TwoLayer(width=200, activation="tanh")
>>> trained = train(net, X, y, flows.GradientDescent(steps=1000, step=0.5), observe=["train_loss", "tangent_drift"])
>>> trained.predict(X_new), trained.trajectory, trained.tangent_kernel(X)
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # for editors and type checkers; at run time `__getattr__` below
    from simlab.training.estimator import TrainedNetwork
    from simlab.training.fitting import train
    from simlab.training.storage import load
    from simlab.training.trained import Trained

_HOMES = {"Trained": "trained", "TrainedNetwork": "estimator", "load": "storage", "train": "fitting"}

__all__ = ["Trained", "TrainedNetwork", "load", "train"]


def __getattr__(name: str) -> Any:
    """A public name, from its module when first asked for."""
    if name in _HOMES:
        return getattr(importlib.import_module(f"simlab.training.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'simlab.training' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
