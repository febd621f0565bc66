"""PyTorch: SGD of the three-layer ResNet with momentum and weight decay, an eager step at a time with autograd."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from serve import Arrays, serve

TRAINED = ("W", "b1", "V", "b2")


class Descent:
    def __init__(self, parameters: dict[str, Any], inputs: Arrays) -> None:
        torch = importlib.import_module("torch")
        torch.set_num_threads(parameters["threads"])
        self.torch = torch
        self.X, self.y, self.A, self.batches = (torch.from_numpy(inputs[name]) for name in ("X", "y", "A", "batches"))
        self.theta = [torch.from_numpy(inputs[name]) for name in TRAINED]
        self.compared = parameters["compared"]
        self.rates = {"lr": parameters["step"], **{name: parameters[name] for name in ("momentum", "weight_decay")}}

    def run(self) -> Any:
        torch, A = self.torch, self.A
        W, b1, V, b2 = theta = [t.clone().requires_grad_() for t in self.theta]
        descent = torch.optim.SGD(theta, **self.rates)
        for done, rows in enumerate(self.batches):
            if done == self.compared:
                early = [t.detach().clone() for t in theta]
            descent.zero_grad()
            S = torch.relu(torch.addmm(b1, self.X[rows], W.T)) @ A.T
            f = S + torch.relu(torch.addmm(b2, S, V.T)) @ A.T
            loss = 0.5 * torch.sum((f - self.y[rows]) ** 2) / len(rows)
            loss.backward()
            descent.step()
        return early, [t.detach() for t in theta]

    def answer(self, result: Any) -> Arrays:
        early, last = result
        square = sum(float(((a - b) ** 2).sum()) for a, b in zip(last, self.theta, strict=True))
        found = {name: value.numpy() for name, value in zip(TRAINED, early, strict=True)}
        return {**found, "moved": np.array(square**0.5)}


if __name__ == "__main__":
    serve(Descent, ("torch",))
