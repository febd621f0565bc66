"""The error that no two-layer net of a width can go below, and the least width for an error. MATH §8.

Of a radial target under the law φ² (``ball_fourier``), nothing trained: the certificate of each of `widths`, the least
width that it does not exclude for each of `eps`, the energy E(g−c)² (c the constant far out) and how much of (gφ)^ lies
beyond each of `ratios` of the radius R_d of the tubes. Of a `reference` target the same beside it.

Streams: ``target``, for targets that are drawn.
"""

from __future__ import annotations

import itertools
import math
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, field_validator, model_validator

from simlab.core import kinds
from simlab.core.errors import BadInput, one_of
from simlab.core.params import AsTuple, Room, kind_of
from simlab.core.params import Params as Base
from simlab.core.rng import Streams
from simlab.experiments._descent import drawn
from simlab.record.schema import Output
from simlab.record.segments import State
from simlab.sphere.ball_law import BallLaw
from simlab.targets.radial_function import Radial
from simlab.theory import tubes
from simlab.theory.certificate import Spectrum

LARGEST_RATIO = 64.0  # beyond it seconds a point


class Params(Base):
    widths: Annotated[tuple[int, ...], AsTuple] = Field(
        (1, 4, 16, 64, 256, 1024), min_length=1, description="numbers of neurons, increasing"
    )
    eps: Annotated[tuple[float, ...], AsTuple] = Field(
        (0.01,), min_length=1, description="errors E(f−g)² to find the least width for"
    )
    ratios: Annotated[tuple[float, ...], AsTuple] = Field(
        (1.0, 2.0, 4.0), min_length=1, description="radii in Fourier space over R_d to record energies and shares at"
    )
    data: Annotated[Base, Room("data")]
    target: Annotated[Base, Room("targets")]
    reference: Annotated[Base | None, Room("targets")] = Field(None, description="a target to compare with")

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
    def _radial(self) -> Params:
        if not self.data.has_radius_law:
            able = kinds.able("data", lambda law: law.has_radius_law)
            raise ValueError(
                f"data.kind = {kind_of(self.data)!r}: its transform has no tubes (allowed: {one_of(able)})"
            )
        for name, target in (("target", self.target), ("reference", self.reference)):
            if target is not None:
                _spectrum(self, name, np.random.default_rng(0))
        return self


EXAMPLES = (
    {
        "experiment": {"kind": "certificate", "widths": [1, 10, 100], "eps": [0.1, 0.05]},
        "data": {"kind": "ball_fourier", "dim": 10},
        "target": {"kind": "shells", "inner": 0.6, "outer": 1.6, "count": 8},
        "reference": {"kind": "radial_relu"},
    },
)


def outputs(params: Params) -> dict[str, Output]:
    width = {"width": np.array(params.widths, np.float64)}
    eps, ratio = {"eps": np.array(params.eps)}, {"ratio": np.array(params.ratios)}
    found = {"log10_share": Output("log10 of the share of the sphere in one tube", ("ratio",), coords=ratio)}
    for name, of in _targets(params).items():
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


def _targets(params: Params) -> dict[str, str]:
    return {"target": "target"} | ({} if params.reference is None else {"reference": "reference target"})


def _spectrum(params: Params, name: str, rng: np.random.Generator) -> Spectrum:
    law: BallLaw = params.data.radius_law()
    target: Base = getattr(params, name)
    found = drawn(target, law.dim, rng, name)
    if not isinstance(found, Radial):
        radial = kinds.able("targets", lambda target: target.is_radial)
        raise BadInput(f"{name}.kind = {kind_of(target)!r}: not a function of ‖x‖ alone (allowed: {one_of(radial)})")
    return Spectrum(found, law)


def prepare(params: Params, streams: Streams) -> dict[str, Spectrum]:
    return {name: _spectrum(params, name, streams["target"]) for name in _targets(params)}


def start(params: Params, work: dict[str, Spectrum], streams: Streams) -> State:
    return {"finished": False}


def advance(params: Params, work: dict[str, Spectrum], state: State) -> dict[str, NDArray[Any]]:
    dim = work["target"].dim
    found: dict[str, Any] = {"log10_share": tubes.log_share(dim, np.array(params.ratios)) / math.log(10)}
    for name, spectrum in work.items():
        end = "" if name == "target" else "_reference"
        certificates = [spectrum.certificate(width) for width in params.widths]
        found[f"bound{end}"] = [c.bound for c in certificates]
        found[f"bound_error{end}"] = [c.error for c in certificates]
        found[f"log10_width{end}"] = [spectrum.least_width(eps).log10 for eps in params.eps]
        found[f"energy{end}"] = spectrum.energy
        # A target of the energy 0 has nothing anywhere.
        found[f"beyond{end}"] = [spectrum.beyond(ratio) / (spectrum.energy or 1.0) for ratio in params.ratios]
    state["finished"] = True
    return {name: np.asarray(value, dtype=np.float64) for name, value in found.items()}


def finished(params: Params, state: State) -> bool:
    return bool(state["finished"])


def cost(params: Params) -> tuple[float, float]:
    """Bessel functions on a grid of radii and ratios, both as fine as the last break; a few numbers recorded."""
    return 2e9, 8.0 * 3 * (len(params.widths) + len(params.eps) + len(params.ratios))
