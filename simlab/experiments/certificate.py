"""The error that no two-layer net of a given width can go below, and the least width for a given error. MATH §8.

The target is radial, the inputs have the law φ² (``ball_fourier``), and nothing is trained. Recorded are

- the certificate, a lower bound of E(f−g)², for each of `widths`;
- the least width that the certificate does not exclude, for each of `eps`;
- the energy E(g−c)², c the constant that g is far out;
- the share of (gφ)^ beyond each of `ratios` times R_d, the radius of the tubes;
- the same for a `reference` target, where one is given.

Streams: ``target``, for random targets.
"""

from __future__ import annotations

import itertools
import math
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from pydantic import Field, field_validator, model_validator

from simlab.core import catalogue
from simlab.core.errors import BadInput, one_of
from simlab.core.parsing import AsTuple
from simlab.core.rng import Streams
from simlab.data.law import Law
from simlab.experiments.experiment import OneShot
from simlab.record.schema import Output
from simlab.targets import Radial
from simlab.targets.target import Target
from simlab.theory import tubes
from simlab.theory.certificate import Spectrum
from simlab.theory.hankel import check_breaks

LARGEST_RATIO = 64.0
"""Beyond it a point takes seconds."""


class Certificate(OneShot):
    """Lower bounds on the error, and on the width, of two-layer nets."""

    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {
            "experiment": {"kind": "certificate", "widths": [1, 10, 100], "eps": [0.1, 0.05]},
            "data": {"kind": "ball_fourier", "dim": 10},
            "target": {"kind": "shells", "inner": 0.6, "outer": 1.6, "count": 8},
            "reference": {"kind": "radial_relu"},
        },
    )

    widths: Annotated[tuple[int, ...], AsTuple] = Field(
        (1, 4, 16, 64, 256, 1024), min_length=1, description="numbers of neurons, increasing"
    )
    eps: Annotated[tuple[float, ...], AsTuple] = Field(
        (0.01,), min_length=1, description="errors E(f−g)² to find the least width for"
    )
    ratios: Annotated[tuple[float, ...], AsTuple] = Field(
        (1.0, 2.0, 4.0), min_length=1, description="radii in Fourier space over R_d to record energies and shares at"
    )
    data: Law = Field(description="law of the inputs")
    target: Target = Field(description="the function to be learned")
    reference: Target | None = Field(None, description="a target to compare with")

    @field_validator("widths")
    @classmethod
    def _widths(cls, widths: tuple[int, ...]) -> tuple[int, ...]:
        if widths[0] < 1 or any(a >= b for a, b in itertools.pairwise(widths)):
            raise ValueError("must be 1 or more, each more than the one before")
        return widths

    @field_validator("eps")
    @classmethod
    def _errors(cls, eps: tuple[float, ...]) -> tuple[float, ...]:
        if min(eps) <= 0 or len(set(eps)) < len(eps):
            raise ValueError("must be more than 0 (no finite width has an error of 0) and differ")
        return eps

    @field_validator("ratios")
    @classmethod
    def _ratios(cls, ratios: tuple[float, ...]) -> tuple[float, ...]:
        if min(ratios) < 0 or max(ratios) > LARGEST_RATIO or len(set(ratios)) < len(ratios):
            raise ValueError(f"must be from 0 to {LARGEST_RATIO:g} and differ")
        return ratios

    @model_validator(mode="after")
    def _radial(self) -> Self:
        if not self.data.has_radius_law:
            able = catalogue.able("data", lambda law: law.has_radius_law)
            raise ValueError(f"data.kind = {self.data.kind!r}: its transform has no tubes (allowed: {one_of(able)})")
        for name, target in self._targets().items():
            if not target.is_radial:
                able = catalogue.able("targets", lambda cls: cls.is_radial)
                raise ValueError(
                    f"{name}.kind = {target.kind!r}: not a function of ‖x‖ alone (allowed: {one_of(able)})"
                )
            target.check_in_spec(self.data.dimension(), name)
            try:
                check_breaks(target.break_radii(), self.data.radius_law())
            except BadInput as error:
                raise BadInput(f"{name}{str(error).removeprefix('target')}") from None
        return self

    def outputs(self) -> dict[str, Output]:
        width = {"width": np.array(self.widths, np.float64)}
        eps, ratio = {"eps": np.array(self.eps)}, {"ratio": np.array(self.ratios)}
        found = {"log10_share": Output("log10 of the share of the sphere in one tube", ("ratio",), coords=ratio)}
        for name in self._targets():
            of = "target" if name == "target" else "reference target"
            end = "" if name == "target" else "_reference"
            found[f"bound{end}"] = Output(
                f"least E(f−g)² of any two-layer net of the width; g the {of}", ("width",), coords=width
            )
            found[f"bound_error{end}"] = Output(
                "what was taken off the bound for errors of its computation", ("width",), coords=width
            )
            found[f"log10_width{end}"] = Output(
                f"log10 of the least width that could have the error eps; g the {of}", ("eps",), coords=eps
            )
            found[f"energy{end}"] = Output(f"E(g−c)², c the constant far out; g the {of}")
            found[f"beyond{end}"] = Output("share of the energy of (gφ)^ beyond the ratio", ("ratio",), coords=ratio)
        return found

    def _targets(self) -> dict[str, Target]:
        return {"target": self.target} | ({} if self.reference is None else {"reference": self.reference})

    def measure(self, streams: Streams) -> dict[str, Any]:
        dim, law = self.data.dimension(), self.data.radius_law()
        found: dict[str, Any] = {"log10_share": tubes.log_share(dim, np.array(self.ratios)) / math.log(10)}
        for name, target in self._targets().items():
            function = target.draw_in_spec(dim, streams["target"], name)
            assert isinstance(function, Radial)  # validated
            spectrum = Spectrum(function, law)
            end = "" if name == "target" else "_reference"
            certificates = [spectrum.certificate(width) for width in self.widths]
            found[f"bound{end}"] = [c.bound for c in certificates]
            found[f"bound_error{end}"] = [c.error for c in certificates]
            found[f"log10_width{end}"] = [spectrum.least_width(eps).log10 for eps in self.eps]
            found[f"energy{end}"] = spectrum.energy
            # A target of the energy 0 has nothing anywhere.
            found[f"beyond{end}"] = [spectrum.beyond(ratio) / (spectrum.energy or 1.0) for ratio in self.ratios]
        return found

    def cost(self) -> tuple[float, float]:
        """Bessel functions on a grid of radii and ratios, both as fine as the last break; a few numbers recorded."""
        return 2e9, 8.0 * 3 * (len(self.widths) + len(self.eps) + len(self.ratios))
