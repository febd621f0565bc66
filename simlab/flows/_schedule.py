"""How the step size changes along a descent: η_t = η·s(t), t the number of steps made, T their total.

constant   s = 1
cosine     s = (1 + cos(π t/T))/2
power      s = (1 + t/t₀)^(−p)               p: decay_power, t₀: decay_steps
piecewise  s = factors[i] from step at[i] on, 1 before      at: drop_steps, factors: drop_factors
"""

from __future__ import annotations

import math
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from simlab.core.jit import jit
from simlab.core.parsing import AsTuple
from simlab.flows.flow import Flow

CONSTANT, COSINE, POWER, PIECEWISE = range(4)
CODES = {"constant": CONSTANT, "cosine": COSINE, "power": POWER, "piecewise": PIECEWISE}
BELONGS = {
    "decay_power": "power", "decay_steps": "power", "drop_steps": "piecewise", "drop_factors": "piecewise",
}  # fmt: skip


class Scheduled(Flow):
    """A descent whose step size may change."""

    steps: int = Field(ge=1, description="number of steps")
    schedule: Literal["constant", "cosine", "power", "piecewise"] = Field(
        "constant", description="how the step size changes"
    )
    decay_power: float | None = Field(None, gt=0, description="power: p of (1 + t/t₀)^(−p)")
    decay_steps: float | None = Field(None, gt=0, description="power: t₀")
    drop_steps: Annotated[tuple[int, ...] | None, AsTuple] = Field(None, description="piecewise: steps of change")
    drop_factors: Annotated[tuple[float, ...] | None, AsTuple] = Field(
        None, description="piecewise: factor of the step size from each of them on"
    )

    @model_validator(mode="after")
    def _schedule_is_whole(self) -> Scheduled:
        for name, schedule in BELONGS.items():
            given = getattr(self, name) is not None
            if given and schedule != self.schedule:
                raise ValueError(f'{name}: only with schedule = "{schedule}"; here it is "{self.schedule}"')
            if not given and schedule == self.schedule:
                raise ValueError(f'{name}: missing; schedule = "{schedule}" needs it')
        if self.drop_steps is not None and self.drop_factors is not None:
            if len(self.drop_steps) != len(self.drop_factors):
                raise ValueError(
                    f"drop_factors has {len(self.drop_factors)} numbers: must be {len(self.drop_steps)}, as drop_steps"
                )
            if list(self.drop_steps) != sorted({step for step in self.drop_steps if step >= 0}):
                raise ValueError(f"drop_steps = {list(self.drop_steps)}: must be 0 or more and rise")
            if min(self.drop_factors, default=1.0) <= 0:
                raise ValueError(f"drop_factors = {list(self.drop_factors)}: must be positive")
        return self

    def last(self) -> float:
        return float(self.steps)

    def schedule_numbers(self, pace: int = 1) -> tuple[int, NDArray[np.float64]]:
        """Code and numbers of the schedule, as `factor` takes them.

        pace: how many times as fast the schedule runs.
        """
        match self.schedule:
            case "cosine":
                numbers: list[float] = [self.steps / pace]
            case "power":
                numbers = [(self.decay_steps or 1.0) / pace, self.decay_power or 0.0]
            case "piecewise":
                numbers = [*(at / pace for at in self.drop_steps or ()), *(self.drop_factors or ())]
            case _:
                numbers = []
        return CODES[self.schedule], np.array(numbers, dtype=np.float64)


@jit
def factor(code: int, numbers: NDArray[np.float64], t: int) -> float:
    """s(t)"""
    if code == COSINE:
        return 0.5 * (1.0 + math.cos(math.pi * t / numbers[0]))
    if code == POWER:
        return float((1.0 + t / numbers[0]) ** -numbers[1])
    s = 1.0
    half = numbers.size // 2 if code == PIECEWISE else 0
    for i in range(half):
        if t >= numbers[i]:
            s = numbers[half + i]
    return s
