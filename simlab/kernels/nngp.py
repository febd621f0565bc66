"""K^L, the covariance of an infinitely wide random net of depth L: random features. [S0 §2, S1 §4], MATH §3."""

from __future__ import annotations

from typing import Any, ClassVar

from simlab.kernels._layered import Layered
from simlab.kernels.spectra import endpoints


class NNGP(Layered):
    """K^L"""

    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {"depth": 3},
        {"depth": 1},
        {"depth": 4, "activation": "erf", "weight_std": 1.5, "bias_std": 0.1},
        {"depth": 3, "activation": "step"},
        {"depth": 2, "activation": {"kind": "leaky_relu", "slope": 0.1}},
    )

    def is_tangent(self) -> bool:
        return False

    def known_endpoints(self) -> endpoints.Endpoints | None:
        if self.weight_std is None and self.depth > 1:
            match self.activation.arc_cosine_order():
                case 0:
                    return endpoints.step_rf(self.depth)
                case 1:
                    return endpoints.relu_rf(self.depth)
        return super().known_endpoints()


def nngp(depth: int, activation: Any = "relu", weight_std: float | None = None, bias_std: float = 0.0) -> NNGP:
    """K^L of the normalised family, or of the general recursion where `weight_std` is given."""
    return NNGP(depth=depth, activation=activation, weight_std=weight_std, bias_std=bias_std)
