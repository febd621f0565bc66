"""simlab.train: the bits of a sweep's point, what it returns, what it leaves alone."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import simlab
from simlab import data, flows, networks, targets, train
from simlab.core.errors import BadInput
from simlab.core.rng import Streams
from simlab.training import Trained

WIDTH, DIM, SEED = 12, 4, 11
FLOWS: list[dict[str, Any]] = [
    {"kind": "gradient_descent", "steps": 60, "step": 0.3, "alpha": 2.0},
    {"kind": "gradient_descent", "steps": 60, "step": 0.3, "step_unit": "particle"},
    {"kind": "momentum", "steps": 60, "step": "auto"},
    {"kind": "sgd", "steps": 60, "step": 0.2, "batch": 3},
    {"kind": "langevin", "steps": 60, "step": 0.1, "temperature": 1e-3},
    {"kind": "ode", "end_time": 3.0},
]
OBSERVE: list[Any] = [
    "train_loss", "test_loss", "validation_error", "weight_movement", {"kind": "neuron_snapshots", "neurons": WIDTH},
]  # fmt: skip


def arrays(n: int = 20, d: int = DIM) -> tuple[Any, Any]:
    X = np.random.default_rng(0).standard_normal((n, d))
    return X, np.sin(X[:, 0])


def small(**options: Any) -> Trained:
    """A training of milliseconds."""
    X, y = arrays()
    given = {"seed": 3, "progress": False} | options
    return train(networks.TwoLayer(width=7), X, y, flows.GradientDescent(steps=40, step=0.1), **given)


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The same trainings as points of a sweep, in workers: one per flow."""
    tables = {
        "experiment": {"kind": "gradient_flow", "samples": 10, "test_samples": 5, "validation_samples": 4}
        | {"records": 7, "seed": SEED},
        "data": {"kind": "uniform_sphere", "dim": DIM},
        "target": {"kind": "relu_teacher"},
        "network": {"kind": "two_layer", "width": WIDTH},
        "observables": OBSERVE,
        "flow": FLOWS[0],
        "sweep": {"flow": FLOWS},
    }
    with simlab.run(tables, tmp_path_factory.mktemp("sweep"), workers=1, quiet=True).dataset as found:
        return found.load()


@pytest.mark.parametrize("place", range(len(FLOWS)), ids=lambda place: FLOWS[place]["kind"])
def test_the_bits_are_those_of_a_point_of_a_sweep(sweep: Any, place: int) -> None:
    streams = Streams(SEED)
    law, target = data.UniformSphere(dim=DIM), targets.ReluTeacher().draw(DIM, streams["target"])
    X, X_test, X_validation = (law.sample(n, streams[s]) for n, s in ((10, "data"), (5, "test"), (4, "validation")))
    trained = train(
        networks.TwoLayer(width=WIDTH), X, target(X), FLOWS[place], observe=OBSERVE, records=7, seed=SEED,
        X_test=X_test, y_test=target(X_test), X_validation=X_validation, y_validation=target(X_validation),
        progress=False,
    )  # fmt: skip
    point = sweep.isel({sweep["train_loss"].dims[0]: place})
    ours = trained.trajectory
    assert {"test_loss", "validation_error", "neuron_weights", "step", "time", "ending"} < set(ours.variables)
    in_time = FLOWS[place]["kind"] == "ode"
    of_sweeps = {"flow", "length", "status", *(["step_size"] if in_time else [])}
    assert set(ours.variables) == set(point.variables) - of_sweeps
    for name in ours.variables:
        np.testing.assert_array_equal(ours[name].values, point[name].values, err_msg=name)
        said = {key: value for key, value in point[name].attrs.items() if key not in ("coordinates", "_FillValue")}
        if not (in_time and name in ("step", "time")):  # which the sweep describes as its first flow does
            assert str(sorted(ours[name].attrs.items())) == str(sorted(said.items()))
    last = [point[f"neuron_{name}"].values[-1].ravel() for name in ("coefficient", "weights")]
    np.testing.assert_array_equal(trained.theta, np.concatenate(last))
    np.testing.assert_array_equal(trained.theta0, networks.TwoLayer(width=WIDTH).initialise(DIM, Streams(SEED)["init"]))


