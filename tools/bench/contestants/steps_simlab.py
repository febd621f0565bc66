"""simlab's steps of any network, full batch or SGD, from the start that the network draws."""

from __future__ import annotations

from typing import Any

import numpy as np
from descent import Descent, problem_of, simlab
from numpy.typing import NDArray
from serve import Arrays, serve


class Steps(Descent):
    def __init__(self, parameters: dict[str, Any], inputs: Arrays) -> None:
        fields = dict(parameters["network"])
        self.network = simlab("networks").get(fields.pop("kind"), **fields)
        self.X, self.compared = inputs["X"], parameters["compared"]
        options = {"width": fields["width"]} if parameters["step_unit"] == "particle" else {}
        self.problem = problem_of(self.network, self.X, inputs["y"], parameters["dtype"], **options)
        rates = {name: parameters[name] for name in ("steps", "step", "step_unit")}
        flows, batch = simlab("flows"), parameters["batch"]
        self.flow = flows.GradientDescent(**rates) if batch is None else flows.SGD(**rates, batch=batch)
        theta0 = self.network.initialise(self.X.shape[1], np.random.default_rng(1))
        self.begun = self.flow.start(self.problem, theta0, {"batches": np.random.default_rng(2)})
        self.descend(1)

    def answer(self, result: NDArray[Any]) -> Arrays:
        """Outputs and moves after `compared` steps, which is sooner than at the end in float32."""
        theta = self.descend(self.compared).astype(np.float64)
        move = theta - self.begun.theta.astype(np.float64)
        return {"f": self.network.forward(theta, self.X.astype(np.float64)), "move": move}


if __name__ == "__main__":
    serve(Steps, ("simlab", "numba", "scipy"))
