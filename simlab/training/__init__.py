"""training: networks trained from Python on a user's own arrays. `simlab.train` is its public face.

>>> from simlab import flows, networks, train
>>> net = networks.TwoLayer(width=200, activation="tanh")
>>> trained = train(net, X, y, flows.GradientDescent(steps=1000, step=0.5), observe=["train_loss", "tangent_drift"])
>>> trained.predict(X_new), trained.trajectory, trained.tangent_kernel(X)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simlab.core import lazy

if TYPE_CHECKING:
    from simlab.training.estimator import TrainedNetwork as TrainedNetwork
    from simlab.training.fitting import train as train
    from simlab.training.storage import load as load
    from simlab.training.trained import Trained as Trained
else:
    __all__, __getattr__, __dir__ = lazy.exports(__name__)
