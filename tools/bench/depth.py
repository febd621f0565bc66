"""Depth separation: a step of the three-layer mean-field net beside JAX, float64.

    tools/bench/peers.sh jax                          # once: the peer's own environment
    python tools/bench/depth.py                       # about a minute
    python tools/bench/depth.py step --rounds 9
    python tools/bench/depth.py --json > depth.json

step: full-batch descent in particle time, n = 8192, d = 10, m₁ = 400, m₂ = 50; both make the same steps from the same
particles, which are compared before anything is timed. JAX: one jitted scan.

Exit code 1 if a target is missed, answers disagree or a contestant fails; a missing peer is only reported.
"""

from __future__ import annotations

import command
import numpy as np
from harness import CONTESTANTS, Arrays, Contestant, Problem, Target


def step(n: int = 8192, d: int = 10, m1: int = 400, m2: int = 50, steps: int = 40) -> Problem:
    def inputs(rng: np.random.Generator) -> Arrays:
        X = rng.standard_normal((n, d))
        X *= (rng.pareto(1.5, n) / np.linalg.norm(X, axis=1))[:, np.newaxis]  # radii with a long tail
        return {
            "X": X,
            "y": np.maximum(1.0 - np.linalg.norm(X, axis=1), 0.0),
            "V": rng.standard_normal((m1, d)) / d**0.5,
            "w": -rng.uniform(0.5, 1.5, m2),
            "b": rng.uniform(0.5, 1.5, m2),
        }

    return Problem(
        "step",
        inputs,
        (
            Contestant("jax", CONTESTANTS / "three_layer_jax.py", peer="jax"),
            Contestant("simlab", CONTESTANTS / "three_layer_simlab.py", against="jax"),
            Contestant(
                "simlab, float32",
                CONTESTANTS / "three_layer_simlab.py",
                against="jax",
                parameters={"dtype": "float32"},
                tolerances={"*": 1e-4},
            ),
        ),
        parameters={"n": n, "d": d, "m1": m1, "m2": m2, "steps": steps, "step": 0.1},
        tolerance=1e-9,
        targets=(Target("jax over simlab", "jax", "simlab", at_least=1.3),),
    )


if __name__ == "__main__":
    command.run("depth", __doc__, {"step": step}, threads=2)
