"""Depth separation: a step of the three-layer mean-field net beside JAX, float64, and radii of the law φ².

    tools/bench/peers.sh jax                          # once: the peer's own environment
    python tools/bench/depth.py                       # some minutes
    python tools/bench/depth.py step --rounds 9
    python tools/bench/depth.py --json > depth.json

step: full-batch descent in particle time, n = 8192, d = 10, m₁ = 400, m₂ = 50; both make the same steps from the same
particles, which are compared before anything is timed. JAX: one jitted scan.
radii-3, radii-50, radii-1000: ten million radii in that dimension, beside a million by the same rejection in NumPy and
scipy.special; what is compared are shares below fixed radii.

Exit code 1 if a target is missed, answers disagree or a contestant fails; a missing peer is only reported.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

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


def radii(d: int, count: int = 10_000_000) -> Problem:
    median = {3: 0.620, 50: 3.061, 1000: 14.65}[d]
    at = median * np.array([0.5, 0.9, 1.0, 1.1, 2.0, 10.0, 100.0])
    return Problem(
        f"radii-{d}",
        lambda rng: {"at": at},
        (
            Contestant("scipy", CONTESTANTS / "radii_scipy.py", parameters={"radii": count // 10}),
            Contestant("simlab", CONTESTANTS / "radii_simlab.py", against="scipy"),
        ),
        parameters={"d": d, "radii": count},
        tolerance=2.5e-3,  # of a sample of a million: 5 standard errors
        targets=(Target("ten million radii", "simlab", at_most=5.0),),
    )


if __name__ == "__main__":
    choices: dict[str, Callable[[], Problem]] = {f"radii-{d}": functools.partial(radii, d) for d in (3, 50, 1000)}
    command.run("depth", __doc__, {"step": step, **choices}, threads=2)
