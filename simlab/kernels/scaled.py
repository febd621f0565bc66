"""K = a K_1, a > 0."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import Field

from simlab.kernels.kernel import Kernel, Leaf


class Scaled(Kernel):
    """a K_1"""

    examples: ClassVar[tuple[dict[str, Any], ...]] = ({"scale": 0.5, "kernel": {"kind": "ntk", "depth": 2}},)

    scale: float = Field(gt=0, description="the factor a")
    kernel: Kernel = Field(description="the kernel K_1")

    def leaves(self) -> tuple[Leaf, ...]:
        return self.kernel.leaves()

    def combine(self, values: Mapping[Leaf, Any]) -> Any:
        return self.scale * self.kernel.combine(values)

    def linear_terms(self) -> list[tuple[float, Kernel]]:
        return [(self.scale * scale, term) for scale, term in self.kernel.linear_terms()]

    def polynomial_degree(self) -> int | None:
        return self.kernel.polynomial_degree()

    def __repr__(self) -> str:
        inner = repr(self.kernel)
        return f"{self.scale!r} * ({inner})" if " + " in inner else f"{self.scale!r} * {inner}"


def scaled_by(kernel: Kernel, scale: float) -> Scaled:
    """The scaled kernel, nested scales multiplied."""
    if isinstance(kernel, Scaled):
        return Scaled(scale=float(scale) * kernel.scale, kernel=kernel.kernel)
    return Scaled(scale=float(scale), kernel=kernel)
