"""(c + x·y)^p, of a whole degree p: (c + u)^p on the unit sphere. MATH §4.

Its eigenvalues of degrees above p are exactly 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from flint import arb
from pydantic import Field

from simlab.core.errors import BadInput
from simlab.kernels.kernel import Floats, Leaf, Pairs
from simlab.kernels.spectra import endpoints


class Polynomial(Leaf):
    """(c + x·y)^p"""

    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {"degree": 2},
        {"degree": 3, "offset": 0.5},
        {"degree": 4, "offset": 0.0},
    )

    degree: int = Field(ge=1, le=64, description="degree p")
    offset: float = Field(1.0, ge=0, description="c: 0 leaves the monomial (x·y)^p")

    @staticmethod
    def evaluate(leaves: Sequence[Any], pairs: Pairs) -> Floats:
        size = pairs.x[pairs.rows] * pairs.y[pairs.columns]
        # c + x·y from the nearer end, so that nothing is lost where it is nearly c ± ‖x‖‖y‖
        return np.array(
            [
                np.where(pairs.t <= 1.0, (leaf.offset + size) - size * pairs.t, (leaf.offset - size) + size * pairs.s)
                ** leaf.degree
                for leaf in leaves
            ]
        ).reshape(len(leaves), -1)

    def check_inputs(self, norms: Floats, dim: int) -> None:
        norm = norms.max(initial=0.0)
        with np.errstate(over="ignore"):
            largest = (self.offset + np.square(norm)) ** self.degree
        if not np.isfinite(largest):
            raise BadInput(f"an input has norm {norm:.3g}: (c + x·y)^{self.degree} overflows")

    def profile_arb(self, us: list[arb]) -> list[arb]:
        return [(arb(self.offset) + u) ** self.degree for u in us]

    def at_one_arb(self) -> arb:
        return (arb(self.offset) + 1) ** self.degree

    def polynomial_degree(self) -> int | None:
        return self.degree

    def homogeneity(self) -> int | None:
        return 1 if self.offset == 0.0 and self.degree == 1 else None

    def known_endpoints(self) -> endpoints.Endpoints | None:
        return endpoints.Endpoints(None)


def polynomial(degree: int, offset: float = 1.0) -> Polynomial:
    """(c + x·y)^p"""
    return Polynomial(degree=degree, offset=offset)
