"""Θ^L, the neural tangent kernel of a net of depth L, every layer trained. [S0 §2, S1 §5], MATH §3."""

from __future__ import annotations

from typing import Any

from simlab.core.params import kind_of
from simlab.kernels import _endpoints
from simlab.kernels._kernel import made
from simlab.kernels._layered import Layered


class Params(Layered):
    def is_tangent(self) -> bool:
        return True

    def known_endpoints(self) -> _endpoints.Endpoints | None:
        if self.weight_std is None and self.depth > 1 and kind_of(self.activation) == "relu":
            return _endpoints.relu_ntk(self.depth)
        return super().known_endpoints()


EXAMPLES = (
    {"depth": 3},
    {"depth": 1},
    {"depth": 4, "activation": "erf", "weight_std": 1.5, "bias_std": 0.1},
    {"depth": 3, "weight_std": 1.4, "bias_std": 0.2},
)


def ntk(depth: int, activation: Any = "relu", weight_std: float | None = None, bias_std: float = 0.0) -> Params:
    """Θ^L of the normalised family, or of the general recursion where `weight_std` is given."""
    return made(Params, depth=depth, activation=activation, weight_std=weight_std, bias_std=bias_std)
