"""Whether a network keeps its contract: `simlab.networks.check`, for every kind, also for one of another package.

The independent reference is the Jacobian J of `forward` by central differences. Each weight is moved once, so that the
network should be small: some thousand weights take seconds.
"""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from simlab.core.checking import check_value, ensure
from simlab.core.crew import on_threads
from simlab.networks._checking import (
    DIFFERENCES,
    DIM,
    ROWS,
    SINGLE,
    ability,
    check_same,
    differences,
    inputs,
    refused,
    size_of,
    start_weights,
    with_nan,
)
from simlab.networks._checking_losses import check_losses
from simlab.networks._checking_maps import check_draw, check_exact, check_features_of, check_layers
from simlab.networks.bound import Bound, diverged_weights
from simlab.networks.limit import Limit
from simlab.networks.network import FeatureMap, Network, ThreeLayer, Trainable

Floats = NDArray[np.float64]
MANY_ROWS = 613  # inputs that are compared with batches of themselves: several tiles and blocks, the last ones not full
BATCH_ROWS = 20


def check_network(network: Network) -> None:
    """Raise AssertionError, with one line that says what is wrong, if the network breaks the contract."""
    check_value(network, Network)
    ensure(
        isinstance(network, Trainable | FeatureMap),
        f"{network!r}: must be a subclass of Trainable or FeatureMap, or of both",
    )
    _check_numbers(network)
    _check_limit(network)
    if isinstance(network, FeatureMap):
        check_draw(network)
        check_features_of(network)
        check_exact(network)
    if isinstance(network, Trainable):
        _check_start(network)
        _check_rows(network)
        _check_derivatives(network)
        check_losses(network)
        _check_kernels(network)
        _check_sums(network)
        _check_single(network)
        _check_threads(network)
        _check_abilities(network)
        _check_bounded(network)
        _check_refusals(network)
    if isinstance(network, ThreeLayer):
        check_layers(network)


def _check_numbers(network: Network) -> None:
    """The facts that every network tells."""
    name = repr(network)
    ensure(network.output_count() >= 1, f"{name}.output_count() = {network.output_count()}: must be 1 or more")
    for fact, count in (("particle_count", network.particle_count()), ("first_width", network.first_width())):
        ensure(count is None or count >= 1, f"{name}.{fact}() = {count}: must be None, or 1 or more")
    ensure(type(network.widened()) is type(network), f"{name}.widened() is of another kind: {network.widened()!r}")
    says = network.unbounded()
    ensure(not says or says.startswith("network."), f"{name}.unbounded() = {says!r}: must be 'network.key = value'")


def _check_limit(network: Network) -> None:
    """`limit_kernel` gives a kernel or one clear line, and the kernel on a sphere is that of R^d there."""
    name, whole = repr(network), _limit(network, None)
    if whole is not None:
        X = inputs(ROWS)
        K = whole.gram(X)
        ensure(np.all(np.isfinite(K)), f"{name}.limit_kernel({DIM}).gram(X) is not finite")
        check_same(K, K.T, f"{name}.limit_kernel({DIM}).gram(X) and its transpose")
    for radius in (1.0, DIM**0.5):
        on_sphere = _limit(network, radius)
        if whole is None or on_sphere is None:
            continue
        X = inputs(ROWS)
        X *= radius / np.linalg.norm(X, axis=1, keepdims=True)
        pairs = np.triu_indices(ROWS, 1)
        u = (X @ X.T)[pairs] / radius**2
        wanted = sum(a * kernel.at_cosines(u) for a, kernel in on_sphere.terms) + on_sphere.constant
        check_same(
            whole.gram(X)[pairs], wanted, f"{name}.limit_kernel: on the sphere of radius {radius} and in R^d", 1e-8
        )


def _limit(network: Network, radius: float | None) -> Limit | None:
    name = f"{network!r}.limit_kernel({DIM}, {radius})"
    try:
        found = network.limit_kernel(DIM, radius)
    except ValueError as error:
        ensure("\n" not in str(error) and str(error), f"{name}: the error must be one line, not {str(error)!r}")
        return None
    ensure(isinstance(found, Limit), f"{name} gives a {type(found).__name__}: must give a Limit, or raise ValueError")
    return found


