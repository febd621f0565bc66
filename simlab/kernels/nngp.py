"""K^L, the covariance of an infinitely wide random net of depth L: random features. [S0 §2, S1 §4], MATH §3."""

from __future__ import annotations

from typing import Any

from simlab.core.params import kind_of
from simlab.kernels import _endpoints
from simlab.kernels._kernel import made
from simlab.kernels._layered import Layered


class Params(Layered):
    def is_tangent(self) -> bool:
        return False

    def known_endpoints(self) -> _endpoints.Endpoints | None:
        formulas = {"relu": _endpoints.relu_rf, "step": _endpoints.step_rf}
        if self.weight_std is None and self.depth > 1 and kind_of(self.activation) in formulas:
            return formulas[kind_of(self.activation)](self.depth)
        return super().known_endpoints()


EXAMPLES = (
    {"depth": 3},
    {"depth": 1},
    {"depth": 4, "activation": "erf", "weight_std": 1.5, "bias_std": 0.1},
    {"depth": 3, "activation": "step"},
    {"depth": 2, "activation": {"kind": "leaky_relu", "slope": 0.1}},
)


def nngp(depth: int, activation: Any = "relu", weight_std: float | None = None, bias_std: float = 0.0) -> Params:
    """K^L of the normalised family, or of the general recursion where `weight_std` is given."""
    return made(Params, depth=depth, activation=activation, weight_std=weight_std, bias_std=bias_std)
