"""Θ^L, the neural tangent kernel of a net of depth L, every layer trained. [S0 §2, S1 §5], MATH §3."""

from __future__ import annotations

from typing import Any, ClassVar

from simlab.kernels._layered import Layered
from simlab.kernels.spectra import endpoints


class NTK(Layered):
    """Θ^L"""

    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {"depth": 3},
        {"depth": 1},
        {"depth": 4, "activation": "erf", "weight_std": 1.5, "bias_std": 0.1},
        {"depth": 3, "weight_std": 1.4, "bias_std": 0.2},
    )

    def is_tangent(self) -> bool:
        return True

    def known_endpoints(self) -> endpoints.Endpoints | None:
        if self.weight_std is None and self.depth > 1 and self.activation.arc_cosine_order() == 1:
            return endpoints.relu_ntk(self.depth)
        return super().known_endpoints()


def ntk(depth: int, activation: Any = "relu", weight_std: float | None = None, bias_std: float = 0.0) -> NTK:
    """Θ^L of the normalised family, or of the general recursion where `weight_std` is given."""
    return NTK(depth=depth, activation=activation, weight_std=weight_std, bias_std=bias_std)
