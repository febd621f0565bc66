"""Accuracy, margins and the loss by class against direct counts; labels of no class are refused."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
import pytest
from numpy.typing import NDArray
from pydantic import Field
from scipy.stats import sem

from simlab import losses, networks, observables, targets
from simlab.core import catalogue
from simlab.core.errors import BadInput
from simlab.observables.view import Setting, View, check_setting
from simlab.record.schema import RECORD, Output

Floats = NDArray[np.float64]
EYE = np.eye(3)


class Given(networks.TwoLayer):
    """f(x) = x: the outputs are given as inputs."""

    def forward(self, theta: Floats, X: Floats) -> Floats:
        return X[:, 0] if X.shape[1] == 1 else X


def view_of(f: Any, y: Any, loss: str, alpha: float = 2.0, **more: Any) -> View:
    """An instant at which the predictions αf are those given, on training and test data."""
    X = np.asarray(f, dtype=np.float64).reshape(len(y), -1) / alpha
    theta = np.array([3.0, 4.0] + [0.0] * (X.shape[1] - 1))
    labels = np.asarray(y, dtype=np.float64)
    found = {"theta": theta, "theta0": theta, "X": X, "y": labels, "X_test": X, "y_test": labels}
    return View(**(found | {"network": Given(width=1), "alpha": alpha, "loss": losses.get(loss)} | more))


SIGNS = view_of([0.5, -2.0, 0.0, 3.0, -0.1], [1, -1, 1, -1, -1], "logistic")
CLASSES = view_of([[1, 3, 0], [2, 2, 0], [0, 1, 5], [4, 0, 1]], EYE[[1, 0, 1, 0]], "softmax")


def test_accuracy_counts_the_boundary_as_wrong() -> None:
    found = observables.Accuracy().measure(SIGNS)
    right = [1, 1, 0, 0, 1]
    assert found["train_accuracy"] == found["test_accuracy"] == pytest.approx(0.6, rel=1e-15)
    assert found["test_accuracy_se"] == pytest.approx(sem(right), rel=1e-12)
    several = observables.Accuracy(test=False).measure(CLASSES)
    assert several == {"train_accuracy": 0.5}  # a tie, and a third class that is larger


def test_accuracy_of_random_predictions_is_that_of_argmax() -> None:
    rng = np.random.default_rng(0)
    f, classes = rng.standard_normal((200, 3)), rng.integers(3, size=200)
    for y in (EYE[classes], 2.0 * EYE[classes] - 1.0):  # one-hot, and one class against the rest
        found = observables.Accuracy().measure(view_of(f, y, "squared"))
        assert found["train_accuracy"] == np.mean(np.argmax(f, axis=1) == classes)


def test_margins() -> None:
    found = observables.Margin(quantiles=(0.0, 0.5, 1.0)).measure(SIGNS)
    assert found["margin"] == pytest.approx([-3.0, 0.1, 2.0], rel=1e-12)
    several = observables.Margin(quantiles=(0.0, 1.0)).measure(CLASSES)
    assert several["margin"] == pytest.approx([-4.0, 3.0], rel=1e-12)
    least = observables.Margin().outputs()["margin"].coords["quantile"]
    assert list(least) == [0.0, 0.1, 0.5]


def test_normalised_margins_of_a_homogeneous_net_do_not_change_with_its_scale() -> None:
    """A ReLU net of two layers is homogeneous of degree 2; with one layer trained, of degree 1 in that layer."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((20, 3))
    y = np.sign(X[:, 0])
    for trained, degree, part in (("both", 2.0, slice(None)), ("second", 1.0, slice(6))):
        net = networks.TwoLayer(width=6, trained=trained)
        theta = net.initialise(3, rng)
        larger = theta.copy()
        larger[part] *= 3.0
        found = [
            observables.Margin(degree=degree).measure(View(now, now, X, y, X, y, net, 1.0))["margin"]
            for now in (theta, larger)
        ]
        assert found[0] == pytest.approx(found[1], rel=1e-12)
        plain = observables.Margin().measure(View(theta, theta, X, y, X, y, net, 1.0))["margin"]
        assert found[0] == pytest.approx(plain / np.linalg.norm(theta[part]) ** degree, rel=1e-12)
    nothing = View(0.0 * theta, theta, X, y, X, y, net, 1.0)
    assert np.all(observables.Margin(degree=1.0).measure(nothing)["margin"] == 0.0)


def test_loss_by_class() -> None:
    found = observables.ClassLoss().measure(SIGNS)
    expected = [np.mean(np.log1p(np.exp([-2.0, 3.0, -0.1]))), np.mean(np.log1p(np.exp([-0.5, 0.0])))]
    assert found["class_loss"] == pytest.approx(expected, rel=1e-12)
    assert list(found["class_count"]) == [3, 2]
    whole = found["class_loss"] @ found["class_count"] / 5
    assert whole == pytest.approx(SIGNS.train_loss, rel=1e-12)
    several = observables.ClassLoss().measure(CLASSES)
    assert list(several["class_count"]) == [2, 2, 0]
    assert np.isnan(several["class_loss"][2])
    f = np.array([[2.0, 2, 0], [4, 0, 1]])
    assert several["class_loss"][0] == pytest.approx(np.mean(np.log(np.exp(f).sum(axis=1)) - f[:, 0]), rel=1e-12)


