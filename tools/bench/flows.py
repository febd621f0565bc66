"""One-pass SGD beside PyTorch: two-layer ReLU net, both layers, fresh samples in batches of 1, 8 and 32, float64.

    tools/bench/peers.sh torch                        # once: the peer's own environment
    python tools/bench/flows.py                       # three batch sizes, about a minute
    python tools/bench/flows.py 8 --rounds 9
    python tools/bench/flows.py --json > flows.json

d = 32, m = 100. Both take the same steps over the same samples, each seen once, and the weights at the end are compared
before anything is timed. The samples are there before the clock starts, since how they are made is no part of the step.
PyTorch: eager, autograd, torch.optim.SGD, at 1 thread by default (a second one only costs at these sizes).

Exit code 1 if a target is missed, answers disagree or a contestant fails; a missing peer is only reported.
"""

from __future__ import annotations

import functools

import command
import numpy as np
from harness import CONTESTANTS, Arrays, Contestant, Problem, Target

BATCHES = {1: 8192, 8: 8192, 32: 4096}
"""Steps a run, by the number of samples in a batch: whole chunks of simlab's."""


def one_pass(batch: int, d: int = 32, m: int = 100, steps: int | None = None) -> Problem:
    rows = batch * (steps or BATCHES[batch])

    def inputs(rng: np.random.Generator) -> Arrays:
        X = rng.standard_normal((rows, d))
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        return {
            "X": X,
            "y": np.abs(X @ rng.standard_normal(d)),
            "a": rng.standard_normal(m),
            "W": rng.standard_normal((m, d)),
        }

    return Problem(
        f"batch {batch}",
        inputs,
        (
            Contestant("torch", CONTESTANTS / "flows_torch.py", peer="torch"),
            Contestant("simlab", CONTESTANTS / "flows_simlab.py", against="torch"),
        ),
        parameters={"batch": batch, "d": d, "m": m, "step": 0.05},
        tolerance=1e-9,
        targets=(Target("torch over simlab", "torch", "simlab", at_least=10),),
    )


if __name__ == "__main__":
    command.run("flows", __doc__, {str(batch): functools.partial(one_pass, batch) for batch in BATCHES}, threads=1)
