"""JAX: descent of the three-layer mean-field net in one jitted scan, by automatic differentiation."""

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
        rates = [parameters["step"] * len(inputs[name]) for name in ("V", "w", "b")]

        def loss(theta: Any) -> Any:
            V, w, b = theta
            F = jnp.maximum(X @ V.T, 0.0) @ jnp.sqrt(jnp.sum(V * V, axis=1)) / V.shape[0]
            f = jnp.mean(jnp.maximum(F[:, None] * w + b, 0.0), axis=1)
            return 0.5 * jnp.mean((f - y) ** 2)

        def one(theta: Any, _: None) -> tuple[Any, None]:
            return [t - rate * g for t, g, rate in zip(theta, jax.grad(loss)(theta), rates, strict=True)], None

        self.descend = jax.jit(lambda theta: jax.lax.scan(one, theta, None, length=parameters["steps"])[0])
        self.theta = [jnp.asarray(inputs[name]) for name in ("V", "w", "b")]
        self.wait = jax.block_until_ready

    def run(self) -> Any:
        return self.wait(self.descend(self.theta))

    def answer(self, result: Any) -> Arrays:
        return {name: np.asarray(array) for name, array in zip(("V", "w", "b"), result, strict=True)}


if __name__ == "__main__":
    serve(Descent, ("jax", "jaxlib"))