def test_the_linearised_network_is_trained_beside() -> None:
    X, y = arrays()
    found = small(observe=["linear_distance", "kernel_distance"], X_test=X[:5], y_test=y[:5]).trajectory
    assert found["linear_weight_distance"].values[0] == 0.0
    assert 0.0 < found["linear_test_distance"].values[-1] < 1.0


def test_what_is_returned() -> None:
    X, y = arrays()
    net, flow = networks.TwoLayer(width=7, activation="tanh"), flows.GradientDescent(steps=40, step=0.1, alpha=3.0)
    trained = train(net, X, y, flow, observe=["train_loss", "tangent_drift"], seed=3, progress=False)
    assert (trained.network, trained.flow, trained.ending, trained.seed) == (net, flow, "ran to its end", 3)
    np.testing.assert_array_equal(trained.predict(X), 3.0 * net.forward(trained.theta, X))
    np.testing.assert_array_equal(trained.tangent_kernel(X), net.tangent_gram(trained.theta, X))
    np.testing.assert_array_equal(trained.tangent_kernel(X, X[:3]), net.tangent_gram(trained.theta, X, X[:3]))
    np.testing.assert_array_equal(trained.features(X), net.features(trained.theta, X))
    loss = np.mean((trained.predict(X) - y) ** 2) / 2
    assert trained.trajectory["train_loss"].values[-1] == pytest.approx(loss, rel=1e-12)
    assert repr(trained) == (
        "<Trained two_layer(width=7, activation=tanh()) by gradient_descent(steps=40, step=0.1, alpha=3.0):"
        " ran to its end, 41 records>"
    )
    assert {"predict", "tangent_kernel", "trajectory", "theta", "save"} < set(dir(trained))


def test_the_trajectory_explains_itself() -> None:
    found = small(records=5).trajectory
    assert found["train_loss"].dims == ("record",)
    assert set(found.coords) == {"record", "step", "time"}
    assert found["step"].values.tolist() == [0, 10, 20, 30, 40]
    assert "training" in found["train_loss"].attrs["long_name"]
    assert found["ending"].attrs["flag_meanings"].startswith("ran_to_its_end")
    assert found.attrs["seed"] == 3
    assert json.loads(found.attrs["versions"])["numpy"] == np.__version__
    spec = tomllib.loads(found.attrs["spec"])
    assert spec["network"]["width"] == 7
    assert spec["flow"]["kind"] == "gradient_descent"
    assert spec["training"]["loss"] == "squared"


def test_losses_of_the_given_data_are_observed_by_default() -> None:
    X, y = arrays()
    assert {"test_loss", "validation_error"}.isdisjoint(small().trajectory)
    found = small(X_test=X[:5], y_test=y[:5], X_validation=X[:4], y_validation=y[:4]).trajectory
    assert {"train_loss", "test_loss", "validation_error", "weight_movement"} < set(found)


@pytest.mark.parametrize(("spacing", "more"), [("log", {"records": 5}), ("listed", {"at": [5, 11]})])
def test_records_are_where_they_were_asked_for(spacing: str, more: dict[str, Any]) -> None:
    steps = small(spacing=spacing, **more).trajectory["step"].values.tolist()
    assert steps == ([0, 5, 11, 40] if spacing == "listed" else [0, 1, 3, 12, 40])


def test_objects_names_tables_and_classes_are_the_same() -> None:
    X, y = arrays()
    flow = {"kind": "gradient_descent", "steps": 40, "step": 0.1}
    for network in ({"kind": "two_layer", "width": np.int64(7)}, networks.TwoLayer(width=7)):
        for observe in ("train_loss", ["train_loss"], [{"kind": "train_loss"}], simlab.observables.TrainLoss):
            again = train(network, X, y, flow, observe=observe, seed=3, progress=False)
            np.testing.assert_array_equal(again.theta, small().theta)


