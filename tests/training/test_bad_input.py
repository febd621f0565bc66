"""What cannot be trained is refused in one line that says what is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simlab import flows, networks, train, training
from simlab.core.errors import BadInput
from simlab.lab.spec import load
from tests.support.argument_walk import Call, mistakes
from tests.support.points import compute

DESCENT = {"kind": "gradient_descent", "steps": 5, "step": 0.1}


def arrays() -> dict[str, Any]:
    X = np.random.default_rng(0).standard_normal((6, 3))
    return {"X": X, "y": X[:, 0].copy()}


def refused(**changed: Any) -> str:
    arguments = {"network": networks.TwoLayer(width=4), "flow": DESCENT, "progress": False, "seed": 0}
    with pytest.raises(BadInput) as caught:
        train(**(arguments | arrays() | changed))
    line = str(caught.value)
    assert "\n" not in line
    return line


X = np.ones((6, 3))
NETWORK = {"kind": "mlp", "width": 4, "depth": 2}
SIGNS = [1, -1, 1, -1, 1, -1]
EYE = np.eye(3)[[0, 1, 2, 0, 1, 2]]
LABELS: list[tuple[str, Any, int, str]] = [
    ("logistic", [0.5, 1, -1, 1, -1, 1], 1, "y[0] = 0.5: must be all −1 or +1, or all 0 or 1, for the loss logistic"),
    ("logistic", [1, -1, 0, 1, 1, 1], 1, "y[2] = 0: must be all −1 or +1, or all 0 or 1, for the loss logistic, not"),
    ("hinge", [2, 1, -1, 1, -1, 1], 1, "y[0] = 2: must be all −1 or +1, or all 0 or 1, for the loss hinge"),
    ("squared_hinge", np.linspace(-1, 1, 6), 1, "y[1] = -0.6: must be all −1 or +1, or all 0 or 1"),
    ("exponential", np.ones(6), 1, "y: one class only, all 6 labels are those of y[0]; must be of 2 or more"),
    ("logistic", np.zeros(6), 1, "y: one class only"),
    ("logistic", [1, -1, 1, -1, 1, np.nan], 1, "y[5] = nan: must be finite"),
    ("softmax", [0, 1, 2, 0, 1, np.nan], 3, "y[5] = nan: must be finite"),
    ("softmax", [0, 1, 0, 1, 0, 1], 1, "outputs = 1: the loss softmax needs one output per class, 2 or more"),
    ("softmax", [0, 1, 2, 3, 0, 1], 3, "y[3] = 3: must be class numbers (n,) from 0 to 2, or one-hot (n, 3)"),
    ("softmax", [0, 1, 2, 0.5, 0, 1], 3, "y[3] = 0.5: must be class numbers (n,) from 0 to 2"),
    ("softmax", [1, 1, 1, 1, 1, 1], 3, "y: one class only"),
    ("softmax", 0.5 * EYE, 3, "y[0, 0] = 0.5: must be class numbers (n,) from 0 to 2, or one-hot (n, 3)"),
    ("softmax", EYE + EYE[:, ::-1] - EYE * EYE[:, ::-1], 3, "y[0] has 2 entries that are 1: must be class numbers"),
    ("softmax", EYE, 2, "y has shape (6, 3): must be class numbers (n,) from 0 to 1, or one-hot (n, 2)"),
    ("hinge", [0, 1, 2, 0, 1, 5], 3, "y[5] = 5: must be class numbers (n,) from 0 to 2, or one-hot (n, 3) or ±1"),
    ("huber", EYE, 2, "y has 3 columns: network.kind = 'mlp' has 2 outputs here"),
]
"""Labels that do not fit: loss, y, outputs of the network, what is said."""
CASES: list[tuple[dict[str, Any], str]] = [
    # arrays
    ({"X": np.ones(6)}, "X has shape (6,): must be (n, d)"),
    ({"X": np.ones((6, 3, 1))}, "X has shape (6, 3, 1)"),
    ({"X": np.empty((0, 3)), "y": []}, "X has shape (0, 3): must have one row or more"),
    ({"X": np.empty((6, 0))}, "X has shape (6, 0)"),
    ({"X": np.where(X == 1, np.nan, X)}, "X[0, 0] = nan: must be finite"),
    ({"y": [1, 2, 3, 4, 5, np.inf]}, "y[5] = inf: must be finite"),
    ({"X": [["a"] * 3] * 6}, "X has dtype <U1, such as 'a': must be real numbers"),
    ({"y": ["a"] * 6}, "y has dtype <U1"),
    ({"y": np.ones(5)}, "y has shape (5,): must be (6,) or (6, outputs), one row per row of X"),
    ({"y": 1.0}, "y has shape (): must be (6,)"),
    ({"y": np.ones((6, 2))}, "y has 2 columns: network.kind = 'two_layer' has 1 output here"),
    (
        {"network": {"kind": "mlp", "width": 3, "depth": 2, "outputs": 3}},
        "y has 1 column: network.kind = 'mlp' has 3 outputs here",
    ),
    ({"X_test": X}, "y_test is not given: X_test alone is of no use, give both or neither"),
    ({"y_test": np.ones(6)}, "X_test is not given: y_test alone"),
    ({"y_validation": np.ones(6)}, "X_validation is not given: y_validation alone"),
    ({"X_test": np.ones((2, 4)), "y_test": [1, 2]}, "X_test has shape (2, 4): must be (n, 3)"),
    ({"X_test": X, "y_test": np.ones((6, 2))}, "y_test has shape (6, 2): must have as many columns as y"),
    ({"X_validation": X, "y_validation": np.ones(2)}, "y_validation has shape (2,): must be (6,)"),
    # what is not given
    ({"observe": "test_loss"}, "X_test is not given: the observable test_loss"),
    ({"observe": "test_error"}, "X_test"),
    ({"observe": "predictions"}, "X_test"),
    ({"observe": "linear_distance"}, "X_test is not given: the observable linear_distance"),
    ({"observe": "validation_error"}, "X_validation"),
    ({"observe": "teacher_alignment"}, "y is given as values: teacher_alignment needs a teacher"),
    ({"observe": "hierarchy", "X_test": X, "y_test": np.ones(6)}, "y is given as values: hierarchy needs"),
    ({"observe": "residual_power"}, "X is given as rows: residual_power needs"),
    ({"observe": "fourier_picture"}, "X is given as rows: fourier_picture needs"),
    ({"observe": "risk"}, "observe: risk is known in a population_flow alone"),
    ({"observe": ["train_loss", "train_loss"]}, "observe: train_loss is recorded by two of them"),
    # flows that cannot begin
    ({"flow": {"kind": "sgd", "steps": 5, "step": 0.1, "batch": 7}}, "flow.batch = 7: more than the 6 training"),
    ({"flow": {"kind": "sgd", "steps": 5, "step": 0.1, "batch": 2, "fresh": True}}, "flow.fresh = true: X and y are"),
    ({"flow": {"kind": "ode", "end_time": 1.0}, "dtype": "float32"}, "dtype = 'float32': flow.kind = 'ode' integrates"),
    (
        {
            "flow": {**DESCENT, "step_unit": "particle"},
            "network": {"kind": "linearised", "network": {"kind": "two_layer", "width": 3}},
        },
        "flow.step_unit = 'particle': network.kind = 'linearised' has no width",
    ),
    ({"flow": {**DESCENT, "step": "auto"}, "y": np.zeros(6), "X": np.zeros((6, 3))}, "the tangent kernel is 0"),
    # names
    ({"network": "two_layr"}, "network.kind = 'two_layr': unknown kind; did you mean \"two_layer\"?"),
    ({"network": "two_layer"}, "network.width: missing"),
    ({"network": {"kind": "two_layer", "widht": 3}}, 'network.widht = 3: unknown key; did you mean "width"?'),
    ({"flow": "gradient_descend"}, "flow.kind = 'gradient_descend': unknown kind; did you mean \"gradient_descent\"?"),
    ({"flow": {"kind": "gradient_descent", "steps": 5}}, "flow.step: missing"),
    ({"observe": ["train_los"]}, "observe[0].kind = 'train_los': unknown kind; did you mean \"train_loss\"?"),
    ({"network": 3}, "network = 3: must be"),
    ({"flow": None}, "flow = None: must be"),
    ({"observe": 3}, "observe = 3: must be a list of observables"),
    ({"observe": [None]}, "observe[0] = None: must be"),
    ({"network": DESCENT}, "network.kind = 'gradient_descent': unknown kind"),
    ({"network": {"kind": "fourier_features", "width": 3}}, "network.kind = 'fourier_features': it has no gradient"),
    # settings
    ({"loss": "logistc"}, "loss.kind = 'logistc': unknown kind; did you mean \"logistic\"?"),
    ({"loss": DESCENT}, "loss.kind = 'gradient_descent': unknown kind"),
    ({"loss": 3}, "loss = 3: must be"),
    ({"loss": {"kind": "huber", "deltta": 3}}, "loss.deltta = 3: unknown key"),
    *[({"loss": loss, "y": y, "network": {**NETWORK, "outputs": outputs}}, says) for loss, y, outputs, says in LABELS],
    ({"loss": "logistic", "y": SIGNS, "X_test": X, "y_test": [2.0] * 6}, "y_test[0] = 2: must be all −1 or +1"),
    ({"loss": "logistic", "y": SIGNS, "X_validation": X, "y_validation": [2] * 6}, "y_validation[0] = 2: must be"),
    ({"loss": "exponential", "y": SIGNS, "flow": {**DESCENT, "step": "auto"}}, "at no bounded rate; give an absolute"),
    ({"records": 1}, "records = 1: must be greater than or equal to 2"),
    ({"records": 2.5}, "records = 2.5: must be a whole number"),
    ({"spacing": "square"}, "spacing = 'square': must be 'linear', 'log' or 'listed'"),
    ({"spacing": "listed", "at": [9]}, "at = [9.0]: 9.0 is not between 0 and the last"),
    ({"at": [3]}, "at = [3.0]: only with spacing"),
    ({"seed": -1}, "seed = -1: must be from 0"),
    ({"seed": "a"}, "seed = 'a': must be a whole number"),
    ({"dtype": "float16"}, "dtype = 'float16': must be float64 or float32"),
    ({"threads": 0}, "threads = 0: must be from 1"),
    ({"threads": 10_000}, "threads = 10000: must be from 1"),
    ({"progress": "yes"}, "progress = 'yes': must be True or False"),
]


@pytest.mark.parametrize(("changed", "says"), CASES, ids=[says[:40] for _, says in CASES])
def test_one_line_says_what_is_wrong(changed: dict[str, Any], says: str) -> None:
    assert says in refused(**changed)


@pytest.mark.parametrize(("loss", "y", "outputs", "says"), LABELS, ids=[says[:40] for *_, says in LABELS])
def test_the_estimator_says_the_same(loss: str, y: Any, outputs: int, says: str) -> None:
    net = networks.MLP(width=4, depth=2, outputs=outputs)
    machine = training.TrainedNetwork(net, flows.GradientDescent(steps=5, step=0.1), loss=loss, seed=0)
    with pytest.raises(BadInput) as caught:
        machine.fit(arrays()["X"], y)
    assert isinstance(caught.value, ValueError), "as scikit-learn's own"
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


SPEC = """
[experiment]
kind = "gradient_flow"
samples = 6
[network]
kind = "mlp"
width = 4
depth = 2
[data]
kind = "gaussian"
dim = 3
[flow]
kind = "gradient_descent"
steps = 5
step = 0.1
"""


@pytest.mark.parametrize(
    ("loss", "target", "says"),
    [
        ('kind = "logistc"', 'kind = "neuron"', "loss.kind = 'logistc': unknown kind"),
        ('kind = "huber"\ndeltta = 1.0', 'kind = "neuron"', "loss.deltta = 1.0: unknown key"),
        ('kind = "logistic"', 'kind = "neuron"', "loss.kind = 'logistic': its labels are ±1, or 0 and 1, and those of"),
        ('kind = "hinge"', 'kind = "neuron"', "target.kind = 'neuron' are real numbers (allowed: "),
        ('kind = "softmax"', 'kind = "neuron"', "loss.kind = 'softmax': its labels are one class per sample, one-hot"),
        ('kind = "softmax"', 'kind = "ball"\nradius = 1.0', "target.kind = 'ball' are ±1, or 0 and 1 (allowed: "),
        (
            'kind = "logistic"',
            'kind = "ball"\nradius = 1e3',
            "target: one class only, all 6 labels are those of target[0]",
        ),
    ],
)
def test_a_spec_says_the_same(tmp_path: Path, loss: str, target: str, says: str) -> None:
    path = tmp_path / "spec.toml"
    path.write_text(f"{SPEC}[loss]\n{loss}\n[target]\n{target}\n", encoding="utf-8")
    with pytest.raises(BadInput) as caught:
        compute(load(path))
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_kind_of_another_room_is_refused() -> None:
    flow = flows.GradientDescent(steps=5, step=0.1)
    assert refused(network=flow).startswith("network = gradient_descent(steps=5, step=0.1): must be one of simlab.netw")
    assert refused(flow=networks.TwoLayer(width=4)).startswith("flow = two_layer(width=4): must be one of simlab.flows")


def test_an_argument_that_is_not_there_is_named() -> None:
    with pytest.raises(TypeError, match="no argument 'recrods'; did you mean \"records\""):
        training.train(networks.TwoLayer(width=4), X, X[:, 0], DESCENT, recrods=3)  # type: ignore[call-arg]


CALL = {"network": networks.TwoLayer(width=3), "flow": DESCENT, "records": 3, "seed": 0, "dtype": "float64"}
CALL |= {"spacing": "listed", "at": [2.0], "threads": 1, "observe": "train_loss", "loss": "squared"}
POINTS = np.random.default_rng(1).standard_normal((5, 3))
CALL |= {"X": POINTS, "y": POINTS[:, 0].copy(), "X_test": POINTS, "y_test": POINTS[:, 1].copy()}


@pytest.mark.parametrize("argument", sorted(CALL))
def test_a_wrong_argument_is_named(argument: str) -> None:
    others = {name: value for name, value in CALL.items() if name != argument}
    takes = {"at": {"generator"}}
    call = Call("train", lambda **one: training.train(**(others | one)), {argument: CALL[argument]}, takes)
    found = mistakes(call)
    assert not found, "\n".join(found)
