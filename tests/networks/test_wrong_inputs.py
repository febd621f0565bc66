"""Every network, target, kernel and machine with inputs that are no finite matrix: refused in one line, never computed.

Kinds are found by walking the rooms, so that a new one is held to it too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from simlab import flows, machines, networks
from simlab.core import catalogue
from simlab.core.errors import BadInput
from simlab.core.parsing import choose
from simlab.kernels import ntk
from simlab.networks import FeatureMap, ThreeLayer, Trainable
from simlab.networks.bound import diverged_weights

n, d = 6, 5
X = np.random.default_rng(0).standard_normal((n, d))
Y = np.random.default_rng(1).standard_normal((3, d))


def at(value: float) -> Any:
    wrong = X.copy()
    wrong[2, 1] = value
    return wrong


WRONG: dict[str, Any] = {
    "nan": at(np.nan),
    "infinity": at(np.inf),
    "minus infinity": at(-np.inf),
    "masked": np.ma.array(X, mask=np.arange(n * d).reshape(n, d) == 7),
    "text": X.astype(str),
    "dates": X.astype("datetime64[s]"),
    "durations": X.astype("timedelta64[s]"),
    "complex": X * 1j,
    "objects": np.full((n, d), None),
    "vector": X[0],
    "three ways": X[None],
    "no columns": X[:, :0],
    "none": None,
    "table": {},
    "generator": (row for row in X),
    "ragged": [[1.0], [1.0, 2.0]],
}


def examples(room: str) -> Iterator[tuple[str, Any]]:
    """(label, kind) of every example of every kind of a room."""
    for number, (kind, fields) in enumerate(catalogue.all_examples(room)):
        yield f"{kind}{number}", choose(room, {"kind": kind, **fields}, room)


def refused(call: Callable[[Any], Any], word: str, name: str = "X") -> None:
    with pytest.raises(BadInput) as error:
        call(WRONG[word])
    line = str(error.value)
    assert name in line
    assert "\n" not in line
    assert len(line) < 500
    if word in ("nan", "infinity", "minus infinity") and "row 2" not in line:
        assert f"{name}[2, 1]" in line


def faces() -> Iterator[tuple[str, Callable[[Any], Any], str]]:
    """What takes inputs, of every kind of the four rooms; and the name of that argument."""
    for label, net in examples("networks"):
        if isinstance(net, Trainable):
            theta = net.initialise(d, np.random.default_rng(1))
            y = np.zeros((n, net.output_count()))
            faces = ["forward", "tangent_gram", "tangent_blocks", *["features"] * net.has_features]
            faces += ["first_layer"] * isinstance(net, ThreeLayer)
            for face in faces:
                method = getattr(net, face)
                yield f"{label}.{face}", lambda Z, f=method, t=theta: f(t, Z), "X"
                if face.startswith("tangent"):
                    yield f"{label}.{face} Y", lambda Z, f=method, t=theta: f(t, X, Z), "Y"
            yield f"{label}.gradient", lambda Z, net=net, t=theta, y=y: net.gradient(t, Z, y), "X"
            yield f"{label}.push", lambda Z, net=net, t=theta: net.push(t, t, Z), "X"
            yield f"{label}.pull", lambda Z, net=net, t=theta, y=y: net.pull(t, y, Z), "X"
        if isinstance(net, FeatureMap):
            weights = net.draw(d, np.random.default_rng(1))
            yield f"{label}.features_of", lambda Z, net=net, w=weights: net.features_of(w, Z), "X"
            if net.has_exact:
                yield f"{label}.exact", net.exact, "X"
                yield f"{label}.exact Y", lambda Z, net=net: net.exact(X, Z), "Y"
    for label, target in examples("targets"):
        yield f"target {label}", target.draw(d, np.random.default_rng(1)), "X"
    for label, kernel in examples("kernels"):
        yield f"kernel {label}.gram", kernel.gram, "X"
        yield f"kernel {label}.gram Y", lambda Z, k=kernel: k.gram(X, Z), "Y"
        yield f"kernel {label}.diagonal", kernel.diagonal, "X"
    estimators: dict[str, Any] = {
        "KernelRidge": lambda: machines.KernelRidge(ntk(2)),
        "GaussianProcess": lambda: machines.GaussianProcess(ntk(2)),
        "FeatureRidge": lambda: machines.FeatureRidge(networks.RandomFeatures(width=4)),
        "TrainedNetwork": lambda: machines.TrainedNetwork(
            networks.TwoLayer(width=4), flows.GradientDescent(steps=2, step=0.1)
        ),
    }
    assert {name for name in machines.__all__ if hasattr(getattr(machines, name), "score")} == set(estimators)
    for name, make in estimators.items():
        yield f"{name}.fit", lambda Z, make=make: make().fit(Z, np.zeros(n)), "X"
        yield f"{name}.predict", make().fit(X, X[:, 0]).predict, "X"
    flow = machines.KernelFlow(ntk(2)).fit(X, X[:, 0])
    yield "KernelFlow.fit", lambda Z: machines.KernelFlow(ntk(2)).fit(Z, np.zeros(n)), "X"
    yield "KernelFlow.predict", lambda Z: flow.predict(Z, [1.0]), "X"
    yield "ridge_path", lambda Z: machines.ridge_path(ntk(2), Z, np.zeros(n), [1.0]), "X"


ALL = list(faces())


@pytest.mark.parametrize("word", WRONG)
def test_what_is_no_finite_matrix_is_refused_by_all(word: str) -> None:
    for label, call, name in ALL:
        if name == "Y" and word == "none":
            continue  # Y = None is Y = X
        try:
            refused(call, word, name)
        except BaseException as error:
            raise AssertionError(f"{label}({word}): {type(error).__name__}: {error}") from error


@pytest.mark.parametrize("net", [net for _, net in examples("networks") if isinstance(net, Trainable)], ids=repr)
def test_weights_and_labels_that_are_not_finite_are_refused(net: Trainable) -> None:
    """ReLU and its slope pass over NaN: max(NaN, 0) may be 0. A flow that has diverged may still be looked at."""
    theta = net.initialise(d, np.random.default_rng(1))
    labels = np.zeros((n, net.output_count()))
    for value in (np.nan, np.inf):
        broken, wrong = theta.copy(), labels.copy()
        broken[0], wrong[3, 0] = value, value
        for call in (
            lambda b=broken: net.forward(b, X),
            lambda b=broken: net.tangent_gram(b, X),
            lambda b=broken: net.loss_and_gradient(b, X, labels),
        ):
            with pytest.raises(BadInput, match=r"theta\[0\] = (nan|inf): must be finite"):
                call()
        with pytest.raises(BadInput, match=r"v\[0\] = (nan|inf)"):
            net.push(theta, broken, X)
        with pytest.raises(BadInput, match=r"y\[3, 0\] = (nan|inf)"):
            net.loss_and_gradient(theta, X, wrong)
        with pytest.raises(BadInput, match=r"R\[3, 0\] = (nan|inf)"):
            net.pull(theta, wrong, X)
        with pytest.raises(BadInput, match=r"alpha = (nan|inf): must be finite"):
            net.loss_and_gradient(theta, X, labels, value)
        with diverged_weights(), np.errstate(invalid="ignore", over="ignore"):
            assert net.forward(broken, X).shape[0] == n
            with pytest.raises(BadInput, match=r"X\[2, 1\] = nan"):
                net.forward(broken, at(np.nan))
    with pytest.raises(BadInput, match=r"theta\[0\] = nan"):  # the door is shut again
        net.forward(np.where(np.arange(theta.size) == 0, np.nan, theta), X)


def test_inputs_of_any_real_type_give_the_same_numbers() -> None:
    """Lists, single precision, integers, objects and masked arrays with nothing masked are numbers all the same."""
    whole = np.arange(12).reshape(3, 4)
    net = networks.TwoLayer(width=3)
    theta = net.initialise(4, np.random.default_rng(1))
    expected = net.forward(theta, whole.astype(float))
    for same in (whole, whole.tolist(), whole.astype(np.float32), whole.astype(object), np.ma.array(whole)):
        assert np.array_equal(net.forward(theta, same), expected)
        assert np.array_equal(net.tangent_gram(theta, same), net.tangent_gram(theta, whole))
        assert np.array_equal(ntk(2).gram(same), ntk(2).gram(whole.astype(float)))
