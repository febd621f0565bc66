"""scikit-learn's estimator protocol, without scikit-learn: parameters, checked data, tags, R².

A machine is a class whose constructor only stores its arguments; everything is checked in `fit`.

A parameter's own parameters have names with two underscores. ``set_params(kernel__depth=3)`` replaces the kernel by
another one: kernels, like all kinds, are immutable values.

scikit-learn is imported only in `__sklearn_tags__`, which nobody but scikit-learn calls. Errors are `BadInput` and also
what scikit-learn's checks expect: ValueError, TypeError, NotFittedError.
"""

from __future__ import annotations

import inspect
import sys
import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simlab.core import checks
from simlab.core.checks import BadData, BadType
from simlab.core.errors import BadInput, nearest, one_of, shown
from simlab.core.kinds import Kind
from simlab.core.parsing import build

Floats = NDArray[np.float64]
MOST_WEIGHT = 1e100
"""Largest sample weight allowed."""


class Estimator:
    """Base class of the machines. A subclass adds `predict` and `fit`, which calls `_inputs` with reset=True.

    n_features_in_: dimension d of the inputs, set by `fit`.
    feature_names_in_: names of the columns, set by `fit` if X was a data frame.
    """

    n_features_in_: int

    @classmethod
    def _names(cls) -> list[str]:
        """Names of the parameters: the arguments of the constructor."""
        return list(inspect.signature(cls).parameters)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Name → value of every parameter; with `deep` also the parameters of parameters, as ``kernel__depth``."""
        params = {name: getattr(self, name) for name in self._names()}
        return params | (_nested(params) if deep else {})

    def set_params(self, **params: Any) -> Self:
        """Change parameters by name, ``kernel__depth`` included. Unknown names raise BadData."""
        new = self.get_params(deep=False)
        # `kernel` before `kernel__depth`: given together, they mean the depth of the new kernel.
        for name in sorted(params, key=lambda name: name.count("__")):
            known = new | _nested(new)
            if name not in known:
                raise BadData(f"{name}: unknown parameter{nearest(name, known)} (allowed: {one_of(known)})")
            own, _, rest = name.partition("__")
            new[own] = _replaced(new[own], rest, params[name]) if rest else params[name]
        for name, value in new.items():
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)!r}' for name in self._names())})"

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "dual_coef_") or hasattr(self, "coef_")  # set last: a fit that failed leaves neither

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import RegressorTags, Tags, TargetTags

        targets = TargetTags(required=True, multi_output=True)
        return Tags(estimator_type="regressor", target_tags=targets, regressor_tags=RegressorTags())

    def predict(self, X: ArrayLike) -> Any:
        """f(x_i) : (m,) or (m, outputs), at the rows of X : (m, d)."""
        raise NotImplementedError

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """R² = 1 − Σ(y − f)²/Σ(y − ȳ)², averaged over outputs.

        An output whose labels are all equal scores 1 if it is predicted exactly, else 0.

        sample_weight: (m,), weights in all sums; None for equal ones.
        """
        predicted = np.asarray(self.predict(X))
        truth, weights = labels(y, predicted.shape[0]), weights_of(sample_weight, predicted.shape[0])
        if truth.shape != predicted.shape:
            raise BadData(f"y has shape {truth.shape} and the predictions {predicted.shape}: they must agree")
        w = (np.ones(truth.shape[0]) if weights is None else weights).reshape(-1, *[1] * (truth.ndim - 1))
        rest = np.sum(w * (truth - predicted) ** 2, axis=0)
        spread = np.sum(w * (truth - np.sum(w * truth, axis=0) / np.sum(w)) ** 2, axis=0)
        constant = spread == 0.0
        scores = np.where(constant, rest == 0.0, 1.0 - rest / np.where(constant, 1.0, spread))
        return float(np.mean(scores))

    def _check_fitted(self) -> None:
        """Raise NotFitted before `fit`."""
        if not self.__sklearn_is_fitted__():
            raise _not_fitted(f"this {type(self).__name__} is not fitted: call fit first")

    def _inputs(self, X: ArrayLike, *, reset: bool) -> NDArray[Any]:
        """X as a matrix (m, d): float32 if it was float32, else float64.

        reset: True in `fit`, which stores number and names of the columns. False later: they must be the same.
        """
        names = _column_names(X)
        data = inputs(X)
        if reset:
            self.n_features_in_ = data.shape[1]
            self.__dict__.pop("feature_names_in_", None)
            if names is not None:
                self.feature_names_in_ = names
            return data
        own, expected = type(self).__name__, getattr(self, "feature_names_in_", None)
        if names is not None and expected is None:
            warnings.warn(f"X has feature names, but {own} was fitted without feature names", stacklevel=3)
        elif names is None and expected is not None:
            message = f"X does not have valid feature names, but {own} was fitted with feature names"
            warnings.warn(message, stacklevel=3)
        elif names is not None and expected is not None and list(names) != list(expected):
            raise BadData(_other_names(list(names), list(expected)))
        if data.shape[1] != self.n_features_in_:
            expects = f"{own} is expecting {self.n_features_in_} features as input"
            raise BadData(f"X has {data.shape[1]} features, but {expects}")
        return data


def _nested(params: dict[str, Any]) -> dict[str, Any]:
    """The parameters of these parameters, at any depth, as ``kernel__depth`` → value."""
    found: dict[str, Any] = {}
    for name, value in params.items():
        inner = _fields(value)
        found |= {f"{name}__{key}": item for key, item in (inner | _nested(inner)).items()}
    return found


def _fields(value: Any) -> dict[str, Any]:
    """Name → value of the fields of a kind; empty if the value is not a kind."""
    return {name: getattr(value, name) for name in type(value).model_fields} if isinstance(value, Kind) else {}


def _replaced(value: Any, key: str, new: Any) -> Any:
    """A copy of the parameter `value` in which its own parameter `key` (``depth``, ``kernel__depth``) is `new`."""
    own, _, rest = key.partition("__")
    fields = _fields(value)
    return build(type(value), fields | {own: _replaced(fields[own], rest, new) if rest else new})


def _not_fitted(message: str) -> Exception:
    """The error of a machine before `fit`; also scikit-learn's NotFittedError, for its checks, if that is loaded."""
    module = sys.modules.get("sklearn.exceptions")
    bases = (BadInput, module.NotFittedError) if module else (BadInput, ValueError, AttributeError)
    error: Exception = type("NotFitted", bases, {})(message)
    return error


