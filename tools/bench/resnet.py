"""Epochs of SGD of the three-layer ResNet beside JAX and PyTorch, float32, at widths 200 and 1000. MATH §9.

    tools/bench/peers.sh jax torch                    # once: the peers' own environments
    python tools/bench/resnet.py                      # two widths, about a minute
    python tools/bench/resnet.py 200 --rounds 9
    python tools/bench/resnet.py --json > resnet.json

f(x) = A(σ(Wx+b₁) + σ(VAσ(Wx+b₁)+b₂)), ReLU, A untrained, on 1000 samples of Allen-Zhu and Li's target: x ∈ {±1}^30,
F = (x₁x₂, …, x₁₅x₁₆), G = (y₁y₂y₃y₄ four times, y₅y₆y₇y₈ four times), y = F + 0.3 G(F). Loss: half the mean of
‖f − y‖² over a batch of 50; momentum 0.9, weight decay.

All visit the same batches in the same order: simlab shuffles as it always does, in the clock; the others are given the
rows that this comes to, and gather them in the clock. What is compared before anything is timed are the weights after
five steps of the run, by the median neuron, and how far they have moved at its end.

Why so early, and the median. In float32 the first weights differ by 2e-7 of the largest, until for one input and one
neuron rounding decides on which side of a kink it lies. From that step on the neuron differs by 5e-3, the others by
3e-5 a few steps later, and all by 1e-2 after forty steps more. Measured at width 200 with four seeds: the first such
step of any two of simlab, JAX and PyTorch came between 6 and 60 steps, and each of the three was the odd one out of the
four at least once, against the same descent in float64; which it is depends on the CPU. At the end weights differ by
up to 0.4 to 0.9 of the largest and the way that they went by 0.5 %. Mistakes show at once, in the median neuron too: no
weight decay makes 4e-4, another momentum or one wrong row more (`tests/tools/test_resnet_bench.py`).
JAX: one jitted function of all steps, scans. PyTorch: eager, autograd, torch.optim.SGD, at one thread (a second one
only costs at these sizes).

Exit code 1 if a target is missed, answers disagree or a contestant fails; a missing peer is only reported.
"""

from __future__ import annotations

import functools
from typing import Any

import command
import numpy as np
from harness import CONTESTANTS, Arrays, Contestant, Problem, Target
from numpy.typing import NDArray

EPOCHS = {200: 50, 1000: 15}
"""By width: of 20 steps each."""
OUTPUTS = 8
COMPARED_STEPS = 5
"""Steps after which the weights are compared."""
MOVED = 0.02  # of the way from the first weights to the last, its length


def by_neuron(ours: NDArray[Any], theirs: NDArray[Any]) -> dict[str, float]:
    """The median over neurons, the rows, of the largest difference, relative to the largest value."""
    rows = np.abs(ours - theirs).reshape(ours.shape[0] if ours.ndim else 1, -1)
    return {"": float(np.median(rows.max(axis=1)) / np.max(np.abs(theirs)))}


def orders(n: int, epochs: int, seed: int) -> NDArray[np.int64]:
    """The rows that simlab's `sgd` visits, (epochs, n): each order a Fisher–Yates shuffle of the one before."""
    rng = np.random.default_rng(seed)
    order, found = np.arange(n), np.empty((epochs, n), np.int64)
    for epoch in found:
        for i in range(n - 1, 0, -1):
            j = int(rng.random() * (i + 1))
            order[i], order[j] = order[j], order[i]
        epoch[:] = order
    return found


def sgd(m: int, n: int = 1000, d: int = 30, batch: int = 50, epochs: int | None = None) -> Problem:
    k, epochs = OUTPUTS, epochs or EPOCHS[m]
    assert n % batch == 0, "scans have batches of one size"

    def inputs(rng: np.random.Generator) -> Arrays:
        X = rng.choice([-1.0, 1.0], (n, d))
        F = X[:, 0 : 2 * k : 2] * X[:, 1 : 2 * k : 2]
        G = np.repeat(np.stack([F[:, :4].prod(axis=1), F[:, 4:].prod(axis=1)], axis=1), 4, axis=1)
        seed = int(rng.integers(2**32))
        floats = {
            "X": X,
            "y": F + 0.3 * G,
            "W": rng.standard_normal((m, d)) / d**0.5,
            "b1": rng.standard_normal(m) / d**0.5,
            "V": rng.standard_normal((m, k)) / m**0.5,
            "b2": rng.standard_normal(m) / m**0.5,
            "A": rng.standard_normal((k, m)) / m**0.5,
        }
        return {name: array.astype(np.float32) for name, array in floats.items()} | {
            "seed": np.array(seed),
            "batches": orders(n, epochs, seed).reshape(-1, batch),
        }

    held: dict[str, Any] = {"against": "jax", "tolerances": {"moved": MOVED}}
    return Problem(
        f"width {m}",
        inputs,
        (
            Contestant("jax", CONTESTANTS / "resnet_jax.py", peer="jax"),
            Contestant("torch", CONTESTANTS / "resnet_torch.py", peer="torch", parameters={"threads": 1}, **held),
            Contestant("simlab", CONTESTANTS / "resnet_simlab.py", **held),
        ),
        parameters={"n": n, "d": d, "m": m, "batch": batch, "epochs": epochs, "compared": COMPARED_STEPS,
                    "step": 0.1, "momentum": 0.9, "weight_decay": 5e-4},
        tolerance=1e-4,
        difference=by_neuron,
        targets=(
            Target("jax over simlab", "jax", "simlab", at_least=1.2),
            Target("torch over simlab", "torch", "simlab", at_least=2),
        ),
    )  # fmt: skip


if __name__ == "__main__":
    command.run("resnet", __doc__, {str(m): functools.partial(sgd, m) for m in EPOCHS}, threads=2)
