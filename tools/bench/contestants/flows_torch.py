"""PyTorch: one-pass SGD of a two-layer ReLU net, one eager step per batch, with autograd."""

from __future__ import annotations

import importlib
from typing import Any

from serve import Arrays, serve


class OnePass:
    def __init__(self, parameters: dict[str, Any], inputs: Arrays) -> None:
        torch = importlib.import_module("torch")
        torch.set_num_threads(parameters["threads"])
        self.torch = torch
        self.X, self.y, self.a, self.W = (torch.from_numpy(inputs[name]) for name in ("X", "y", "a", "W"))
        self.scale = inputs["a"].size ** -0.5
        self.batch, self.step = parameters["batch"], parameters["step"]

    def run(self) -> Any:
        torch = self.torch
        a, W = self.a.clone().requires_grad_(), self.W.clone().requires_grad_()
        descent = torch.optim.SGD([a, W], lr=self.step)
        for X, y in zip(self.X.split(self.batch), self.y.split(self.batch), strict=True):
            descent.zero_grad()
            loss = 0.5 * torch.mean((self.scale * torch.relu(X @ W.T) @ a - y) ** 2)
            loss.backward()
            descent.step()
        return a, W

    def answer(self, result: Any) -> Arrays:
        return {name: value.detach().numpy() for name, value in zip(("a", "W"), result, strict=True)}


if __name__ == "__main__":
    serve(OnePass, ("torch",))