def _column_names(X: Any) -> NDArray[Any] | None:
    """Names of a data frame's columns; None for other data, or if the names are not strings."""
    columns = getattr(X, "columns", None)
    if columns is None or isinstance(X, np.ndarray) or len(columns) == 0:
        return None
    names = list(columns)
    texts = [isinstance(name, str) for name in names]
    if any(texts) and not all(texts):
        wrong = names[texts.index(False)]
        message = "Feature names are only supported if all input features have string names"
        raise BadType(f"X has the column name {shown(wrong)}: {message}")
    return np.asarray(names, dtype=object) if all(texts) else None


def _other_names(names: list[str], expected: list[str]) -> str:
    """The error about columns that differ from those of `fit`, in scikit-learn's words, which its checks compare."""
    lines = ["The feature names should match those that were passed during fit."]
    unseen, missing = sorted(set(names) - set(expected)), sorted(set(expected) - set(names))
    for title, some in (("unseen at fit time:", unseen), ("seen at fit time, yet now missing:", missing)):
        if some:
            lines += [f"Feature names {title}", *(f"- {name}" for name in some[:5]), *(["- ..."] * (len(some) > 5))]
    if not unseen and not missing:
        lines.append("Feature names must be in the same order as they were in fit.")
    return "\n".join(lines) + "\n"


def _numbers(values: Any, name: str) -> NDArray[Any]:
    """An array of float32 or float64 (any other type becomes float64), refused unless real and finite."""
    found = checks.numeric(values, name)
    is_native_float = found.dtype in (np.dtype(np.float64), np.dtype(np.float32)) and found.dtype.isnative
    return checks.array(found, name, dtype=None if is_native_float else np.float64)


def inputs(X: ArrayLike, name: str = "X") -> NDArray[Any]:
    """X as a matrix, one input per row; copied only if its type must change. `name` is what an error calls it."""
    data = _numbers(X, name)
    if data.ndim != 2:
        hint = "Reshape your data by reshape(-1, 1) for one feature, reshape(1, -1) for one sample"
        raise BadData(f"{name} has shape {data.shape}: must be a matrix, one input per row. {hint}")
    for count, what in zip(data.shape, ("sample(s)", "feature(s)"), strict=True):
        if count == 0:
            raise BadData(f"{name} has 0 {what} (shape={data.shape}) while a minimum of 1 is required.")
    return data


def labels(y: Any, n: int) -> Floats:
    """y : (n,) or (n, outputs) in float64; refused if it has another number of rows than n."""
    if y is None:
        raise BadData("fit requires y to be passed, but the target y is None")
    values = _numbers(y, "y").astype(np.float64, copy=False)
    if values.ndim not in (1, 2) or values.shape[0] != n or 0 in values.shape:
        raise BadData(f"y has shape {values.shape}: must be ({n},) or ({n}, outputs), one row for each of X")
    return values


def weights_of(sample_weight: Any, n: int) -> Floats | None:
    """Weights (n,), none negative and not all zero; a number stands for n equal ones, None for no weights."""
    if sample_weight is None:
        return None
    weights = _numbers(sample_weight, "sample_weight").astype(np.float64, copy=False)
    weights = np.full(n, weights) if weights.ndim == 0 else weights
    if weights.shape != (n,):
        raise BadData(f"sample_weight has shape {weights.shape}: must be ({n},)")
    if weights.min() < 0.0 or weights.max() > MOST_WEIGHT:
        wrong = weights.min() if weights.min() < 0.0 else weights.max()
        raise BadData(f"sample_weight = {wrong:g}: must not be negative, nor more than {MOST_WEIGHT:g}")
    if not weights.any():
        raise BadData("sample_weight: all weights are zero; at least one must be positive")
    return weights
