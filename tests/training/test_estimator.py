"""machines.TrainedNetwork: a network as scikit-learn has estimators."""

from __future__ import annotations

import pickle
import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from simlab import flows, machines, networks, train
from simlab.core.errors import BadInput
from simlab.machines import TrainedNetwork


def machine(**changed: Any) -> Any:
    net, flow = networks.TwoLayer(width=30, activation="tanh"), flows.GradientDescent(steps=300, step=0.2)
    return TrainedNetwork(**({"network": net, "flow": flow} | changed))


def arrays() -> tuple[Any, Any]:
    X = np.random.default_rng(0).standard_normal((40, 3))
    return X, np.sin(X[:, 0])


@pytest.mark.parametrize(
    "one",
    [
        machine(),
        machine(network={"kind": "mlp", "width": 20, "depth": 3}, seed=3),
        machine(flow=flows.SGD(steps=300, step=0.1, batch=1), dtype="float32"),
    ],
    ids=["two_layer", "mlp", "sgd"],
)
def test_every_check_of_scikit_learn_passes(one: Any) -> None:
    with warnings.catch_warnings():
        # On purpose: scikit-learn is optional here.
        warnings.filterwarnings("ignore", message=r"Estimator \w+ does not inherit from `sklearn.base.BaseEstimator`")
        rows = check_estimator(one, on_skip=None, on_fail=None)
    wrong = {row["check_name"]: row["exception"] for row in rows if row["status"] != "passed"}
    assert list(wrong) in ([], ["check_array_api_input"]), wrong  # skipped unless SCIPY_ARRAY_API is set
    assert len(rows) >= 50


def test_it_is_what_train_gives() -> None:
    X, y = arrays()
    fitted = machine(seed=5).fit(X, y)
    same = train(fitted.network, X, y, fitted.flow, seed=5, progress=False)
    np.testing.assert_array_equal(fitted.predict(X), same.predict(X))
    assert fitted.score(X, y) == pytest.approx(r2_score(y, same.predict(X)), abs=1e-12)
    assert fitted.ending_ == "ran to its end"
    assert fitted.trained_.trajectory.sizes["record"] == 2
    assert machines.TrainedNetwork is TrainedNetwork
    assert "TrainedNetwork" in dir(machines)


def test_network_width_and_step_are_chosen_by_search() -> None:
    X, y = arrays()
    grid = {"network__width": [2, 30], "flow__step": [1e-4, 0.2]}
    search = GridSearchCV(machine(), grid, cv=3).fit(X, y)
    assert search.best_params_["flow__step"] == 0.2
    best = search.best_estimator_
    assert best.flow.step == 0.2
    assert best.network.width == search.best_params_["network__width"]
    nets = [networks.TwoLayer(width=3), networks.MLP(width=10, depth=3)]
    search = GridSearchCV(machine(), {"network": nets}, cv=2).fit(X, y)
    assert search.best_params_["network"] in nets
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    again = pickle.loads(pickle.dumps(best))
    np.testing.assert_array_equal(again.predict(X), best.predict(X))
    assert clone(best).get_params() == best.get_params()
    assert make_pipeline(StandardScaler(), machine()).fit(X, y).score(X, y) > 0.5


def test_parameters_of_parameters() -> None:
    one = machine()
    assert one.get_params()["network__width"] == 30
    assert one.set_params(network__width=4, flow__alpha=2.0).network.width == 4
    assert one.flow.alpha == 2.0
    with pytest.raises(BadInput, match=r'network__widht: unknown parameter; did you mean "network__width"'):
        one.set_params(network__widht=4)
    assert repr(one).startswith("TrainedNetwork(network=two_layer(width=4, activation=tanh()), flow=gradient_descent(")


def test_everything_is_checked_in_fit_only() -> None:
    X, y = arrays()
    wrong = machine(network="two_layr")
    with pytest.raises(BadInput, match='did you mean "two_layer"'):
        wrong.fit(X, y)
    with pytest.raises(NotFittedError):
        wrong.predict(X)
    with pytest.raises(BadInput, match="X has 2 features"):
        machine().fit(X, y).predict(X[:, :2])


def test_several_outputs_and_a_column() -> None:
    X, y = arrays()
    net = networks.MLP(width=10, depth=2, outputs=2)
    assert machine(network=net).fit(X, np.column_stack([y, -y])).predict(X).shape == (40, 2)
    with pytest.warns(DataConversionWarning, match="column-vector"):
        assert machine().fit(X, y[:, np.newaxis]).predict(X).shape == (40,)


def test_needs_no_scikit_learn() -> None:
    code = "import sys\nsys.modules['sklearn'] = None\nfrom simlab import flows, machines, networks\n"
    code += "m = machines.TrainedNetwork(networks.TwoLayer(width=5), flows.GradientDescent(steps=5, step=0.1))\n"
    code += "print(m.set_params(network__width=6).fit([[1.0], [2.0]], [[1.0], [2.0]]).predict([[1.0]]).shape)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "(1,)\n"
