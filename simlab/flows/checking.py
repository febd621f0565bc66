"""Whether a flow keeps the contract: its own tests run on every kind, also on one from another package."""

from __future__ import annotations

import pickle
from dataclasses import replace
from itertools import cycle
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simlab.core.checking import check_value, ensure
from simlab.core.crew import Crew
from simlab.core.parsing import choose
from simlab.core.rng import Streams
from simlab.flows.flow import Flow, FlowState
from simlab.flows.problem import GOING, Problem
from simlab.losses.loss import Loss
from simlab.losses.squared import Squared
from simlab.networks.bound import Bound

Array = NDArray[Any]
SAMPLES, DIM, WIDTH = 12, 4, 8
LOSSES: dict[str, dict[str, Any]] = {
    "logistic": {"trained": "second"},
    "softmax": {"kind": "mlp", "depth": 1, "outputs": 3},
}
"""Loss → fields of the network on which a flow is checked with it: both are convex in the weights that are trained."""
SINGLE_TOLERANCE = 1e-4
"""How far a flow in float32 may end from the same one in float64, relative to the largest weight."""


def check_flow(flow: Flow) -> None:
    """Raise AssertionError, one line, where the flow breaks the contract. Its steps must be small enough to be stable
    on a small network of two layers, inputs and weights of size 1."""
    check_value(flow, Flow)
    ensure(flow.last() > 0, f"{flow!r}.last() = {flow.last()}: must be greater than 0")
    ensure(flow.output_scale() > 0, f"{flow!r}.output_scale() = {flow.output_scale()}: must be greater than 0")
    whole = _check_state(flow)
    _check_stops(flow, whole)
    _check_streams(flow, whole)
    _check_frozen(flow)
    _check_convex(flow)
    _check_losses(flow)
    _check_single(flow, whole)


def small_problem(
    flow: Flow, dtype: Any = np.float64, loss: Loss | None = None, **fields: Any
) -> tuple[Problem, Array]:
    """(problem, θ₀) of a tanh net on Gaussian inputs, or as `fields` of a network say. loss: None for squared."""
    network = choose("networks", {"kind": "two_layer", "width": WIDTH, "activation": "tanh"} | fields, "network")
    law = choose("data", {"kind": "gaussian", "dim": DIM}, "data")
    flow.check_network(network, SAMPLES, np.dtype(dtype).name, law)

    def fresh(rows: int, rng: np.random.Generator) -> tuple[Array, Array]:
        X = rng.standard_normal((rows, DIM))
        return X, _labels(X, network.output_count(), loss)

    rng = np.random.default_rng(0)
    X, y = fresh(SAMPLES, rng)
    theta0 = network.initialise(DIM, rng)
    bound = Bound(network, DIM, dtype)
    return Problem.of(bound, X, y, flow.output_scale(), loss, width=WIDTH, fresh=fresh), theta0


def _labels(X: Array, outputs: int, loss: Loss | None) -> Array:
    """Labels that the loss takes: sin⟨k, x⟩, the sign of ⟨k, x⟩, or the largest coordinate.

    Classes are those of a linear function, so that descent on new samples lowers the loss of the others too.
    """
    along = X @ np.arange(1.0, DIM + 1.0)
    if loss is None or loss.labels == "real":
        return np.asarray(np.sin(along))
    wanted = np.where(along > 0, 1.0, -1.0) if outputs == 1 else np.argmax(X[:, :outputs], axis=1)
    return loss.encode(wanted, outputs, several=False)


def _marks(flow: Flow) -> tuple[float, float]:
    """The instants to stop at: one on the way and the last."""
    return (0.26 * flow.last() if flow.clock == "time" else np.ceil(0.34 * flow.last())), flow.last()


def _run(flow: Flow, dtype: Any = np.float64, loss: Loss | None = None, **fields: Any) -> FlowState:
    """The state at the end, in one go."""
    return _ended(flow, *small_problem(flow, dtype, loss, **fields))


def _ended(flow: Flow, problem: Problem, theta0: Array) -> FlowState:
    state = flow.start(problem, theta0, Streams(5))
    for until in _marks(flow):
        flow.advance(problem, state, until, 1e9)
    return state


def _bits(state: FlowState) -> dict[str, Any]:
    return {
        name: value.bit_generator.state if isinstance(value, np.random.Generator) else np.asarray(value).tobytes()
        for name, value in state.arrays().items()
    }


def _differing(first: FlowState, second: FlowState) -> str:
    one, other = _bits(first), _bits(second)
    return ", ".join(name for name in {**one, **other} if one.get(name) != other.get(name))


