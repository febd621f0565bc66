"""The uniform law on a box: x_1, …, x_d independent and uniform on [−s, s]. E‖x‖² = d s²/3."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from simlab.core import checks
from simlab.data.law import Floats, Law


class UniformBox(Law):
    """x uniform on [−s, s]^d, s = `half_width`."""

    examples: ClassVar[tuple[dict[str, Any], ...]] = ({"dim": 3}, {"dim": 2, "half_width": 0.5})

    dim: int = Field(ge=1, description="dimension d")
    half_width: float = Field(1.0, gt=0, description="s")

    def dimension(self) -> int:
        return self.dim

    def sample(self, n: int, rng: np.random.Generator) -> Floats:
        n = checks.sample(n, rng, self.dim)
        return rng.uniform(-self.half_width, self.half_width, (n, self.dim))
