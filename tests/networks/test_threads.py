"""Networks large enough that their loops divide the work: the same bits on one thread and on two."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pytest

from simlab import flows, losses, networks
from simlab.core.rng import Streams
from simlab.flows.problem import Problem
from simlab.networks.bound import Bound

MLP = {"kind": "mlp", "width": 300, "depth": 3, "outputs": 3, "weight_std": 1.4, "bias_std": 0.3}
FEATURES = {"kind": "neural_tangent", "width": 150, "weight_std": 1.4, "bias_std": 0.3, "coefficient_std": 1.0}


def _both(compute: Any) -> list[Any]:
    before = numba.get_num_threads()
    if before < 2:
        pytest.skip("numba was started with one thread")
    found = []
    try:
        for threads in (1, 2):
            numba.set_num_threads(threads)
            found.append(compute())
    finally:
        numba.set_num_threads(before)
    return found


@pytest.mark.parametrize("rows", [32, 700])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    "table",
    [
        MLP,
        MLP | {"activation": "tanh"},
        MLP | {"outputs": 150},
        MLP | {"outputs": 150, "activation": "tanh"},
        FEATURES,
        {"kind": "linearised", "network": MLP},
        {"kind": "linearised", "network": {"kind": "two_layer", "width": 200}},
        {"kind": "two_layer", "width": 200},
        {"kind": "three_layer_mean_field", "width": 200},
    ],
    ids=lambda table: "_".join(str(v["kind"] if isinstance(v, dict) else v) for v in table.values())[:40],
)
def test_bits_do_not_depend_on_the_number_of_threads(table: dict[str, Any], dtype: type, rows: int) -> None:
    fields = dict(table)
    net: Any = networks.get(fields.pop("kind"), **fields)
    rng, dim = np.random.default_rng(0), 40
    X, R, theta = rng.standard_normal((rows, dim)), rng.standard_normal((rows, net.output_count())), None
    theta = net.initialise(dim, rng)
    v = rng.standard_normal(theta.size)

    def compute() -> bytes:
        bound = Bound(net, dim, dtype)
        found = bound.value(theta, X), bound.push(theta, v, X), bound.pull(theta, R, X)
        return b"".join(array.tobytes() for array in found)

    one, two = _both(compute)
    assert one == two


def test_a_long_update_has_the_same_bits() -> None:
    """Momentum and weight decay on 300,000 weights, which are divided among the threads."""
    net, rng = networks.MLP(width=400, depth=3, outputs=4), np.random.default_rng(0)
    X, y = rng.standard_normal((100, 300)), np.eye(4)[rng.integers(0, 4, 100)]
    theta0 = net.initialise(300, rng)
    flow = flows.SGD(steps=5, step=0.1, batch=20, momentum=0.9, weight_decay=1e-3, decay_to="start")

    def compute() -> bytes:
        problem = Problem.of(Bound(net, 300), X, y, 1.0, losses.get("softmax"))
        state = flow.start(problem, theta0, Streams(0))
        flow.advance(problem, state, 5, 1e9)
        assert not np.array_equal(state.theta, theta0)
        return bytes(state.theta.tobytes())

    one, two = _both(compute)
    assert one == two
