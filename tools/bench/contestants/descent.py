"""What simlab's contestants of descent share: a flow that runs again and again from one start."""

from __future__ import annotations

import copy
import importlib
from typing import Any

import numpy as np
from numpy.typing import NDArray


def simlab(room: str) -> Any:
    """A room of simlab, imported where a contestant is prepared: one that is not installed is reported."""
    return importlib.import_module(f"simlab.{room}")


def problem_of(network: Any, X: NDArray[Any], y: NDArray[Any], dtype: str, **options: Any) -> Any:
    """The problem of fitting y : (n, …) at the inputs X : (n, d); `options` are those of `Problem.of`."""
    bound = simlab("networks.bound").Bound(network, X.shape[1], np.dtype(dtype))
    return simlab("flows.problem").Problem.of(bound, X, y, 1.0, **options)


class Descent:
    """Runs `flow` on `problem` from the state `begun`, which a subclass sets."""

    flow: Any
    problem: Any
    begun: Any

    def descend(self, steps: int) -> NDArray[Any]:
        """θ after so many steps. Compiled code is loaded once per process: `descend(1)` belongs to the preparation."""
        state = copy.deepcopy(self.begun)
        self.flow.advance(self.problem, state, steps, float("inf"))
        theta: NDArray[Any] = state.theta
        return theta

    def run(self) -> Any:
        return self.descend(self.flow.steps)


class EarlyAndLast(Descent):
    """Answers are compared after `compared` steps, which a subclass sets, and after all."""

    compared: int

    def run(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """θ after `compared` steps, and after all."""
        state = copy.deepcopy(self.begun)
        self.flow.advance(self.problem, state, self.compared, float("inf"))
        early = state.theta.copy()
        self.flow.advance(self.problem, state, self.flow.steps, float("inf"))
        return early, state.theta


class TwoLayerDescent(Descent):
    """Of a two-layer net with θ = (a, W)."""

    def answer(self, result: NDArray[Any]) -> dict[str, NDArray[Any]]:
        found, m = result.astype(np.float64), self.problem.bound.network.width
        return {"a": found[:m], "W": found[m:].reshape(m, -1)}
