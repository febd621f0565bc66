"""Full-batch gradient descent θ ← θ − η_t ∇R_α(θ), R_α(θ) = R(α f_θ)/α², R(f) = (1/n) Σ ℓ(f(x_i), y_i). MATH §6.

With α the output scale the prediction α f moves, to first order, by −η K ℓ'(αf, y)/n per step, K the tangent kernel,
whatever α: the lazy limit is α → ∞. With the squared loss mode i of K/n then contracts by 1 − η λ_i per step, and
descent is stable for η < 2/λ_max, "the edge".
"""

from __future__ import annotations

from typing import Any, ClassVar

from simlab.flows._stepping import Stepping


class GradientDescent(Stepping):
    """θ ← θ − η_t ∇R_α(θ) over all samples."""

    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {"steps": 50, "step": 0.1},
        {"steps": 50, "step": 0.5, "step_unit": "edge", "alpha": 10.0, "schedule": "cosine"},
        {"steps": 50, "step": "auto", "auto_every": 7},
    )

    def is_constant_descent(self) -> bool:
        return self.schedule == "constant" and self.step != "auto"
