"""The margins of the training samples: their least and other quantiles. MATH §10.

The margin of a sample is y αf for one output and y = ±1, and αf_y − max_{j≠y} αf_j for several outputs, y the class.
All samples are classified rightly if the least margin, the quantile 0, is positive.

With `degree` k > 0 margins are divided by ‖θ‖^k, θ the trained weights: for f that is homogeneous of degree k in
them this depends on their direction alone. Quantiles between two samples are interpolated linearly.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field, field_validator

from simlab.core.fields import EachOnce
from simlab.core.parsing import MOST_ENTRIES, AsTuple
from simlab.observables._labels import check_labels, margins
from simlab.observables.observable import Observable
from simlab.observables.view import Setting, View
from simlab.record.schema import RECORD, Output


class Margin(Observable):
    """Quantiles of the margins of the training samples."""

    several_outputs: ClassVar[bool] = True
    losses: ClassVar[Literal["any", "real", "squared"]] = "any"
    examples: ClassVar[tuple[dict[str, Any], ...]] = ({}, {"quantiles": [0.0, 1.0], "degree": 2.0})

    quantiles: Annotated[tuple[float, ...], AsTuple, EachOnce] = Field(
        (0.0, 0.1, 0.5), min_length=1, max_length=MOST_ENTRIES, description="which quantiles, from 0 (the least) to 1"
    )
    degree: float = Field(
        0.0, ge=0, le=1000, description="divide by ‖θ‖^degree, as for f of this degree in θ; 0: by nothing"
    )

    @field_validator("quantiles")
    @classmethod
    def _are_shares(cls, value: tuple[float, ...]) -> tuple[float, ...]:
        if wrong := [q for q in value if not 0.0 <= q <= 1.0]:
            raise ValueError(f"{wrong[0]} is no quantile: must lie between 0 and 1")
        return value

    def check(self, setting: Setting) -> None:
        check_labels(setting, self.kind)
        if setting.samples < 1:
            raise ValueError("samples = 0: margin needs training samples")

    def outputs(self) -> dict[str, Output]:
        text = "quantile of the margins of the training samples"
        if self.degree:
            text += f", over ‖θ‖^{self.degree:g}"
        return {"margin": Output(text, (RECORD, "quantile"), coords={"quantile": np.array(self.quantiles)})}

    def measure(self, view: View) -> dict[str, Any]:
        found = np.quantile(margins(*view.columns(view.X, view.y), self.kind), self.quantiles)
        if self.degree:
            trained = view.network.loops(view.dim).trained
            size = float(np.linalg.norm(view.theta[trained.start : trained.stop])) ** self.degree
            found = found / size if size > 0.0 else np.zeros_like(found)  # without weights f is 0
        return {"margin": found}
