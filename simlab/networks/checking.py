"""Whether a network keeps its contract: `simlab.networks.check`, for every kind, also for one of another package.

The independent reference is the Jacobian J of `forward` by central differences. Each weight is moved once, so that the
network should be small: some thousand weights take seconds.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from simlab.core.checking import check_value, ensure
from simlab.core.errors import BadInput
from simlab.core.parsing import dump, parse
from simlab.networks.bound import Bound, diverged_weights
from simlab.networks.limit import Limit
from simlab.networks.network import FeatureMap, Network, ThreeLayer, Trainable

Floats = NDArray[np.float64]
DIM = 4  # dimension d of the inputs
ROWS = 6  # inputs that are compared with central differences
MANY_ROWS = 613  # inputs that are compared with batches of themselves: several tiles and blocks, the last ones not full
BATCH_ROWS = 20
STEP = 1e-6  # of central differences, relative to the largest weight
DIFFERENCES = 1e-7  # relative error of what is compared with central differences
ROUNDING = 1e-11  # relative error of what is summed in another order
SINGLE = 1e-5  # relative error of float32
DRAWS = 400  # of a Monte Carlo mean
STANDARD_ERRORS = 6.0  # that a Monte Carlo mean may be away


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
        _check_draw(network)
        _check_features_of(network)
        _check_exact(network)
    if isinstance(network, Trainable):
        _check_start(network)
        _check_rows(network)
        _check_derivatives(network)
        _check_kernels(network)
        _check_sums(network)
        _check_single(network)
        _check_threads(network)
        _check_abilities(network)
        _check_bounded(network)
        _check_refusals(network)
    if isinstance(network, ThreeLayer):
        _check_layers(network)


def _inputs(rows: int, dim: int = DIM, seed: int = 0) -> Floats:
    return np.random.default_rng(seed).standard_normal((rows, dim))


def _theta(network: Trainable, dim: int = DIM, seed: int = 1) -> Floats:
    return network.initialise(dim, np.random.default_rng(seed))


def _same(got: Any, wanted: Any, says: str, relative: float = ROUNDING, scale: float | None = None) -> None:
    """The largest difference is at most `relative` × `scale`, by default the largest value wanted."""
    got, wanted = np.asarray(got), np.asarray(wanted)
    ensure(got.shape == wanted.shape, f"{says}: shape {got.shape}, not {wanted.shape}")
    size = float(np.max(np.abs(wanted), initial=0.0)) if scale is None else scale
    apart = float(np.max(np.abs(got - wanted), initial=0.0))
    ensure(apart <= relative * size + np.finfo(np.float64).tiny, f"{says}: they differ by {apart:.3g} of {size:.3g}")


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
        X = _inputs(ROWS)
        K = whole.gram(X)
        ensure(np.all(np.isfinite(K)), f"{name}.limit_kernel({DIM}).gram(X) is not finite")
        _same(K, K.T, f"{name}.limit_kernel({DIM}).gram(X) and its transpose")
    for radius in (1.0, DIM**0.5):
        on_sphere = _limit(network, radius)
        if whole is None or on_sphere is None:
            continue
        X = _inputs(ROWS)
        X *= radius / np.linalg.norm(X, axis=1, keepdims=True)
        pairs = np.triu_indices(ROWS, 1)
        u = (X @ X.T)[pairs] / radius**2
        wanted = sum(a * kernel.at_cosines(u) for a, kernel in on_sphere.terms) + on_sphere.constant
        _same(whole.gram(X)[pairs], wanted, f"{name}.limit_kernel: on the sphere of radius {radius} and in R^d", 1e-8)


def _limit(network: Network, radius: float | None) -> Limit | None:
    name = f"{network!r}.limit_kernel({DIM}, {radius})"
    try:
        found = network.limit_kernel(DIM, radius)
    except ValueError as error:
        ensure("\n" not in str(error) and str(error), f"{name}: the error must be one line, not {str(error)!r}")
        return None
    ensure(isinstance(found, Limit), f"{name} gives a {type(found).__name__}: must give a Limit, or raise ValueError")
    return found


def _check_draw(network: FeatureMap) -> None:
    """The weights come from the generator alone, and a wider map begins with them."""
    name = repr(network)
    W, again = (network.draw(DIM, np.random.default_rng(1)) for _ in range(2))
    ensure(W.ndim == 2 and W.dtype == np.float64, f"{name}.draw: must be a float64 matrix, not {W.dtype} {W.shape}")
    ensure(np.all(np.isfinite(W)), f"{name}.draw: some weights are not finite")
    ensure(np.array_equal(W, again), f"{name}.draw: equal generators give different weights")
    if "width" in type(network).model_fields:
        fields = dump(network)
        wide = parse(type(network), fields | {"width": 3 * fields["width"]}, network.kind)
        wider = wide.draw(DIM, np.random.default_rng(1))
        ensure(
            len(wider) > len(W) and np.array_equal(wider[: len(W)], W),
            f"{name}.draw: the first rows of a draw three times as wide are not the narrow one's",
        )


def _check_features_of(network: FeatureMap) -> None:
    """A function of each row, of which any columns can be had alone."""
    name, X, W = f"{network!r}.features_of", _inputs(ROWS), network.draw(DIM, np.random.default_rng(1))
    Phi, p = network.features_of(W, X), network.count(DIM)
    ensure(Phi.shape == (ROWS, p), f"{name}: shape {Phi.shape}; {ROWS} inputs and count() = {p} features")
    for i in range(ROWS):
        _same(network.features_of(W, X[i : i + 1])[0], Phi[i], f"{name} of a row alone and among others")
    for begin in range(p):
        for end in range(begin, p + 1):
            part = network.features_of(W, X, slice(begin, end))
            _same(part, Phi[:, begin:end], f"{name}: part = slice({begin}, {end}) and these columns")
    _refused(lambda: network.features_of(W, _inputs(ROWS, DIM + 1)), "X", f"{name} of inputs in another dimension")
    _refused(lambda: network.features_of(W, _with_nan(X)), "X", f"{name} of NaN")


def _check_exact(network: FeatureMap) -> None:
    name, X = f"{network!r}.exact", _inputs(ROWS)
    K = _ability(network, "exact", X)
    if K is None:
        return
    ensure(K.shape == (ROWS, ROWS), f"{name}: shape {K.shape}, not {(ROWS, ROWS)}")
    _same(K, K.T, f"{name}: it and its transpose")
    _same(network.exact(X, X[:2]), K[:, :2], f"{name}: with Y and without")


def _check_start(network: Trainable) -> None:
    """`initialise`, `size` and `loops` agree on θ, which comes from the generator alone."""
    name, loops = repr(network), network.loops(DIM)
    theta = _theta(network)
    ensure(
        theta.shape == (network.size(DIM),) == (loops.size,) and theta.dtype == np.float64,
        f"{name}: initialise gives {theta.dtype} {theta.shape}, size() = {network.size(DIM)}, loops().size = "
        f"{loops.size}: must be float64 and the same length",
    )
    ensure(np.all(np.isfinite(theta)), f"{name}.initialise: some weights are not finite")
    ensure(np.array_equal(theta, _theta(network)), f"{name}.initialise: equal generators give different weights")
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
    theta, X = _theta(network), _inputs(ROWS)
    before = theta.copy(), X.copy()
    f = network.forward(theta, X)
    ensure(f.shape == ((ROWS,) if c == 1 else (ROWS, c)), f"{name}: shape {f.shape}; {ROWS} inputs, {c} outputs")
    ensure(np.all(np.isfinite(f)), f"{name}: not finite")
    for i in range(ROWS):
        _same(network.forward(theta, X[i : i + 1])[0], f[i], f"{name} of a row alone and among others", scale=_size(f))
    _same(Bound(network, DIM).value(theta, X), f.reshape(ROWS, c), f"{name} and loops().value", scale=_size(f))
    same = np.array_equal(theta, before[0]) and np.array_equal(X, before[1])
    ensure(same, f"{name} changes its arguments")


def _size(values: Floats) -> float:
    """The largest absolute value; 1 where all are 0 but for rounding, as of a network that starts at f = 0."""
    largest = float(np.max(np.abs(values)))
    return largest if largest > 1e-12 else 1.0


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


def _check_derivatives(network: Trainable) -> None:
    """∇R, J v and Jᵀ R against central differences; what is not trained is neither read from v nor written."""
    name, rng = repr(network), np.random.default_rng(2)
    theta, X, c = _theta(network), _inputs(ROWS), network.output_count()
    y, R, v = rng.standard_normal((ROWS, c)), rng.standard_normal((ROWS, c)), rng.standard_normal(theta.size)
    J = differences(network, theta, X)
    ensure(np.any(J), f"{name}: f does not depend on the weights that are trained")
    f = network.forward(theta, X).reshape(ROWS, c)
    for alpha in (1.0, 3.0):
        loss, gradient = network.loss_and_gradient(theta, X, y, alpha)
        residual = alpha * f - y
        _same(loss, np.sum(residual**2) / (2 * ROWS), f"{name}: loss_and_gradient's loss and (1/2n) Σ (αf − y)²")
        wanted, scale = (np.einsum("ic,ick->k", *factors) for factors in ((residual, J), (abs(residual), abs(J))))
        _same(gradient * (ROWS / alpha), wanted, f"{name}.gradient and central differences", DIFFERENCES, scale.max())
        same = np.array_equal(network.gradient(theta, X, y, alpha), gradient)
        ensure(same, f"{name}: gradient is not that of loss_and_gradient")
    along = network.push(theta, v, X).reshape(ROWS, c)
    _same(along, J @ v, f"{name}.push and central differences", DIFFERENCES, (abs(J) @ abs(v)).max())
    wanted, scale = (np.einsum("ic,ick->k", *factors) for factors in ((R, J), (abs(R), abs(J))))
    _same(network.pull(theta, R, X), wanted, f"{name}.pull and central differences", DIFFERENCES, scale.max())
    frozen = np.ones(theta.size, dtype=bool)
    frozen[network.loops(DIM).trained] = False
    ensure(not np.any(gradient[frozen]), f"{name}.gradient is not 0 where θ is not trained")
    with diverged_weights():
        read = network.push(theta, np.where(frozen, np.nan, v), X)
    ensure(np.array_equal(read.reshape(ROWS, c), along), f"{name}.push reads v where θ is not trained")


def _check_kernels(network: Trainable) -> None:
    """K = J Jᵀ, with J by `pull`."""
    name, theta, X, c = repr(network), _theta(network), _inputs(ROWS), network.output_count()
    J = Bound(network, DIM).jacobian(theta, X)
    blocks = J @ J.T
    K = np.einsum("icjc->ij", blocks.reshape(ROWS, c, ROWS, c)) / c
    _same(network.tangent_gram(theta, X), K, f"{name}.tangent_gram and J Jᵀ")
    _same(network.tangent_gram(theta, X, X[:2]), K[:, :2], f"{name}.tangent_gram with Y and J Jᵀ")
    _same(network.tangent_blocks(theta, X), blocks, f"{name}.tangent_blocks and J Jᵀ")
    _same(network.tangent_blocks(theta, X, X[:2]), blocks[:, : 2 * c], f"{name}.tangent_blocks with Y and J Jᵀ")
    own = type(network).tangent_blocks is not Trainable.tangent_blocks
    ensure(own == network.has_tangent_blocks, f"{name}: has_tangent_blocks = {network.has_tangent_blocks}")


def _check_sums(network: Trainable) -> None:
    """Tiles and blocks of many rows add up to the rows one batch after another, and J v and Jᵀ R are adjoint."""
    name, rng, bound = repr(network), np.random.default_rng(3), Bound(network, DIM)
    theta, X, c = _theta(network), _inputs(MANY_ROWS), network.output_count()
    y, R, v = rng.standard_normal((MANY_ROWS, c)), rng.standard_normal((MANY_ROWS, c)), rng.standard_normal(theta.size)
    f, along = bound.value(theta, X), bound.push(theta, v, X)
    loss, gradient = bound.loss_and_gradient(theta, X, y, 2.0)
    total, summed = 0.0, np.zeros(theta.size)
    for begin in range(0, MANY_ROWS, BATCH_ROWS):
        part = slice(begin, begin + BATCH_ROWS)
        loss_of_part, gradient_of_part = bound.loss_and_gradient(theta, X[part], y[part], 2.0)
        total += loss_of_part * len(X[part]) / MANY_ROWS
        summed += gradient_of_part * (len(X[part]) / MANY_ROWS)
        _same(bound.value(theta, X[part]), f[part], f"{name}.forward of a batch and of all rows", scale=_size(f))
        _same(bound.push(theta, v, X[part]), along[part], f"{name}.push of a batch and of all rows", scale=_size(along))
    _same(loss, total, f"{name}: the loss of all rows and of batches")
    _same(gradient, summed, f"{name}.gradient of all rows and of batches")
    _same(gradient, bound.pull(theta, 2.0 * (2.0 * f - y) / MANY_ROWS, X), f"{name}.gradient and pull of the residual")
    pulled = bound.pull(theta, R, X)
    scale = float(np.sum(np.abs(along * R)))
    _same(np.sum(along * R), v @ pulled, f"{name}: ⟨J v, R⟩ of push and ⟨v, Jᵀ R⟩ of pull", scale=scale)


def _check_single(network: Trainable) -> None:
    """The loops in float32 near those in float64, at weights and inputs that both have."""
    name, rng = f"{network!r} in float32", np.random.default_rng(3)
    single, double = Bound(network, DIM, np.float32), Bound(network, DIM)
    theta, X = _theta(network).astype(np.float32), _inputs(MANY_ROWS).astype(np.float32)
    y = rng.standard_normal((MANY_ROWS, network.output_count())).astype(np.float32)
    v = rng.standard_normal(theta.size).astype(np.float32)
    f, along, pulled = single.value(theta, X), single.push(theta, v, X), single.pull(theta, y, X)
    loss, gradient = single.loss_and_gradient(theta, X, y, 2.0)
    for what, array in (("value", f), ("push", along), ("pull", pulled), ("gradient", gradient)):
        ensure(array.dtype == np.float32, f"{name}: {what} is {array.dtype}")
    wanted = double.value(theta, X)
    _same(f, wanted, f"{name} and float64: value", SINGLE, _size(wanted))
    _same(along, double.push(theta, v, X), f"{name} and float64: push", SINGLE)
    _same(pulled, double.pull(theta, y, X), f"{name} and float64: pull", SINGLE)
    double_loss, double_gradient = double.loss_and_gradient(theta, X, y, 2.0)
    _same(loss, double_loss, f"{name} and float64: loss", SINGLE)
    _same(gradient, double_gradient, f"{name} and float64: gradient", SINGLE)


def _check_threads(network: Trainable) -> None:
    theta, X = _theta(network), _inputs(MANY_ROWS)
    y = np.random.default_rng(4).standard_normal((MANY_ROWS, network.output_count()))
    before = numba.get_num_threads()
    gradients = []
    try:
        for threads in (1, min(2, before)):
            numba.set_num_threads(threads)
            gradients.append(network.gradient(theta, X, y))
    finally:
        numba.set_num_threads(before)
    ensure(
        np.array_equal(gradients[0], gradients[1]), f"{network!r}.gradient: its bits depend on the number of threads"
    )


def _ability(network: Network, method: str, *arguments: Floats) -> Any:
    """What the method gives; None where there is none. The fact `has_<method>` must be true exactly where it is."""
    said = getattr(type(network), f"has_{method}")
    try:
        found = getattr(network, method)(*arguments)
    except NotImplementedError:
        found = None
    ensure((found is not None) == said, f"{network!r}: has_{method} = {said}, but {method} is{' not' * said} there")
    return found


def _check_abilities(network: Trainable) -> None:
    """`features`, `neurons` and `directions` are there where the facts say so, and only there."""
    name, theta, X = repr(network), _theta(network), _inputs(ROWS)
    H = _ability(network, "features", theta, X)
    if H is not None:
        ensure(H.ndim == 2 and len(H) == ROWS, f"{name}.features: shape {H.shape}, not ({ROWS}, m)")
        _same(network.features(theta, X[:1]), H[:1], f"{name}.features of a row alone and among others")
    neurons = _ability(network, "neurons", theta)
    if neurons is not None:
        a, b, W = neurons
        m = network.particle_count()
        shapes = a.shape == b.shape == (m,) and W.shape == (m, DIM)
        ensure(shapes, f"{name}.neurons: shapes {a.shape}, {b.shape}, {W.shape}, not ({m},), ({m},), ({m}, {DIM})")
    if _ability(network, "directions", theta) is None:
        return
    dim = (network.first_width() or DIM) + 2  # so that some z is orthogonal to all directions
    theta, X = _theta(network, dim), _inputs(ROWS, dim)
    W = network.directions(theta)
    ensure(W.shape == (network.first_width(), dim), f"{name}.directions: shape {W.shape} for inputs in R^{dim}")
    z = np.linalg.svd(W)[2][-1]
    f = network.forward(theta, X)
    _same(
        network.forward(theta, X + z), f, f"{name}: f at x and at x + z, z orthogonal to directions()", scale=_size(f)
    )


def _check_bounded(network: Trainable) -> None:
    """What `unbounded` and `grows` say is true of f far away."""
    name, theta, X = repr(network), _theta(network), _inputs(ROWS)
    ensure(network.may_be_bounded or network.unbounded(), f"{name}: unbounded() = '', but may_be_bounded = False")
    near, far = (float(np.max(np.abs(network.forward(theta, radius * X)))) for radius in (1e4, 1e8))
    does = f"|f| goes from {near:.3g} to {far:.3g} as ‖x‖ grows from 10⁴ to 10⁸"
    if network.grows(theta):
        ensure(far > 10.0 * near, f"{name}: {does}; grows(theta) = True")
    elif not network.unbounded():
        ensure(far <= 10.0 * (1.0 + near), f"{name}: {does}; unbounded() must say why")


def _check_refusals(network: Trainable) -> None:
    """Inputs and weights that are not finite or of another shape: one line that names the argument."""
    name, theta, X = repr(network), _theta(network), _inputs(ROWS)
    y = np.zeros((ROWS, network.output_count()))
    for wrong, word in ((_with_nan(X), "NaN in X"), (X[0], "a vector for X")):
        _refused(lambda X=wrong: network.forward(theta, X), "X", f"{name}.forward with {word}")
        _refused(lambda X=wrong: network.gradient(theta, X, y), "X", f"{name}.gradient with {word}")
        _refused(lambda X=wrong: network.tangent_gram(theta, X), "X", f"{name}.tangent_gram with {word}")
    for wrong, word in ((_with_nan(theta), "NaN in theta"), (np.append(theta, 0.0), "one weight too many")):
        _refused(lambda theta=wrong: network.forward(theta, X), "theta", f"{name}.forward with {word}")
        _refused(lambda theta=wrong: network.gradient(theta, X, y), "theta", f"{name}.gradient with {word}")


def _with_nan(values: Floats) -> Floats:
    wrong = values.copy()
    wrong.flat[0] = np.nan
    return wrong


def _refused(call: Any, argument: str, says: str) -> None:
    try:
        call()
    except BadInput as error:
        line = str(error)
        ensure(
            argument in line and "\n" not in line, f"{says}: the error must name {argument} in one line, not {line!r}"
        )
        return
    raise AssertionError(f"{says}: must raise BadInput")


def _check_layers(network: ThreeLayer) -> None:
    """h(F) is f, and α is what F is on average over directions."""
    name, theta, X = repr(network), _theta(network), _inputs(ROWS)
    V, w, b = network.particles(theta)
    ensure(
        V.ndim == 2 and V.shape[1] == DIM and w.shape == b.shape == (w.size,),
        f"{name}.particles: shapes {V.shape}, {w.shape}, {b.shape}, not (m₁, {DIM}), (m₂,), (m₂,)",
    )
    F = network.first_layer(theta, X)
    ensure(F.shape == (ROWS,), f"{name}.first_layer: shape {F.shape}, not ({ROWS},)")
    f = network.forward(theta, X)
    _same(network.outer(w, b, F), f, f"{name}: outer(w, b, first_layer(X)) and forward(X)")
    _same(network.outer(w, b, F.reshape(2, -1)), f.reshape(2, -1), f"{name}.outer of F in another shape")
    directions = _inputs(100 * DRAWS)
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    _mean(network.first_layer(theta, directions), network.alpha(theta), f"{name}.alpha and the mean of F(x)/‖x‖")
    rng = np.random.default_rng(5)
    alphas = np.array([network.alpha(network.initialise(DIM, rng)) for _ in range(DRAWS)])
    _mean(alphas, network.mean_alpha(DIM), f"{name}.mean_alpha and the mean of alpha at the start")
    layers = network.trained_layers()
    ensure(layers in ("both", "first", "second"), f"{name}.trained_layers() = {layers!r}")


def _mean(draws: Floats, wanted: float, says: str) -> None:
    """The mean of independent draws is within `STANDARD_ERRORS` of what it should be."""
    error = STANDARD_ERRORS * float(draws.std()) / draws.size**0.5 + ROUNDING * abs(wanted)
    mean = float(draws.mean())
    ensure(abs(mean - wanted) <= error, f"{says}: {wanted:.6g} and {mean:.6g} ± {error:.2g}")