def _check_start(network: Trainable) -> None:
    """`initialise`, `size` and `loops` agree on θ, which comes from the generator alone."""
    name, loops = repr(network), network.loops(DIM)
    theta = start_weights(network)
    ensure(
        theta.shape == (network.size(DIM),) == (loops.size,) and theta.dtype == np.float64,
        f"{name}: initialise gives {theta.dtype} {theta.shape}, size() = {network.size(DIM)}, loops().size = "
        f"{loops.size}: must be float64 and the same length",
    )
    ensure(np.all(np.isfinite(theta)), f"{name}.initialise: some weights are not finite")
    ensure(np.array_equal(theta, start_weights(network)), f"{name}.initialise: equal generators give different weights")
    trained = loops.trained
    ensure(
        trained.step == 1 and 0 <= trained.start < trained.stop <= theta.size,
        f"{name}: loops().trained = {trained}: must be a part of range({theta.size})",
    )
    ensure(
        loops.outputs == network.output_count(),
        f"{name}: loops().outputs = {loops.outputs}, output_count() = {network.output_count()}",
    )
    own = network.own_weights(theta)
    ensure(np.array_equal(own, theta[: own.size]), f"{name}.own_weights: must be the first entries of θ")
    last = 0
    ensure(bool(network.stages(DIM)) == network.has_stages, f"{name}.stages: has_stages = {network.has_stages}")
    for stage in network.stages(DIM):
        inside = stage.step == 1 and last <= stage.start < stage.stop <= theta.size
        ensure(inside, f"{name}.stages: {stage} must be a part of range({theta.size}) after the one before")
        last = stage.stop


def _check_rows(network: Trainable) -> None:
    """f is a function of each row, and computing it changes nothing."""
    name, c = f"{network!r}.forward", network.output_count()
    theta, X = start_weights(network), inputs(ROWS)
    before = theta.copy(), X.copy()
    f = network.forward(theta, X)
    ensure(f.shape == ((ROWS,) if c == 1 else (ROWS, c)), f"{name}: shape {f.shape}; {ROWS} inputs, {c} outputs")
    ensure(np.all(np.isfinite(f)), f"{name}: not finite")
    for i in range(ROWS):
        check_same(
            network.forward(theta, X[i : i + 1])[0], f[i], f"{name} of a row alone and among others", scale=size_of(f)
        )
    check_same(Bound(network, DIM).value(theta, X), f.reshape(ROWS, c), f"{name} and loops().value", scale=size_of(f))
    same = np.array_equal(theta, before[0]) and np.array_equal(X, before[1])
    ensure(same, f"{name} changes its arguments")


def _check_derivatives(network: Trainable) -> None:
    """∇R, J v and Jᵀ R against central differences; what is not trained is neither read from v nor written."""
    name, rng = repr(network), np.random.default_rng(2)
    theta, X, c = start_weights(network), inputs(ROWS), network.output_count()
    y, R, v = rng.standard_normal((ROWS, c)), rng.standard_normal((ROWS, c)), rng.standard_normal(theta.size)
    J = differences(network, theta, X)
    ensure(np.any(J), f"{name}: f does not depend on the weights that are trained")
    f = network.forward(theta, X).reshape(ROWS, c)
    for alpha in (1.0, 3.0):
        loss, gradient = network.loss_and_gradient(theta, X, y, alpha)
        residual = alpha * f - y
        check_same(loss, np.sum(residual**2) / (2 * ROWS), f"{name}: loss_and_gradient's loss and (1/2n) Σ (αf − y)²")
        wanted, scale = (np.einsum("ic,ick->k", *factors) for factors in ((residual, J), (abs(residual), abs(J))))
        check_same(
            gradient * (ROWS / alpha), wanted, f"{name}.gradient and central differences", DIFFERENCES, scale.max()
        )
        same = np.array_equal(network.gradient(theta, X, y, alpha), gradient)
        ensure(same, f"{name}: gradient is not that of loss_and_gradient")
    along = network.push(theta, v, X).reshape(ROWS, c)
    check_same(along, J @ v, f"{name}.push and central differences", DIFFERENCES, (abs(J) @ abs(v)).max())
    wanted, scale = (np.einsum("ic,ick->k", *factors) for factors in ((R, J), (abs(R), abs(J))))
    check_same(network.pull(theta, R, X), wanted, f"{name}.pull and central differences", DIFFERENCES, scale.max())
    frozen = np.ones(theta.size, dtype=bool)
    frozen[network.loops(DIM).trained] = False
    ensure(not np.any(gradient[frozen]), f"{name}.gradient is not 0 where θ is not trained")
    with diverged_weights():
        read = network.push(theta, np.where(frozen, np.nan, v), X)
    ensure(np.array_equal(read.reshape(ROWS, c), along), f"{name}.push reads v where θ is not trained")


