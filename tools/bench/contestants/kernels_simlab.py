"""simlab's kernels through their public names: two Gram matrices at once, the general recursion, a spectrum."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from serve import Arrays, serve


class Gram:
    def __init__(self, kernels: Any, parameters: dict[str, Any], inputs: Arrays) -> None:
        depth = parameters["depth"]
        self.gram = kernels.gram
        self.kernels = [kernels.nngp(depth, "relu"), kernels.ntk(depth, "relu")]
        self.threads, self.X, self.compared = parameters["threads"], inputs["X"], inputs["compared"]
        # Compiled code and tables are loaded once per process, not once per matrix: they belong to the preparation.
        self.gram(self.kernels, self.X[:64], threads=self.threads)

    def run(self) -> Any:
        return self.gram(self.kernels, self.X, threads=self.threads)

    def answer(self, result: Any) -> Arrays:
        at = np.ix_(self.compared, self.compared)
        return {"nngp": result[0][at], "ntk": result[1][at]}


class Recursion:
    """Every activation and depth of the general recursion; one that simlab does not have is left out of the answer."""

    def __init__(self, kernels: Any, parameters: dict[str, Any], inputs: Arrays) -> None:
        activations = importlib.import_module("simlab.activations")
        self.X, self.tasks = inputs["X"], {}
        for case in parameters["cases"]:
            try:
                activation = activations.get(case["activation"], **case["fields"])
            except Exception as error:
                print(f"{case['activation']}: {error}")
                continue
            stds = {"weight_std": parameters["weight_std"], "bias_std": parameters["bias_std"]}
            for depth in case["depths"]:
                for kind in case["kinds"]:
                    kernel = getattr(kernels, kind)(depth, activation, **stds)
                    self.tasks[f"{case['activation']} depth {depth} {kind}"] = kernel

    def run(self) -> Arrays:
        return {name: kernel.gram(self.X) for name, kernel in self.tasks.items()}

    def answer(self, result: Arrays) -> Arrays:
        return result


class Spectrum:
    def __init__(self, kernels: Any, parameters: dict[str, Any], inputs: Arrays) -> None:
        self.kernel = kernels.ntk(parameters["depth"])
        self.arguments = parameters["dim"], parameters["max_degree"]

    def run(self) -> Any:
        return self.kernel.spectrum(*self.arguments)

    def answer(self, result: Any) -> Arrays:
        return {"log10": np.asarray(result.log10)}


def prepare(parameters: dict[str, Any], inputs: Arrays) -> Gram | Recursion | Spectrum:
    kernels = importlib.import_module("simlab.kernels")
    tasks: dict[str, type[Gram] | type[Recursion] | type[Spectrum]]
    tasks = {"gram": Gram, "recursion": Recursion, "spectrum": Spectrum}
    return tasks[parameters["task"]](kernels, parameters, inputs)


if __name__ == "__main__":
    serve(prepare, ("simlab", "numba", "scipy"))
