"""What a net has learned of F and of αG(F), and observables of several outputs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simlab import data, networks, observables, targets
from simlab.observables.view import Setting, View, check_setting

d = 8
law = targets.AllenZhuLi(pairs=4, group=4, alpha=0.3)
target: Any = law.draw(d, np.random.default_rng(0))
cube = np.array(np.meshgrid(*[[-1.0, 1.0]] * d)).reshape(d, -1).T
F, G = target.parts(cube)


@pytest.mark.parametrize(("p", "q", "size"), [(1.0, 1.0, 0.0), (0.7, 0.2, 0.5), (0.0, 0.0, 1.0)])
def test_a_combination_is_taken_apart(p: float, q: float, size: float) -> None:
    """On the whole cube F, G(F) and x₁ are orthogonal: the parts of the error add up to it exactly."""
    other = np.repeat(cube[:, :1], 4, axis=1)
    f = p * F + q * 0.3 * G + size * other
    learned = target.learned(f, (F, G))
    assert learned.simple == pytest.approx(p, abs=1e-12)
    assert learned.composed == pytest.approx(q, abs=1e-12)
    assert learned.error_rest == pytest.approx(4 * size**2, abs=1e-12)
    total = np.mean(np.sum((f - target(cube)) ** 2, axis=1))
    assert learned.error_simple + learned.error_composed + learned.error_rest == pytest.approx(total, abs=1e-10)


def test_errors_are_summed_over_outputs() -> None:
    network = networks.ResNet3(width=5, outputs=4)
    theta = network.initialise(d, np.random.default_rng(1))
    X, X_test, X_validation = cube[:20], cube[20:60], cube[100:130]
    view = View(
        theta, theta, X, target(X), X_test, target(X_test), network, 2.0, X_validation=X_validation,
        y_validation=target(X_validation), target=target,
    )  # fmt: skip

    def error(rows: Any) -> float:
        return float(np.mean(np.sum((2.0 * network.forward(theta, rows) - target(rows)) ** 2, axis=1)))

    assert observables.TrainLoss().measure(view)["train_loss"] == pytest.approx(error(X) / 2)
    assert observables.TestLoss().measure(view)["test_loss"] == pytest.approx(error(X_test) / 2)
    assert observables.TestError().measure(view)["test_error"] == pytest.approx(error(X_test))
    found = observables.ValidationError().measure(view)["validation_error"]
    assert found == pytest.approx(error(X_validation))


def test_what_makes_no_sense_is_refused() -> None:
    several = Setting(networks.ResNet3(width=5, outputs=4), law, data.BooleanCube(dim=d), 10, 10)
    with pytest.raises(ValueError, match=r"residual_power is of one output; target\.kind = 'allen_zhu_li' has 4"):
        check_setting([observables.ResidualPower(max_degree=2)], several)
    with pytest.raises(ValueError, match=r"validation_error needs experiment\.validation_samples"):
        check_setting([observables.ValidationError()], several)
    check_setting([observables.Hierarchy()], several)
    one = Setting(networks.TwoLayer(width=5), targets.ReLUTeacher(), data.UniformSphere(dim=4), 10, 10)
    with pytest.raises(ValueError, match=r"target\.kind = 'relu_teacher': hierarchy needs one made of F and G"):
        check_setting([observables.Hierarchy()], one)
