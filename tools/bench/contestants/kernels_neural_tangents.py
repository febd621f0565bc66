"""neural-tangents' closed forms in float64, jitted, NNGP and NTK from one call as its users do.

Its Dense layer in the 'ntk' parametrisation is K' = σ_b² + σ_w² K, with K = x·y/d at the start: MATH §3's general
recursion. The normalised family is that of inputs of norm √d with σ_w² = 2 in every layer but the last, and 1 there.

A whole 10,000 × 10,000 matrix would need more than 20 GB of temporaries, so Gram matrices are computed in blocks of
rows by `threads` Python threads, each copying its blocks into the two results. Measured against one thread (XLA then
leaves part of the second core idle), blocks of 50 to 1000 rows and neural-tangents' own `batch` (2-3 times slower at
one hidden layer): within the noise the fastest of them.
"""

from __future__ import annotations

import importlib
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray
from serve import Arrays, serve

BLOCK_ROWS = 200

LAYERS = {
    "relu": ("Relu", ()),
    "abs": ("Abs", ()),
    "leaky_relu": ("LeakyRelu", ("slope",)),
    "erf": ("Erf", ()),
    "gelu": ("Gelu", ()),
    "sin": ("Sin", ()),
    "cos": ("Cos", ()),
    "exp": ("Exp", ()),
    "monomial": ("Monomial", ("degree",)),
    "sign": ("Sign", ()),
}


def kernel_function(nt: Any, case: dict[str, Any], depth: int, stds: tuple[float, float | None], last: float) -> Any:
    """The jitted kernel of `depth` weight layers: (x, y) -> one matrix for each of the case's kinds."""
    jax, stax = importlib.import_module("jax"), nt.stax
    name, fields = LAYERS[case["activation"]]

    def dense(weight_std: float) -> Any:
        return stax.Dense(1, weight_std, stds[1], parameterization="ntk")

    layers = []
    for _ in range(depth - 1):
        layers += [dense(stds[0]), getattr(stax, name)(*(case["fields"][field] for field in fields))]
    kernel = stax.serial(*layers, dense(last))[2]
    return jax.jit(lambda x, y: tuple(kernel(x, y, tuple(case["kinds"]))))


class Gram:
    def __init__(self, nt: Any, parameters: dict[str, Any], inputs: Arrays) -> None:
        self.kernel = kernel_function(
            nt, {"activation": "relu", "kinds": ["nngp", "ntk"]}, parameters["depth"], (np.sqrt(2.0), None), 1.0
        )
        X = inputs["X"]
        self.X = importlib.import_module("jax.numpy").asarray(X * np.sqrt(X.shape[1]))
        self.threads, self.compared = parameters["threads"], inputs["compared"]

    def run(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        n = len(self.X)
        nngp, ntk = np.empty((n, n)), np.empty((n, n))

        def block(i: int) -> None:
            rows = slice(i, i + BLOCK_ROWS)
            nngp[rows], ntk[rows] = self.kernel(self.X[rows], self.X)

        with ThreadPoolExecutor(self.threads) as pool:
            list(pool.map(block, range(0, n, BLOCK_ROWS)))
        return nngp, ntk

    def answer(self, result: Any) -> Arrays:
        at = np.ix_(self.compared, self.compared)
        return {"nngp": result[0][at], "ntk": result[1][at]}


class Recursion:
    def __init__(self, nt: Any, parameters: dict[str, Any], inputs: Arrays) -> None:
        self.X = inputs["X"]
        stds = parameters["weight_std"], parameters["bias_std"]
        self.kernels = {
            (case["activation"], depth, *case["kinds"]): kernel_function(nt, case, depth, stds, stds[0])
            for case in parameters["cases"]
            for depth in case["depths"]
        }

    def run(self) -> Arrays:
        found = {}
        for (activation, depth, *kinds), kernel in self.kernels.items():
            for kind, value in zip(kinds, kernel(self.X, self.X), strict=True):
                found[f"{activation} depth {depth} {kind}"] = np.asarray(value)
        return found

    def answer(self, result: Arrays) -> Arrays:
        return result


def prepare(parameters: dict[str, Any], inputs: Arrays) -> Gram | Recursion:
    jax, nt = importlib.import_module("jax"), importlib.import_module("neural_tangents")
    jax.config.update("jax_enable_x64", True)
    tasks: dict[str, type[Gram] | type[Recursion]] = {"gram": Gram, "recursion": Recursion}
    return tasks[parameters["task"]](nt, parameters, inputs)


if __name__ == "__main__":
    serve(prepare, ("neural-tangents", "jax", "jaxlib"))
