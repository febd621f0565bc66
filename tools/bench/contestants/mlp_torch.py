"""PyTorch: descent of a fully connected ReLU net, an eager step at a time with autograd, weights updated in place."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from mlp_net import answers, output_factor, start
from serve import Arrays, serve


class Descent:
    def __init__(self, parameters: dict[str, Any], inputs: Arrays) -> None:
        torch = importlib.import_module("torch")
        torch.set_num_threads(parameters["threads"])
        self.torch = torch
        values, self.start = start(parameters, inputs)
        self.inputs = inputs["X"]
        self.X, self.y = torch.from_numpy(self.inputs), torch.from_numpy(values)
        self.theta = [torch.from_numpy(W) for W in self.start]
        self.scale = output_factor(self.X.shape[1], parameters["m"])
        self.step, self.steps, self.compared = (parameters[name] for name in ("step", "steps", "compared"))
        self.batches = torch.from_numpy(inputs["batches"]) if "batches" in inputs else None
        losses: dict[str, Callable[[Any, Any], Any]] = {
            "squared": lambda f, y: 0.5 * torch.sum((f - y) ** 2),
            "logistic": lambda f, y: torch.sum(torch.nn.functional.softplus(-y * f)),
            "softmax": lambda f, y: torch.nn.functional.cross_entropy(f, y, reduction="sum"),
        }
        self.sum_of_losses = losses[parameters["loss"]]

    def run(self) -> Any:
        torch, early = self.torch, None
        theta = [W.clone().requires_grad_() for W in self.theta]
        for done in range(1, self.steps + 1):
            if self.batches is None:
                A, y = self.X, self.y
            else:
                rows = self.batches[done - 1]
                A, y = self.X[rows], self.y[rows]
            n = len(A)
            for W in theta[:-1]:
                A = torch.relu(A @ W.T)
            loss = self.sum_of_losses(self.scale * (A @ theta[-1].T), y) / n
            loss.backward()
            with torch.no_grad():
                for W in theta:
                    W.sub_(W.grad, alpha=self.step)
                    W.grad = None
            if done == self.compared:
                early = [W.detach().clone() for W in theta]
        return early, [W.detach() for W in theta]

    def answer(self, result: Any) -> Arrays:
        early, last = ([W.numpy() for W in theta] for theta in result)
        return answers(early, last, self.start, self.inputs)


if __name__ == "__main__":
    serve(Descent, ("torch",))
