"""Every flow keeps the contract: the clock changes no bit, a saved state goes on to the bit, frozen weights stay."""

from __future__ import annotations

import pickle
from itertools import cycle
from typing import Any

import numpy as np
import pytest

from simlab.core import lookup
from simlab.core.params import parse
from simlab.flows.problem import GOING
from tests.flows.problems import Array, small, streams

FLOWS = lookup.all_examples("flows")
ONE_EACH = [(kind, lookup.examples("flows", kind)[0]) for kind in lookup.kinds("flows")]


def chosen(kind: str, fields: dict[str, Any]) -> tuple[Any, Any]:
    module = lookup.get("flows", kind)
    return module, parse(module.Params, fields)


def marks(module: Any, params: Any) -> list[Any]:
    return [1.3, params.end_time] if getattr(module, "CLOCK", "step") == "time" else [17, params.steps]


def run(kind: str, fields: dict[str, Any], **net: Any) -> dict[str, Any]:
    """The states at the marks, in one go."""
    module, params = chosen(kind, fields)
    problem, theta0 = small(params.alpha, **net)
    state = module.start(params, problem, theta0, streams())
    for until in marks(module, params):
        module.advance(params, problem, state, until, 1e9)
    return dict(state)


def compared(state: dict[str, Any]) -> dict[str, Any]:
    return {
        key: value.bit_generator.state if isinstance(value, np.random.Generator) else np.asarray(value).tobytes()
        for key, value in state.items()
    }


@pytest.mark.parametrize(("kind", "fields"), FLOWS)
def test_stopped_and_saved_at_any_place_it_goes_on_to_the_bit(kind: str, fields: dict[str, Any]) -> None:
    """Stretches of 1, 7 and 2 steps in turn, the state through pickle and the problem made anew after each."""
    whole = run(kind, fields)
    module, params = chosen(kind, fields)
    problem, theta0 = small(params.alpha)
    state = module.start(params, problem, theta0, streams())
    calls = 0
    paces = cycle((20.0, 150.0, 40.0))
    for until in marks(module, params):
        while state[getattr(module, "CLOCK", "step")] < until:
            state = pickle.loads(pickle.dumps(state))
            problem, _ = small(params.alpha)
            problem.kept["pace"] = next(paces)
            module.advance(params, problem, state, until, 0.0)
            calls += 1
    assert calls > 4 or fields.get("method") == "Radau"
    assert whole["ending"] == GOING
    assert compared(whole) == compared(state)
    assert not np.array_equal(whole["theta"], theta0)


@pytest.mark.parametrize(("kind", "fields"), FLOWS)
def test_two_flows_of_the_same_streams_see_the_same_numbers(kind: str, fields: dict[str, Any]) -> None:
    module, params = chosen(kind, fields)
    problem, theta0 = small(params.alpha)
    shared = streams()
    first, second = (module.start(params, problem, theta0, shared) for _ in range(2))
    for state in (first, second):
        module.advance(params, problem, state, marks(module, params)[-1], 1e9)
    assert compared(first) == compared(second)


@pytest.mark.parametrize(("kind", "fields"), ONE_EACH)
def test_weights_that_are_not_trained_stay(kind: str, fields: dict[str, Any]) -> None:
    problem, theta0 = small(trained="first")
    theta = run(kind, fields, trained="first")["theta"]
    frozen = np.ones(theta.size, bool)
    frozen[problem.part] = False
    assert 0 < frozen.sum() < theta.size
    assert np.array_equal(theta[frozen], theta0[frozen])
    assert np.all(theta[~frozen] != theta0[~frozen])


@pytest.mark.parametrize("kind", [kind for kind in lookup.kinds("flows") if kind != "ode"])
def test_single_precision_follows_double(kind: str) -> None:
    fields = lookup.examples("flows", kind)[0]

    def end(dtype: Any) -> Array:
        found: Array = run(kind, fields, dtype=dtype)["theta"]
        return found

    single, double = end(np.float32), end(np.float64)
    assert single.dtype == np.float32
    assert 0 < np.max(np.abs(single - double)) < 1e-5 * np.max(np.abs(double))
