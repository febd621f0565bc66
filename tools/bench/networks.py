"""A step of full-batch descent beside JAX and PyTorch: two-layer ReLU net, both layers, float64.

    tools/bench/peers.sh jax torch                    # once: the peers' own environments
    python tools/bench/networks.py                    # three sizes, a few minutes
    python tools/bench/networks.py medium --rounds 9
    python tools/bench/networks.py --json > networks.json

small, medium, large: (n, d, m) = (256, 16, 64), (1000, 32, 1000), (4000, 64, 4000). Every contestant makes the same
steps from the same weights, and the weights at the end are compared before anything is timed. JAX: one jitted scan.
PyTorch: eager, autograd, torch.optim.SGD. products: NumPy's W Xᵀ and G X alone, once per step.

Exit code 1 if a target is missed, answers disagree or a contestant fails; a missing peer is only reported.
"""

from __future__ import annotations

import functools

import command
import numpy as np
from harness import CONTESTANTS, Arrays, Contestant, Problem, Target

SIZES = {
    "small": ((256, 16, 64), 4000, 1.3),
    "medium": ((1000, 32, 1000), 60, 1.2),
    "large": ((4000, 64, 4000), 4, 1.4),
}
"""(n, d, m), steps per run, and how many times as fast as JAX."""


def descent(name: str) -> Problem:
    (n, d, m), steps, over_jax = SIZES[name]

    def inputs(rng: np.random.Generator) -> Arrays:
        X = rng.standard_normal((n, d))
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        return {
            "X": X,
            "y": np.abs(X @ rng.standard_normal(d)),
            "a": rng.standard_normal(m),
            "W": rng.standard_normal((m, d)),
        }

    return Problem(
        name,
        inputs,
        (
            Contestant("jax", CONTESTANTS / "networks_jax.py", peer="jax"),
            Contestant("torch", CONTESTANTS / "networks_torch.py", peer="torch", against="jax"),
            Contestant("products", CONTESTANTS / "networks_products.py"),
            Contestant("simlab", CONTESTANTS / "networks_simlab.py", against="jax"),
            Contestant(
                "simlab, float32",
                CONTESTANTS / "networks_simlab.py",
                against="jax",
                parameters={"dtype": "float32"},
                tolerances={"*": 1e-4},
            ),
        ),
        parameters={"n": n, "d": d, "m": m, "steps": steps, "step": 0.1},
        tolerance=1e-9,
        targets=(
            Target("jax over simlab", "jax", "simlab", at_least=over_jax),
            Target("torch over simlab", "torch", "simlab", at_least=3),
            Target("products alone over simlab", "products", "simlab", at_least=0.75),
            Target("simlab over simlab, float32", "simlab", "simlab, float32", at_least=1.4),
        ),
    )


if __name__ == "__main__":
    command.run("networks", __doc__, {name: functools.partial(descent, name) for name in SIZES}, threads=2)
