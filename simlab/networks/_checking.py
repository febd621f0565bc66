"""What the parts of `simlab.networks.check` share: inputs, weights, and comparisons that say what is wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from simlab.core.checking import ensure
from simlab.core.errors import BadInput
from simlab.networks.network import Network, Trainable

Floats = NDArray[np.float64]
DIM = 4  # dimension d of the inputs
ROWS = 6  # inputs that are compared one by one
ROUNDING = 1e-11  # relative error of what is summed in another order
STEP = 1e-6  # of central differences, relative to the largest weight
DIFFERENCES = 1e-7  # relative error of what is compared with central differences
SINGLE = 1e-5  # relative error of float32
STANDARD_ERRORS = 6.0  # that a Monte Carlo mean may be away


def inputs(rows: int, dim: int = DIM, seed: int = 0) -> Floats:
    return np.random.default_rng(seed).standard_normal((rows, dim))


def start_weights(network: Trainable, dim: int = DIM, seed: int = 1) -> Floats:
    return network.initialise(dim, np.random.default_rng(seed))


def differences(network: Trainable, theta: Floats, X: Floats) -> Floats:
    """J = ∂f_c(x_i)/∂θ_k : (n, c, size) by central differences of `forward`, 0 where θ is not trained."""
    J = np.zeros((len(X), network.output_count(), theta.size))
    h = STEP * float(np.max(np.abs(theta)))
    for k in network.loops(X.shape[1]).trained:
        e = np.zeros(theta.size)
        e[k] = h
        change = network.forward(theta + e, X) - network.forward(theta - e, X)
        J[:, :, k] = change.reshape(len(X), -1) / (2 * h)
    return J


def check_same(got: Any, wanted: Any, says: str, relative: float = ROUNDING, scale: float | None = None) -> None:
    """The largest difference is at most `relative` × `scale`, by default the largest value wanted."""
    got, wanted = np.asarray(got), np.asarray(wanted)
    ensure(got.shape == wanted.shape, f"{says}: shape {got.shape}, not {wanted.shape}")
    size = float(np.max(np.abs(wanted), initial=0.0)) if scale is None else scale
    apart = float(np.max(np.abs(got - wanted), initial=0.0))
    ensure(apart <= relative * size + np.finfo(np.float64).tiny, f"{says}: they differ by {apart:.3g} of {size:.3g}")


def size_of(values: Floats) -> float:
    """The largest absolute value; 1 where all are 0 but for rounding, as of a network that starts at f = 0."""
    largest = float(np.max(np.abs(values)))
    return largest if largest > 1e-12 else 1.0


def ability(network: Network, method: str, *arguments: Floats) -> Any:
    """What the method gives; None where there is none. The fact `has_<method>` must be true exactly where it is."""
    said = getattr(type(network), f"has_{method}")
    try:
        found = getattr(network, method)(*arguments)
    except NotImplementedError:
        found = None
    ensure((found is not None) == said, f"{network!r}: has_{method} = {said}, but {method} is{' not' * said} there")
    return found


def with_nan(values: Floats) -> Floats:
    wrong = values.copy()
    wrong.flat[0] = np.nan
    return wrong


def refused(call: Any, argument: str, says: str) -> None:
    try:
        call()
    except BadInput as error:
        line = str(error)
        ensure(
            argument in line and "\n" not in line, f"{says}: the error must name {argument} in one line, not {line!r}"
        )
        return
    raise AssertionError(f"{says}: must raise BadInput")


def mean_is(draws: Floats, wanted: float, says: str) -> None:
    """The mean of independent draws is within `STANDARD_ERRORS` of what it should be."""
    error = STANDARD_ERRORS * float(draws.std()) / draws.size**0.5 + ROUNDING * abs(wanted)
    mean = float(draws.mean())
    ensure(abs(mean - wanted) <= error, f"{says}: {wanted:.6g} and {mean:.6g} ± {error:.2g}")
