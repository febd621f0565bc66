"""K = a K_1, a > 0."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from simlab.core.params import Room
from simlab.kernels._kernel import Kernel, Leaf, made


class Params(Kernel):
    scale: float = Field(gt=0, description="the factor a")
    kernel: Annotated[Kernel, Room("kernels")] = Field(description="the kernel K_1")

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


EXAMPLES = ({"scale": 0.5, "kernel": {"kind": "ntk", "depth": 2}},)


def of(kernel: Kernel, scale: float) -> Params:
    """The scaled kernel, nested scales multiplied."""
    if isinstance(kernel, Params):
        return made(Params, scale=float(scale) * kernel.scale, kernel=kernel.kernel)
    return made(Params, scale=float(scale), kernel=kernel)
