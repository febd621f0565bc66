"""Problems of simlab alone: steps of its networks, full batch or SGD. `before` and `beside` measure them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from harness import CONTESTANTS, Arrays, Contestant, Problem

BATCH = 32
COMPARED_STEPS = 3  # in float32, where a neuron at a kink soon makes programs part (`resnet.py` has the figures)


@dataclass(frozen=True)
class Case:
    """A network at one size.

    network: its kind and fields.
    n: number of samples.
    d: input dimension.
    steps: steps per run with the full batch.
    sgd_steps: steps per run with batches of `BATCH`.
    outputs: number of outputs.
    step: learning rate.
    step_unit: its unit.
    """

    network: dict[str, Any]
    n: int
    d: int
    steps: int
    sgd_steps: int
    outputs: int = 1
    step: float = 0.1
    step_unit: str = "absolute"


def _mlp(width: int) -> dict[str, Any]:
    return {"kind": "mlp", "width": width, "depth": 4, "weight_std": 2**0.5}


CASES = {
    "two_layer-small": Case({"kind": "two_layer", "width": 64}, 256, 16, 4000, 10_000),
    "two_layer-medium": Case({"kind": "two_layer", "width": 1000}, 1000, 32, 60, 1000),
    "three_layer": Case(
        {"kind": "three_layer_mean_field", "width": 400, "outer_width": 50}, 8192, 10, 40, 8000, step_unit="particle"
    ),
    "resnet": Case({"kind": "resnet3", "width": 200, "outputs": 8}, 1000, 30, 400, 8000, outputs=8),
    "mlp-small": Case(_mlp(128), 256, 32, 300, 2000),
    "mlp-medium": Case(_mlp(512), 1000, 64, 5, 124),
    "mlp-large": Case(_mlp(1024), 2000, 128, 2, 62),
    "features": Case({"kind": "random_features", "width": 1000, "weight_std": 1.0}, 1000, 32, 150, 3000),
    "linearised": Case({"kind": "linearised", "network": {"kind": "two_layer", "width": 1000}}, 1000, 32, 30, 500),
}


def problem(name: str, case: Case, *, sgd: bool = False, dtype: str = "float64") -> Problem:
    """With one contestant, "simlab"; answers of two versions of it agree to 1e-8, in float32 to what float32 leaves."""
    steps = case.sgd_steps if sgd else case.steps

    def inputs(rng: np.random.Generator) -> Arrays:
        X = rng.standard_normal((case.n, case.d))
        return {"X": X, "y": np.tanh(X @ rng.standard_normal((case.d, case.outputs)) / case.d**0.5)}

    single = dtype == "float32"
    return Problem(
        name + ("-sgd" if sgd else "") + ("-float32" if single else ""),
        inputs,
        (
            Contestant(
                "simlab",
                CONTESTANTS / "steps_simlab.py",
                tolerances={"f": 1e-4, "move": 0.02} if single else {},
            ),
        ),
        parameters={
            "network": case.network, "dtype": dtype, "batch": BATCH if sgd else None, "n": case.n, "d": case.d,
            "steps": steps, "compared": min(COMPARED_STEPS, steps) if single else steps, "step": case.step,
            "step_unit": case.step_unit,
        },
        tolerance=1e-8,
    )  # fmt: skip
