"""Every network, target, kernel and machine with inputs that are no finite matrix: refused in one line, never computed.

Kinds are found by walking the rooms, so that a new one is held to it too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from simlab import machines, networks
from simlab.core import lookup
from simlab.core.errors import BadInput
from simlab.core.params import parse
from simlab.kernels import ntk
from simlab.networks.bound import Bound, diverged_weights

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
FACES = ("forward", "hidden", "tangent_gram", "tangent_blocks", "first_layer")


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
    for number, (kind, fields) in enumerate(lookup.all_examples("networks")):
        module, rng = lookup.get("networks", kind), np.random.default_rng(1)
        net = parse(module.Params, fields)
        if hasattr(module, "initialise"):
            theta = module.initialise(net, d, rng)
            for face in FACES:
                if function := getattr(module, face, None):
                    yield f"{kind}{number}.{face}", lambda Z, f=function, p=net, t=theta: f(p, t, Z), "X"
                    if face.startswith("tangent"):
                        yield f"{kind}{number}.{face} Y", lambda Z, f=function, p=net, t=theta: f(p, t, X, Z), "Y"
        if hasattr(module, "loops"):
            bound = Bound(net, d)
            y = np.zeros((n, bound.loops.outputs))
            yield f"{kind}{number}.value", lambda Z, b=bound, t=theta: b.value(t, Z), "X"
            yield f"{kind}{number}.gradient", lambda Z, b=bound, t=theta, y=y: b.gradient(t, Z, y), "X"
            yield f"{kind}{number}.push", lambda Z, b=bound, t=theta: b.push(t, t, Z), "X"
            yield f"{kind}{number}.pull", lambda Z, b=bound, t=theta, y=y: b.pull(t, y, Z), "X"
        if hasattr(module, "features"):
            weights = module.draw(net, d, rng)
            yield f"{kind}{number}.features", lambda Z, m=module, p=net, w=weights: m.features(p, w, Z), "X"
        if hasattr(module, "exact"):
            yield f"{kind}{number}.exact", lambda Z, m=module, p=net: m.exact(p, Z), "X"
            yield f"{kind}{number}.exact Y", lambda Z, m=module, p=net: m.exact(p, X, Z), "Y"
    for number, (kind, fields) in enumerate(lookup.all_examples("targets")):
        module = lookup.get("targets", kind)
        yield f"target {kind}{number}", module.draw(parse(module.Params, fields), d, np.random.default_rng(1)), "X"
    for number, (kind, fields) in enumerate(lookup.all_examples("kernels")):
        kernel = parse(lookup.get("kernels", kind).Params, fields)
        yield f"kernel {kind}{number}.gram", lambda Z, k=kernel: k.gram(Z), "X"
        yield f"kernel {kind}{number}.gram Y", lambda Z, k=kernel: k.gram(X, Z), "Y"
        yield f"kernel {kind}{number}.diagonal", lambda Z, k=kernel: k.diagonal(Z), "X"
    made: dict[str, Any] = {
        "KernelRidge": lambda: machines.KernelRidge(ntk(2)),
        "GaussianProcess": lambda: machines.GaussianProcess(ntk(2)),
        "FeatureRidge": lambda: machines.FeatureRidge(networks.get("random_features", width=4)),
    }
    assert {name for name in machines.__all__ if hasattr(getattr(machines, name), "score")} == set(made)
    for name, make in made.items():
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


TRAINABLE = [(k, f) for k, f in lookup.all_examples("networks") if hasattr(lookup.get("networks", k), "loops")]


@pytest.mark.parametrize(("kind", "fields"), TRAINABLE)
def test_weights_and_labels_that_are_not_finite_are_refused(kind: str, fields: dict[str, Any]) -> None:
    """ReLU and its slope pass over NaN: max(NaN, 0) may be 0. A flow that has diverged may still be looked at."""
    module = lookup.get("networks", kind)
    net = parse(module.Params, fields)
    theta = module.initialise(net, d, np.random.default_rng(1))
    bound = Bound(net, d)
    labels = np.zeros((n, bound.loops.outputs))
    for value in (np.nan, np.inf):
        broken, wrong = theta.copy(), labels.copy()
        broken[0], wrong[3, 0] = value, value
        for call in (
            lambda b=broken: module.forward(net, b, X),
            lambda b=broken: module.tangent_gram(net, b, X),
            lambda b=broken: bound.value(b, X),
            lambda b=broken: bound.loss_and_gradient(b, X, labels),
        ):
            with pytest.raises(BadInput, match=r"theta\[0\] = (nan|inf): must be finite"):
                call()
        with pytest.raises(BadInput, match=r"v\[0\] = (nan|inf)"):
            bound.push(theta, broken, X)
        with pytest.raises(BadInput, match=r"y\[3, 0\] = (nan|inf)"):
            bound.loss_and_gradient(theta, X, wrong)
        with pytest.raises(BadInput, match=r"R\[3, 0\] = (nan|inf)"):
            bound.pull(theta, wrong, X)
        with pytest.raises(BadInput, match=r"alpha = (nan|inf): must be finite"):
            bound.loss_and_gradient(theta, X, labels, value)
        with diverged_weights(), np.errstate(invalid="ignore", over="ignore"):
            assert module.forward(net, broken, X).shape[0] == n
            with pytest.raises(BadInput, match=r"X\[2, 1\] = nan"):
                module.forward(net, broken, at(np.nan))
    with pytest.raises(BadInput, match=r"theta\[0\] = nan"):  # the door is shut again
        module.forward(net, np.where(np.arange(theta.size) == 0, np.nan, theta), X)


def test_inputs_of_any_real_type_give_the_same_numbers() -> None:
    """Lists, single precision, integers, objects and masked arrays with nothing masked are numbers all the same."""
    whole = np.arange(12).reshape(3, 4)
    net = networks.get("two_layer", width=3)
    module = lookup.get("networks", "two_layer")
    theta = module.initialise(net, 4, np.random.default_rng(1))
    expected = module.forward(net, theta, whole.astype(float))
    for same in (whole, whole.tolist(), whole.astype(np.float32), whole.astype(object), np.ma.array(whole)):
        assert np.array_equal(module.forward(net, theta, same), expected)
        assert np.array_equal(module.tangent_gram(net, theta, same), module.tangent_gram(net, theta, whole))
        assert np.array_equal(ntk(2).gram(same), ntk(2).gram(whole.astype(float)))