def _check_kernels(network: Trainable) -> None:
    """K = J Jᵀ, with J by `pull`."""
    name, theta, X, c = repr(network), start_weights(network), inputs(ROWS), network.output_count()
    J = Bound(network, DIM).jacobian(theta, X)
    blocks = J @ J.T
    K = np.einsum("icjc->ij", blocks.reshape(ROWS, c, ROWS, c)) / c
    check_same(network.tangent_gram(theta, X), K, f"{name}.tangent_gram and J Jᵀ")
    check_same(network.tangent_gram(theta, X, X[:2]), K[:, :2], f"{name}.tangent_gram with Y and J Jᵀ")
    check_same(network.tangent_blocks(theta, X), blocks, f"{name}.tangent_blocks and J Jᵀ")
    check_same(network.tangent_blocks(theta, X, X[:2]), blocks[:, : 2 * c], f"{name}.tangent_blocks with Y and J Jᵀ")
    own = type(network).tangent_blocks is not Trainable.tangent_blocks
    ensure(own == network.has_tangent_blocks, f"{name}: has_tangent_blocks = {network.has_tangent_blocks}")


def _check_sums(network: Trainable) -> None:
    """Tiles and blocks of many rows add up to the rows one batch after another, and J v and Jᵀ R are adjoint."""
    name, rng, bound = repr(network), np.random.default_rng(3), Bound(network, DIM)
    theta, X, c = start_weights(network), inputs(MANY_ROWS), network.output_count()
    y, R, v = rng.standard_normal((MANY_ROWS, c)), rng.standard_normal((MANY_ROWS, c)), rng.standard_normal(theta.size)
    f, along = bound.value(theta, X), bound.push(theta, v, X)
    loss, gradient = bound.loss_and_gradient(theta, X, y, 2.0)
    total, summed = 0.0, np.zeros(theta.size)
    for begin in range(0, MANY_ROWS, BATCH_ROWS):
        part = slice(begin, begin + BATCH_ROWS)
        loss_of_part, gradient_of_part = bound.loss_and_gradient(theta, X[part], y[part], 2.0)
        total += loss_of_part * len(X[part]) / MANY_ROWS
        summed += gradient_of_part * (len(X[part]) / MANY_ROWS)
        check_same(bound.value(theta, X[part]), f[part], f"{name}.forward of a batch and of all rows", scale=size_of(f))
        check_same(
            bound.push(theta, v, X[part]), along[part], f"{name}.push of a batch and of all rows", scale=size_of(along)
        )
    check_same(loss, total, f"{name}: the loss of all rows and of batches")
    check_same(gradient, summed, f"{name}.gradient of all rows and of batches")
    check_same(
        gradient, bound.pull(theta, 2.0 * (2.0 * f - y) / MANY_ROWS, X), f"{name}.gradient and pull of the residual"
    )
    pulled = bound.pull(theta, R, X)
    scale = float(np.sum(np.abs(along * R)))
    check_same(np.sum(along * R), v @ pulled, f"{name}: ⟨J v, R⟩ of push and ⟨v, Jᵀ R⟩ of pull", scale=scale)


def _check_single(network: Trainable) -> None:
    """The loops in float32 near those in float64, at weights and inputs that both have."""
    name, rng = f"{network!r} in float32", np.random.default_rng(3)
    single, double = Bound(network, DIM, np.float32), Bound(network, DIM)
    theta, X = start_weights(network).astype(np.float32), inputs(MANY_ROWS).astype(np.float32)
    y = rng.standard_normal((MANY_ROWS, network.output_count())).astype(np.float32)
    v = rng.standard_normal(theta.size).astype(np.float32)
    f, along, pulled = single.value(theta, X), single.push(theta, v, X), single.pull(theta, y, X)
    loss, gradient = single.loss_and_gradient(theta, X, y, 2.0)
    for what, array in (("value", f), ("push", along), ("pull", pulled), ("gradient", gradient)):
        ensure(array.dtype == np.float32, f"{name}: {what} is {array.dtype}")
    wanted = double.value(theta, X)
    check_same(f, wanted, f"{name} and float64: value", SINGLE, size_of(wanted))
    check_same(along, double.push(theta, v, X), f"{name} and float64: push", SINGLE)
    check_same(pulled, double.pull(theta, y, X), f"{name} and float64: pull", SINGLE)
    double_loss, double_gradient = double.loss_and_gradient(theta, X, y, 2.0)
    check_same(loss, double_loss, f"{name} and float64: loss", SINGLE)
    check_same(gradient, double_gradient, f"{name} and float64: gradient", SINGLE)