@pytest.mark.parametrize("kind", ["accuracy", "margin", "class_loss"])
@pytest.mark.parametrize(
    ("y", "says"),
    [
        ([1.0, 0.3, -1.0], r"y\[1\] = \[0\.3\]: {kind} needs labels that are −1 or \+1"),
        ([0.0, 1.0, 1.0], r"y\[0\] = \[0\.0\]: {kind} needs labels that are −1 or \+1"),
        ([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]], r"y\[1\] = \[1\.0, 1\.0\]: {kind} needs labels that are 0 or −1 but"),
        ([[1.0, 0.0], [0.0, 1.0], [0.2, 1.0]], r"y\[2\] = \[0\.2, 1\.0\]: {kind} needs"),
        ([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]], r"y\[2\] = \[0\.0, 0\.0\]: {kind} needs"),
    ],
)
def test_labels_of_no_class_are_refused(kind: str, y: Any, says: str) -> None:
    with pytest.raises(BadInput, match=f"^{says.format(kind=kind)}"):
        observables.get(kind).measure(view_of(np.ones(np.shape(y)), y, "squared"))


class Real(targets.ReLUTeacher):
    """A target that says what its values are."""

    def value_kind(self) -> Any:
        return "real"


@pytest.mark.parametrize("kind", ["accuracy", "margin", "class_loss"])
def test_real_targets_are_refused_before_the_run(kind: str) -> None:
    net, observable = networks.TwoLayer(width=4), observables.get(kind)
    with pytest.raises(ValueError, match=rf"^target\.kind = 'real': {kind} needs labels ±1 or one-hot"):
        check_setting([observable], Setting(net, Real(), None, 5, 5))
    with pytest.raises(ValueError, match=f"^samples = 0: {kind} needs training samples"):
        check_setting([observable], Setting(net, None, None, 0, 5))
    check_setting([observable], Setting(net, None, None, 5, 5))


def test_accuracy_without_test_samples() -> None:
    few = Setting(networks.TwoLayer(width=4), None, None, 5, 1)
    with pytest.raises(ValueError, match=r"^test_samples = 1: accuracy needs 2 or more .*test = false$"):
        check_setting([observables.Accuracy()], few)
    check_setting([observables.Accuracy(test=False)], few)


@pytest.mark.parametrize("quantiles", [[-0.1], [1.5], [0.5, 0.5], []])
def test_quantiles_lie_between_0_and_1_each_once(quantiles: list[float]) -> None:
    with pytest.raises(BadInput, match="quantiles"):
        observables.get("margin", quantiles=quantiles)


def test_the_mean_of_the_squared_loss_has_the_bits_of_one_product() -> None:
    """r·r/(2n), r all residuals: as runs were recorded before there were other losses."""
    rng = np.random.default_rng(2)
    for columns in (1, 3):
        f, y = rng.standard_normal((2, 501, columns))
        view = view_of(f, y[:, 0] if columns == 1 else y, "squared", alpha=1.0)
        r = (f - y).ravel()
        assert view.train_loss == view.mean_loss(view.X, view.y) == float(r @ r) / (2 * 501)
        assert view.losses(view.X, view.y) == pytest.approx(0.5 * np.sum((f - y) ** 2, axis=1), rel=1e-14)
    assert np.isnan(view.mean_loss(view.X[:0], view.y[:0]))
    assert view.losses(view.X[:0], view.y[:0]).shape == (0,)
    assert CLASSES.mean_loss(CLASSES.X, CLASSES.y) == np.mean(CLASSES.losses(CLASSES.X, CLASSES.y))


@pytest.mark.parametrize(
    ("kind", "loss", "says"),
    [
        ("kernel_distance", "logistic", r"kernel_distance needs the squared loss \(allowed: squared\)$"),
        ("tangent_spectrum", "hinge", "tangent_spectrum needs the squared loss"),
        ("test_error", "softmax", r"test_error needs a loss of real labels \(allowed: .*squared"),
        ("validation_error", "logistic", "validation_error needs a loss of real labels"),
    ],
)
def test_a_loss_that_makes_no_sense_is_refused(kind: str, loss: str, says: str) -> None:
    net = networks.TwoLayer(width=4)
    arrays = Setting(net, None, None, 9, 60, 7)
    check_setting([observables.get(kind)], arrays)
    with pytest.raises(ValueError, match=rf"^loss\.kind = '{loss}': {says}"):
        check_setting([observables.get(kind)], Setting(net, None, None, 9, 60, 7, losses.get(loss)))


def test_which_observables_take_any_loss() -> None:
    by_loss = {
        name: set(catalogue.able("observables", lambda cls, name=name: cls.losses == name))
        for name in ("any", "real", "squared")
    }
    assert {"train_loss", "test_loss", "accuracy", "margin", "class_loss", "sharpness"} <= by_loss["any"]
    assert {"test_error", "validation_error", "residual_power", "hierarchy"} <= by_loss["real"]
    assert {"kernel_distance", "loss_split", "tangent_spectrum", "risk"} <= by_loss["squared"]
    assert observables.Observable.losses == "squared"  # what is new must say that it can do more


class Faulty(observables.Observable):
    """An observable that says that it takes any loss."""

    several_outputs: ClassVar[bool] = True
    losses: ClassVar[Literal["any", "real", "squared"]] = "any"

    fault: str = Field(description="what is wrong")

    def outputs(self) -> dict[str, Output]:
        return {"number": Output("a number", (RECORD,))}

    def measure(self, view: View) -> dict[str, Any]:
        match self.fault:
            case "signs" if view.loss.labels == "signs":
                return {"number": np.nan}
            case "classes" if view.loss.labels == "classes":
                return {"number": view.y[0]}
            case "never":
                raise BadInput("y[0] = 1.0: never good enough")
        return {"number": 1.0}


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        ("signs", "number is not finite"),
        ("classes", r"number has shape \(2,\)"),
        ("never", r"all that were tried are refused: y\[0\] = 1\.0: never good enough"),
    ],
)
def test_the_check_walks_every_loss(fault: str, says: str) -> None:
    observables.check(Faulty(fault="none"))
    with pytest.raises(AssertionError, match=says):
        observables.check(Faulty(fault=fault))
