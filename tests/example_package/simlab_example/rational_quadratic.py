"""1/(1 + c r²), r² = ‖x−y‖²/2: the rational quadratic kernel, 1/(1 + c(1−u)) on the unit sphere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from flint import arb
from pydantic import Field

from simlab.kernels.kernel import Floats, Leaf, Pairs
from simlab.kernels.spectra.endpoints import Endpoints


class RationalQuadratic(Leaf):
    """1/(1 + c r²)"""

    examples: ClassVar[tuple[dict[str, Any], ...]] = ({"c": 1.0}, {"c": 0.3})

    c: float = Field(gt=0, le=1e6, description="how fast it falls")

    @staticmethod
    def evaluate(leaves: Sequence[Any], pairs: Pairs) -> Floats:
        x, y = pairs.x[pairs.rows], pairs.y[pairs.columns]
        squares = (x - y) ** 2 / 2 + x * y * pairs.t  # r²: keeps its digits where x is near y
        return np.array([1.0 / (1.0 + leaf.c * squares) for leaf in leaves]).reshape(len(leaves), -1)

    def profile_arb(self, us: list[arb]) -> list[arb]:
        return [1 / (1 + arb(self.c) * (1 - u)) for u in us]

    def at_one_arb(self) -> arb:
        return arb(1)

    def polynomial_degree(self) -> int | None:
        return None

    def known_endpoints(self) -> Endpoints | None:
        return Endpoints(None)  # smooth at both ends