def _check_threads(network: Trainable) -> None:
    theta, X = start_weights(network), inputs(MANY_ROWS)
    y = np.random.default_rng(4).standard_normal((MANY_ROWS, network.output_count()))
    gradients = []
    for threads in (1, min(2, numba.get_num_threads())):
        with on_threads(threads):
            gradients.append(network.gradient(theta, X, y))
    ensure(
        np.array_equal(gradients[0], gradients[1]), f"{network!r}.gradient: its bits depend on the number of threads"
    )


def _check_abilities(network: Trainable) -> None:
    """`features`, `neurons` and `directions` are there where the facts say so, and only there."""
    name, theta, X = repr(network), start_weights(network), inputs(ROWS)
    H = ability(network, "features", theta, X)
    if H is not None:
        ensure(H.ndim == 2 and len(H) == ROWS, f"{name}.features: shape {H.shape}, not ({ROWS}, m)")
        check_same(network.features(theta, X[:1]), H[:1], f"{name}.features of a row alone and among others")
    neurons = ability(network, "neurons", theta)
    if neurons is not None:
        a, b, W = neurons
        m = network.particle_count()
        shapes = a.shape == b.shape == (m,) and W.shape == (m, DIM)
        ensure(shapes, f"{name}.neurons: shapes {a.shape}, {b.shape}, {W.shape}, not ({m},), ({m},), ({m}, {DIM})")
    if ability(network, "directions", theta) is None:
        return
    dim = (network.first_width() or DIM) + 2  # so that some z is orthogonal to all directions
    theta, X = start_weights(network, dim), inputs(ROWS, dim)
    W = network.directions(theta)
    ensure(W.shape == (network.first_width(), dim), f"{name}.directions: shape {W.shape} for inputs in R^{dim}")
    z = np.linalg.svd(W)[2][-1]
    f = network.forward(theta, X)
    check_same(
        network.forward(theta, X + z), f, f"{name}: f at x and at x + z, z orthogonal to directions()", scale=size_of(f)
    )


def _check_bounded(network: Trainable) -> None:
    """What `unbounded` and `grows` say is true of f far away."""
    name, theta, X = repr(network), start_weights(network), inputs(ROWS)
    ensure(network.may_be_bounded or network.unbounded(), f"{name}: unbounded() = '', but may_be_bounded = False")
    near, far = (float(np.max(np.abs(network.forward(theta, radius * X)))) for radius in (1e4, 1e8))
    does = f"|f| goes from {near:.3g} to {far:.3g} as ‖x‖ grows from 10⁴ to 10⁸"
    if network.grows(theta):
        ensure(far > 10.0 * near, f"{name}: {does}; grows(theta) = True")
    elif not network.unbounded():
        ensure(far <= 10.0 * (1.0 + near), f"{name}: {does}; unbounded() must say why")


def _check_refusals(network: Trainable) -> None:
    """Inputs and weights that are not finite or of another shape: one line that names the argument."""
    name, theta, X = repr(network), start_weights(network), inputs(ROWS)
    y = np.zeros((ROWS, network.output_count()))
    for wrong, word in ((with_nan(X), "NaN in X"), (X[0], "a vector for X")):
        refused(lambda X=wrong: network.forward(theta, X), "X", f"{name}.forward with {word}")
        refused(lambda X=wrong: network.gradient(theta, X, y), "X", f"{name}.gradient with {word}")
        refused(lambda X=wrong: network.tangent_gram(theta, X), "X", f"{name}.tangent_gram with {word}")
    for wrong, word in ((with_nan(theta), "NaN in theta"), (np.append(theta, 0.0), "one weight too many")):
        refused(lambda theta=wrong: network.forward(theta, X), "theta", f"{name}.forward with {word}")
        refused(lambda theta=wrong: network.gradient(theta, X, y), "theta", f"{name}.gradient with {word}")