def test_arrays_of_many_kinds_are_the_same() -> None:
    X, y = arrays()
    frozen = X.copy()
    frozen.flags.writeable = False
    flow = flows.GradientDescent(steps=40, step=0.1)
    strided = np.repeat(X, 2, axis=1)[:, ::2]
    for inputs, values in ((X.tolist(), y.tolist()), (np.asfortranarray(X), y[:, None]), (frozen, y), (strided, y)):
        again = train(networks.TwoLayer(width=7), inputs, values, flow, seed=3, progress=False)
        np.testing.assert_array_equal(again.theta, small().theta)
        assert again.predict(inputs).shape == (20,)


def test_several_outputs() -> None:
    X, y = arrays()
    Y = np.column_stack([y, -y, y**2])
    net = networks.MLP(width=6, depth=2, outputs=3)
    trained = train(net, X, Y, flows.GradientDescent(steps=40, step=0.1), X_test=X, y_test=Y, seed=0, progress=False)
    assert trained.predict(X).shape == (20, 3)
    assert trained.trajectory["test_loss"].values[-1] == trained.trajectory["train_loss"].values[-1]


def test_a_seed_is_drawn_and_kept() -> None:
    first, second = small(seed=None), small(seed=None)
    assert first.seed != second.seed
    np.testing.assert_array_equal(small(seed=first.seed).theta, first.theta)


def test_single_precision() -> None:
    single, double = small(dtype=np.float32), small()
    assert single.dtype == "float32"
    assert 0.0 < np.abs(single.theta - double.theta).max() < 1e-4
    assert single.theta.dtype == np.float64


def test_the_threads_of_the_caller_change_nothing_and_stay() -> None:
    def blas() -> list[int]:
        return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]

    alone = small(observe=["train_loss", "tangent_spectrum"])
    before = numba.get_num_threads()
    numba.set_num_threads(min(2, before))
    try:
        with threadpool_limits(2):
            at_rest = numba.get_num_threads(), blas()
            beside = small(observe=["train_loss", "tangent_spectrum"])
            assert (numba.get_num_threads(), blas()) == at_rest
            with pytest.raises(BadInput):
                small(records=1)
            assert (numba.get_num_threads(), blas()) == at_rest
    finally:
        numba.set_num_threads(before)
    assert beside.trajectory.identical(alone.trajectory)


def test_trainings_in_threads_do_not_disturb_each_other() -> None:
    found: list[Trained] = []
    workers = [threading.Thread(target=lambda: found.append(small())) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert all(np.array_equal(one.theta, small().theta) for one in found)
    assert len(found) == 3


def test_a_flow_that_diverges_says_so() -> None:
    X, y = arrays()
    flow = flows.GradientDescent(steps=500, step=1e6)
    trained = train(networks.TwoLayer(width=7), X, y, flow, progress=False)
    assert trained.ending != "ran to its end"
    assert trained.records < 101
    if np.isfinite(trained.theta).all():
        trained.predict(X)
    else:
        with pytest.raises(BadInput, match="theta is not finite: the flow diverged"):
            trained.predict(X)


@pytest.fixture
def ctrl_c_raises() -> Iterator[None]:
    """SIGINT raises KeyboardInterrupt, also where a shell started the tests in the background and has it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c_raises")
def test_ctrl_c_ends_it_at_once() -> None:
    X, y = arrays()
    timer = threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT))
    before = numba.get_num_threads()
    began = time.monotonic()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        train(networks.TwoLayer(width=7), X, y, flows.GradientDescent(steps=10**9, step=1e-9), progress=False)
    assert time.monotonic() - began < 3.0
    assert numba.get_num_threads() == before
    assert small().ending == "ran to its end"


def test_importing_is_light() -> None:
    code = "import sys, simlab; simlab.train; print(sorted({'numpy', 'numba', 'click'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
    assert {"train", "load"} < set(dir(simlab))


def test_a_script_needs_no_guard(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import numpy as np\nfrom simlab import flows, networks, train\n"
        "X = np.eye(4)\n"
        "t = train(networks.TwoLayer(width=5), X, X[:, 0], flows.GradientDescent(steps=10, step=0.1), seed=0)\n"
        "print(t.trajectory['train_loss'].sizes['record'])\n"
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout == "11\n"
