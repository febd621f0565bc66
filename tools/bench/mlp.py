"""Descent of a ReLU net of four weight layers beside JAX and PyTorch: full batch and SGD, three losses, both floats.

    tools/bench/peers.sh jax torch                    # once: the peers' own environments
    python tools/bench/mlp.py                         # twelve problems, some twenty minutes
    python tools/bench/mlp.py small medium-sgd --rounds 9
    python tools/bench/mlp.py --json > mlp.json

small, medium, large: (n, d, m) = (256, 32, 128), (1000, 64, 512), (2000, 128, 1024), full batch in float64. A name
followed by -sgd: batches of 32 (n is rounded down to whole batches); by -float32: in float32.

f = W⁴ã³, ã^ℓ = √(2/m) σ(W^ℓ ã^{ℓ−1}), ã⁰ = √(2/d) x: `simlab.networks.MLP` with weight_std = √2 and no bias. The
loss is R = (1/n) Σ_i ℓ(f(x_i), y_i):

    squared    ℓ = ‖f − y‖²/2              one output, y real; and 10 outputs, y one-hot
    logistic   ℓ = log(1 + exp(−y f))      one output, y = ±1
    softmax    ℓ = log Σ_c exp f_c − f·y   10 outputs, y one-hot

A loss is held to the squared one with as many outputs. All contestants start at the same weights and visit the same
batches in the same order: simlab shuffles as it always does, in the clock; the others are given the rows that this
comes to, and gather them in the clock. JAX: one jitted function of all steps, scans. PyTorch: eager, autograd, updates
in place. Both apply the factors √(2/m) once, to the output: σ is homogeneous, so it is the same function for less work.

Compared before anything is timed: the outputs on all samples and how far each W has moved. In float64 after all steps.
In float32 after `COMPARED_STEPS` only, and the length of the way at the end: once rounding decides on which side of a
kink a neuron lies, programs part (`resnet.py` has the figures).

Exit code 1 if a target is missed, answers disagree or a contestant fails; a missing peer is only reported.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import command
import numpy as np
from harness import CONTESTANTS, Arrays, Contestant, Problem, Target
from resnet import orders

SIZES = {
    "small": ((256, 32, 128), 300, 2000),
    "medium": ((1000, 64, 512), 5, 124),
    "large": ((2000, 128, 1024), 2, 62),
}
"""(n, d, m), and steps per run with the full batch and with batches of 32."""
BATCH = 32
CLASSES = 10
OUTPUTS = {"squared": 1, "logistic": 1, "softmax": CLASSES}
"""Number of outputs by loss."""
COMPARED_STEPS = 3
TOLERANCE = 1e-8
FLOAT32_TOLERANCES = {"f": 1e-4, "moved": 0.02, "*": 0.02}
"""By answer. Weights of size 1 move little in three steps: float32 leaves 2e-3 of a move open at width 1024."""


def targets(losses: tuple[str, ...]) -> tuple[Target, ...]:
    found = []
    for loss in losses:
        tail = _tail(loss)
        found.append(Target(f"jax over simlab{tail}", f"jax{tail}", f"simlab{tail}", at_least=1.2))
        found.append(Target(f"torch over simlab{tail}", f"torch{tail}", f"simlab{tail}", at_least=2))
    if "logistic" in losses:
        found.append(Target("logistic over squared", "simlab, logistic", "simlab", at_most=1.15))
    if "softmax" in losses:
        found.append(Target("softmax over squared", "simlab, softmax", "simlab, 10 outputs", at_most=1.15))
    return tuple(found)


def _tail(loss: str) -> str:
    return "" if loss == "squared" else f", {loss}"


def contestants(losses: tuple[str, ...], dtype: str) -> tuple[Contestant, ...]:
    tolerances = FLOAT32_TOLERANCES if dtype == "float32" else {}
    found = []
    for loss in losses:
        given = {"loss": loss, "outputs": OUTPUTS[loss]}
        tail = _tail(loss)
        held: dict[str, Any] = {"parameters": given, "against": f"jax{tail}", "tolerances": tolerances}
        found.append(Contestant(f"jax{tail}", CONTESTANTS / "mlp_jax.py", peer="jax", parameters=given))
        found.append(Contestant(f"torch{tail}", CONTESTANTS / "mlp_torch.py", peer="torch", **held))
        found.append(Contestant(f"simlab{tail}", CONTESTANTS / "mlp_simlab.py", **held))
    if "softmax" in losses:
        given = {"loss": "squared", "outputs": CLASSES}
        found.append(Contestant("simlab, 10 outputs", CONTESTANTS / "mlp_simlab.py", parameters=given))
    return tuple(found)


def descent(
    name: str,
    *,
    dtype: str = "float64",
    sgd: bool = False,
    losses: tuple[str, ...] = tuple(OUTPUTS),
    size: tuple[int, int, int] | None = None,
    steps: int | None = None,
) -> Problem:
    """The problem `name` of SIZES; size and steps, where given, take the place of those there."""
    (n, d, m), full_steps, sgd_steps = SIZES[name]
    n, d, m = size or (n, d, m)
    steps = steps or (sgd_steps if sgd else full_steps)
    if sgd:
        n -= n % BATCH  # scans have batches of one size

    def inputs(rng: np.random.Generator) -> Arrays:
        X = rng.standard_normal((n, d))
        X *= d**0.5 / np.linalg.norm(X, axis=1, keepdims=True)
        scores = X @ rng.standard_normal((d, CLASSES)) / d**0.5
        classes = np.eye(CLASSES)[np.argmax(scores, axis=1)]
        floats = {
            "X": X,
            "y squared 1": np.abs(scores[:, :1]),
            "y logistic 1": np.where(scores[:, :1] > 0, 1.0, -1.0),
            "y softmax 10": classes,
            "y squared 10": classes,
            "W1": rng.standard_normal((m, d)),
            "W2": rng.standard_normal((m, m)),
            "W3": rng.standard_normal((m, m)),
            "W4 1": rng.standard_normal((1, m)),
            "W4 10": rng.standard_normal((CLASSES, m)),
        }
        found = {key: array.astype(dtype) for key, array in floats.items()}
        if sgd:
            seed = int(rng.integers(2**32))
            epochs = -(-steps * BATCH // n)
            found["seed"] = np.array(seed)
            found["batches"] = orders(n, epochs, seed).reshape(-1, BATCH)[:steps]
        return found

    compared = min(COMPARED_STEPS, steps) if dtype == "float32" else steps
    return Problem(
        title(name, sgd, dtype),
        inputs,
        contestants(losses, dtype),
        parameters={"n": n, "d": d, "m": m, "steps": steps, "compared": compared, "step": 0.1, "dtype": dtype},
        tolerance=TOLERANCE,
        targets=targets(losses),
    )


def title(name: str, sgd: bool, dtype: str) -> str:
    return name + ("-sgd" if sgd else "") + ("-float32" if dtype == "float32" else "")


def every() -> dict[str, Callable[[], Problem]]:
    """All problems by name: size × batch × float."""
    return {
        title(name, sgd, dtype): functools.partial(descent, name, dtype=dtype, sgd=sgd)
        for name in SIZES
        for sgd in (False, True)
        for dtype in ("float64", "float32")
    }


if __name__ == "__main__":
    command.run("mlp", __doc__, every(), threads=2)
