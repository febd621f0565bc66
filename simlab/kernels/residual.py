"""Kernels of a residual net, x^ℓ = x^{ℓ−1} + α·dense(φ(x^{ℓ−1})), L − 1 such blocks after the first dense layer.

General: K^ℓ = K^{ℓ−1} + α² (σ_b² + σ_w² F), Θ^ℓ = Θ^{ℓ−1} + α² (σ_b² + σ_w² F + σ_w² Ḟ Θ^{ℓ−1}). Normalised: with
1/(1+α²) and α²/(1+α²) in place of 1 and α², so that κ_RF(1) = 1 at every depth. MATH §3.
"""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import Field

from simlab.kernels._layered import Layered


class Residual(Layered):
    """Θ^L or K^L of a residual net"""

    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {"depth": 3},
        {"depth": 5, "alpha": 0.5, "tangent": False},
        {"depth": 3, "weight_std": 1.0, "bias_std": 0.3},
    )

    alpha: float = Field(1.0, gt=0, description="scale α of the branch")
    tangent: bool = Field(True, description="Θ^L; else K^L")

    def is_tangent(self) -> bool:
        return self.tangent

    def branch_scale(self) -> float | None:
        return self.alpha


def residual(
    depth: int,
    activation: Any = "relu",
    weight_std: float | None = None,
    bias_std: float = 0.0,
    alpha: float = 1.0,
    tangent: bool = True,
) -> Residual:
    """Θ^L (or K^L) of a residual net with branches scaled by `alpha`."""
    return Residual(
        depth=depth,
        activation=activation,
        weight_std=weight_std,
        bias_std=bias_std,
        alpha=alpha,
        tangent=tangent,
    )