def _check_state(flow: Flow) -> FlowState:
    problem, theta0 = small_problem(flow)
    before = theta0.copy()
    state = flow.start(problem, theta0, Streams(5))
    ensure(
        type(state) is flow.state_class,
        f"{flow.kind}.start gives a {type(state).__name__}; state_class is {flow.state_class.__name__}",
    )
    ensure(flow.now(state) == 0, f"{flow.kind}.start: {flow.clock} = {flow.now(state)} at the start; must be 0")
    ensure(np.array_equal(state.theta, theta0), f"{flow.kind}.start: theta is not theta0")
    whole = _run(flow)
    flow.advance(problem, state, flow.last(), 1e9)
    ensure(np.array_equal(theta0, before), f"{flow.kind}: start or advance changed theta0; it must be copied")
    ensure(
        whole.ending == GOING and flow.now(whole) == flow.last(),
        f"{flow!r}: ended (ending = {whole.ending}) at {flow.clock} {flow.now(whole)}, not at the last {flow.last()}",
    )
    ensure(not np.array_equal(whole.theta, theta0), f"{flow!r}: the weights did not move")
    return whole


def _check_stops(flow: Flow, whole: FlowState, loss: Loss | None = None, **fields: Any) -> None:
    """Stretches of a few steps each, the state through `arrays` and pickle and the problem made anew after each."""
    problem, theta0 = small_problem(flow, loss=loss, **fields)
    state = flow.start(problem, theta0, Streams(5))
    paces = cycle((20.0, 150.0, 40.0))
    for until in _marks(flow):
        while flow.now(state) < until:
            before = flow.now(state)
            state = flow.state_class.of(pickle.loads(pickle.dumps(state.arrays())))
            problem, _ = small_problem(flow, loss=loss, **fields)
            problem.crew = Crew(next(paces))
            flow.advance(problem, state, until, 0.0)
            ensure(flow.now(state) > before, f"{flow!r}.advance made no step from {flow.clock} {before}")
        ensure(
            flow.now(state) == until,
            f"{flow!r}.advance stopped at {flow.clock} {flow.now(state)}; must stop exactly at until = {until}",
        )
    if names := _differing(whole, state):
        raise AssertionError(f"{flow!r}: stopped on the way and restored from arrays(), it ends with another {names}")


def _check_streams(flow: Flow, whole: FlowState) -> None:
    problem, theta0 = small_problem(flow)
    shared = Streams(5)
    states = [flow.start(problem, theta0, shared) for _ in range(2)]
    for state in states:
        for until in _marks(flow):
            flow.advance(problem, state, until, 1e9)
        if names := _differing(whole, state):
            raise AssertionError(f"{flow!r}: two flows from the same streams differ in {names}")


def _check_frozen(flow: Flow) -> None:
    problem, theta0 = small_problem(flow, trained="first")
    theta = _run(flow, trained="first").theta
    frozen = np.ones(theta.size, bool)
    frozen[problem.part] = False
    ensure(np.array_equal(theta[frozen], theta0[frozen]), f"{flow!r}: weights moved that are not trained")
    ensure(np.all(theta[~frozen] != theta0[~frozen]), f"{flow!r}: some of the weights that are trained did not move")


def _check_convex(flow: Flow) -> None:
    """The loss of the second layer alone is convex, and falls."""
    problem, theta0 = small_problem(flow, trained="second")
    before, after = problem.loss(theta0), problem.loss(_run(flow, trained="second").theta)
    ensure(after < before, f"{flow!r}: a convex loss rose from {before:.6g} to {after:.6g}")


def _check_losses(flow: Flow) -> None:
    """Losses of classes on linear models: the loss falls, it is the one asked for, and stopping changes nothing."""
    for kind, fields in LOSSES.items():
        loss: Loss = choose("losses", kind, "loss")
        try:
            problem, theta0 = small_problem(flow, loss=loss, **fields)
        except ValueError:  # what `check_network` refuses: time in units of a width that the network lacks
            continue
        state = _ended(flow, problem, theta0)
        ensure(state.ending == GOING, f"{flow!r} with loss {kind!r}: ended early (ending = {state.ending})")
        before, after = problem.loss(theta0), problem.loss(state.theta)
        ensure(after < before, f"{flow!r}: a convex loss, {kind}, rose from {before:.6g} to {after:.6g}")
        squared = _ended(flow, replace(small_problem(flow, loss=loss, **fields)[0], loss_kind=Squared()), theta0)
        same = np.array_equal(state.theta, squared.theta)
        ensure(not same, f"{flow!r}: the squared loss and {kind} lead to the same weights")
        _check_stops(flow, state, loss, **fields)


def _check_single(flow: Flow, double: FlowState) -> None:
    try:
        small_problem(flow, np.float32)
    except ValueError:  # what `check_network` refuses: it integrates in float64
        return
    single = _run(flow, np.float32)
    ensure(single.theta.dtype == np.float32, f"{flow!r}: theta is {single.theta.dtype} where the problem is float32")
    distance = np.max(np.abs(single.theta - double.theta)) / np.max(np.abs(double.theta))
    ensure(0 < distance < SINGLE_TOLERANCE, f"{flow!r}: in float32 it ends {distance:.2g} away from float64")
