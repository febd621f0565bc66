"""JAX: descent of a fully connected ReLU net, full batch or batches, all steps in one jitted function."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
from mlp_net import answers, output_factor, start
from serve import Arrays, serve


class Descent:
    def __init__(self, parameters: dict[str, Any], inputs: Arrays) -> None:
        jax, jnp = importlib.import_module("jax"), importlib.import_module("jax.numpy")
        jax.config.update("jax_enable_x64", parameters["dtype"] == "float64")
        values, self.start = start(parameters, inputs)
        self.inputs = inputs["X"]
        X, y = jnp.asarray(self.inputs), jnp.asarray(values)
        scale, step = output_factor(X.shape[1], parameters["m"]), parameters["step"]
        compared, steps = parameters["compared"], parameters["steps"]

        losses: dict[str, Callable[[Any, Any], Any]] = {
            "squared": lambda f, y: 0.5 * jnp.sum((f - y) ** 2),
            "logistic": lambda f, y: jnp.sum(jax.nn.softplus(-y * f)),
            "softmax": lambda f, y: jnp.sum(jax.nn.logsumexp(f, axis=1) - jnp.sum(f * y, axis=1)),
        }
        sum_of_losses = losses[parameters["loss"]]

        def loss(theta: Any, x: Any, y: Any) -> Any:
            A = x
            for W in theta[:-1]:
                A = jnp.maximum(A @ W.T, 0.0)
            return sum_of_losses(scale * (A @ theta[-1].T), y) / len(x)

        def one(theta: Any, rows: Any) -> tuple[Any, None]:
            x, values = (X, y) if rows is None else (X[rows], y[rows])
            return [W - step * G for W, G in zip(theta, jax.grad(loss)(theta, x, values), strict=True)], None

        def descend(theta: Any, batches: Any) -> tuple[Any, Any]:
            """θ after the steps that are compared, and after all."""
            first, then = (None, None) if batches is None else (batches[:compared], batches[compared:])
            early = jax.lax.scan(one, theta, first, length=compared)[0]
            return early, jax.lax.scan(one, early, then, length=steps - compared)[0]

        self.descend = jax.jit(descend)
        self.theta = [jnp.asarray(W) for W in self.start]
        self.batches = jnp.asarray(inputs["batches"].astype(np.int32)) if "batches" in inputs else None
        self.wait = jax.block_until_ready

    def run(self) -> Any:
        return self.wait(self.descend(self.theta, self.batches))

    def answer(self, result: Any) -> Arrays:
        early, last = ([np.asarray(W) for W in theta] for theta in result)
        return answers(early, last, self.start, self.inputs)


if __name__ == "__main__":
    serve(Descent, ("jax", "jaxlib"))
