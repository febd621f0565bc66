"""The parts of `simlab.networks.check` for maps to features and for nets of three layers."""

from __future__ import annotations

import numpy as np

from simlab.core.checking import ensure
from simlab.core.parsing import dump, parse
from simlab.networks._checking import DIM, ROWS, ability, check_same, inputs, mean_is, refused, start_weights, with_nan
from simlab.networks.network import FeatureMap, ThreeLayer

DRAWS = 400  # of a Monte Carlo mean


def check_draw(network: FeatureMap) -> None:
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


def check_features_of(network: FeatureMap) -> None:
    """A function of each row, of which any columns can be had alone."""
    name, X, W = f"{network!r}.features_of", inputs(ROWS), network.draw(DIM, np.random.default_rng(1))
    Phi, p = network.features_of(W, X), network.count(DIM)
    ensure(Phi.shape == (ROWS, p), f"{name}: shape {Phi.shape}; {ROWS} inputs and count() = {p} features")
    for i in range(ROWS):
        check_same(network.features_of(W, X[i : i + 1])[0], Phi[i], f"{name} of a row alone and among others")
    for begin in range(p):
        for end in range(begin, p + 1):
            part = network.features_of(W, X, slice(begin, end))
            check_same(part, Phi[:, begin:end], f"{name}: part = slice({begin}, {end}) and these columns")
    refused(lambda: network.features_of(W, inputs(ROWS, DIM + 1)), "X", f"{name} of inputs in another dimension")
    refused(lambda: network.features_of(W, with_nan(X)), "X", f"{name} of NaN")


def check_exact(network: FeatureMap) -> None:
    name, X = f"{network!r}.exact", inputs(ROWS)
    K = ability(network, "exact", X)
    if K is None:
        return
    ensure(K.shape == (ROWS, ROWS), f"{name}: shape {K.shape}, not {(ROWS, ROWS)}")
    check_same(K, K.T, f"{name}: it and its transpose")
    check_same(network.exact(X, X[:2]), K[:, :2], f"{name}: with Y and without")


def check_layers(network: ThreeLayer) -> None:
    """h(F) is f, and α is what F is on average over directions."""
    name, theta, X = repr(network), start_weights(network), inputs(ROWS)
    V, w, b = network.particles(theta)
    ensure(
        V.ndim == 2 and V.shape[1] == DIM and w.shape == b.shape == (w.size,),
        f"{name}.particles: shapes {V.shape}, {w.shape}, {b.shape}, not (m₁, {DIM}), (m₂,), (m₂,)",
    )
    F = network.first_layer(theta, X)
    ensure(F.shape == (ROWS,), f"{name}.first_layer: shape {F.shape}, not ({ROWS},)")
    f = network.forward(theta, X)
    check_same(network.outer(w, b, F), f, f"{name}: outer(w, b, first_layer(X)) and forward(X)")
    check_same(network.outer(w, b, F.reshape(2, -1)), f.reshape(2, -1), f"{name}.outer of F in another shape")
    directions = inputs(100 * DRAWS)
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    mean_is(network.first_layer(theta, directions), network.alpha(theta), f"{name}.alpha and the mean of F(x)/‖x‖")
    rng = np.random.default_rng(5)
    alphas = np.array([network.alpha(network.initialise(DIM, rng)) for _ in range(DRAWS)])
    mean_is(alphas, network.mean_alpha(DIM), f"{name}.mean_alpha and the mean of alpha at the start")
    layers = network.trained_layers()
    ensure(layers in ("both", "first", "second"), f"{name}.trained_layers() = {layers!r}")
