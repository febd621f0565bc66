"""A network and its training as an estimator that follows scikit-learn, without importing it.

`simlab.machines.TrainedNetwork` is this class. It lives here because it needs networks, flows and machines.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from simlab.core.checks import BadData
from simlab.core.errors import BadInput
from simlab.machines.estimator import Estimator, labels
from simlab.training.fitting import train
from simlab.training.trained import Trained

Floats = NDArray[np.float64]


class TrainedNetwork(Estimator):
    """Follows scikit-learn: ``TrainedNetwork(networks.TwoLayer(width=50), flow).fit(X, y).predict(X)``.

    network: what to train, as in `simlab.train`.
    flow: how to train it.
    loss: what is minimised, as in `simlab.train`.
    seed: root of the random streams; the same seed gives the same bits.
    observe: observables, as in `simlab.train`.
    records: number of instants to measure at.
    dtype: precision of the flow, float64 or float32.
    threads: number of threads of BLAS and numba.

    ``GridSearchCV`` can search over ``network``, ``network__width``, ``flow__step`` and other parameters.

    After `fit`:

    trained_: the `simlab.training.Trained`, with trajectory, weights and tangent kernel.
    ending_: how the flow ended, in words.
    n_features_in_: dimension d of the inputs.
    feature_names_in_: names of the columns, if X was a data frame.
    """

    trained_: Trained

    def __init__(
        self,
        network: Any,
        flow: Any,
        *,
        loss: Any = "squared",
        seed: int = 0,
        observe: Any = ("train_loss",),
        records: int = 2,
        dtype: DTypeLike = "float64",
        threads: int = 1,
    ) -> None:
        self.network = network
        self.flow = flow
        self.loss = loss
        self.seed = seed
        self.observe = observe
        self.records = records
        self.dtype = dtype
        self.threads = threads

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Train on X : (n, d) and y : (n,) or (n, outputs)."""
        data = self._inputs(X, reset=True)
        values = labels(y, len(data))
        if values.shape[1:] == (1,):
            _warn_of_column()
        settings = ("loss", "seed", "observe", "records", "dtype", "threads")
        try:
            trained = train(self.network, data, values, self.flow, **{name: getattr(self, name) for name in settings})
        except BadInput as error:
            raise error if isinstance(error, ValueError | TypeError) else BadData(str(error)) from None
        self.ending_, self.trained_ = trained.ending, trained
        return self

    def predict(self, X: ArrayLike) -> Floats:
        """f(x_i) : (m,) or (m, outputs), at the rows of X : (m, d)."""
        self._check_fitted()
        return self.trained_.predict(self._inputs(X, reset=False))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "trained_")  # set last: a fit that failed leaves none

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = False  # y must have as many columns as the network has outputs
        return tags


def _warn_of_column() -> None:
    """Warn that y : (n, 1) is taken as a vector, as scikit-learn's own regressors do; only if it is loaded."""
    module = sys.modules.get("sklearn.exceptions")
    if module is not None:
        message = "A column-vector y was passed when a 1d array was expected; predictions are a vector"
        warnings.warn(message, module.DataConversionWarning, stacklevel=3)
