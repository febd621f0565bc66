"""JAX: SGD of the three-layer ResNet with momentum and weight decay, all steps in one jitted function."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from serve import Arrays, serve

TRAINED = ("W", "b1", "V", "b2")


class Descent:
    def __init__(self, parameters: dict[str, Any], inputs: Arrays) -> None:
        jax, jnp = importlib.import_module("jax"), importlib.import_module("jax.numpy")
        X, y, A = (jnp.asarray(inputs[name]) for name in ("X", "y", "A"))
        step, momentum, decay = parameters["step"], parameters["momentum"], parameters["weight_decay"]

        def loss(theta: Any, x: Any, y: Any) -> Any:
            W, b1, V, b2 = theta
            S = jnp.maximum(x @ W.T + b1, 0.0) @ A.T
            f = S + jnp.maximum(S @ V.T + b2, 0.0) @ A.T
            return 0.5 * jnp.sum((f - y) ** 2) / len(x)

        def one(state: Any, rows: Any) -> tuple[Any, None]:
            theta, velocity = state
            gradient = jax.grad(loss)(theta, X[rows], y[rows])
            velocity = [momentum * v + g + decay * t for v, g, t in zip(velocity, gradient, theta, strict=True)]
            return ([t - step * v for t, v in zip(theta, velocity, strict=True)], velocity), None

        def descend(state: Any, batches: Any) -> tuple[Any, Any]:
            """θ after the steps that are compared, and after all."""
            compared = parameters["compared"]
            early = jax.lax.scan(one, state, batches[:compared])[0]
            return early[0], jax.lax.scan(one, early, batches[compared:])[0][0]

        self.descend = jax.jit(descend)
        theta = [jnp.asarray(inputs[name]) for name in TRAINED]
        self.state = theta, [jnp.zeros_like(t) for t in theta]
        self.batches = jnp.asarray(inputs["batches"].astype(np.int32))
        self.wait = jax.block_until_ready

    def run(self) -> Any:
        return self.wait(self.descend(self.state, self.batches))

    def answer(self, result: Any) -> Arrays:
        early, last = result
        square = sum(float(((a - b) ** 2).sum()) for a, b in zip(last, self.state[0], strict=True))
        found = {name: np.asarray(array) for name, array in zip(TRAINED, early, strict=True)}
        return {**found, "moved": np.array(square**0.5)}


if __name__ == "__main__":
    serve(Descent, ("jax", "jaxlib"))
