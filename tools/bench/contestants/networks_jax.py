"""JAX: descent of a two-layer ReLU net in one jitted scan."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from serve import Arrays, serve


class Descent:
    def __init__(self, parameters: dict[str, Any], inputs: Arrays) -> None:
        jax, jnp = importlib.import_module("jax"), importlib.import_module("jax.numpy")
        jax.config.update("jax_enable_x64", True)
        X, y = jnp.asarray(inputs["X"]), jnp.asarray(inputs["y"])
        scale, step = inputs["a"].size ** -0.5, parameters["step"]

        def loss(theta: Any) -> Any:
            a, W = theta
            return 0.5 * jnp.mean((scale * jnp.maximum(X @ W.T, 0.0) @ a - y) ** 2)

        def one(theta: Any, _: None) -> tuple[Any, None]:
            return jax.tree_util.tree_map(lambda t, g: t - step * g, theta, jax.grad(loss)(theta)), None

        self.descend = jax.jit(lambda theta: jax.lax.scan(one, theta, None, length=parameters["steps"])[0])
        self.theta = (jnp.asarray(inputs["a"]), jnp.asarray(inputs["W"]))
        self.wait = jax.block_until_ready

    def run(self) -> Any:
        return self.wait(self.descend(self.theta))

    def answer(self, result: Any) -> Arrays:
        return {"a": np.asarray(result[0]), "W": np.asarray(result[1])}


if __name__ == "__main__":
    serve(Descent, ("jax", "jaxlib"))
