"""The spectrum of a kernel on the sphere or the cube, with the decay it should have and the decay it has. MATH §4.

The eigenvalues of a `reference` kernel are recorded too, where one is given. Nothing is random.
"""

from __future__ import annotations

from math import log10
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from simlab.core.errors import SimlabError
from simlab.core.parsing import MOST_ENTRIES
from simlab.core.rng import Streams
from simlab.experiments.experiment import OneShot
from simlab.kernels.kernel import Kernel
from simlab.kernels.spectra.endpoints import predicted
from simlab.kernels.spectra.spectrum import Spectrum as KernelSpectrum
from simlab.record.schema import Output


class Spectrum(OneShot):
    """Eigenvalues of a kernel by degree, and how they fall."""

    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {
            "experiment": {"kind": "spectrum", "dim": 3, "max_degree": 30},
            "kernel": {"kind": "ntk", "depth": 3},
            "reference": {"kind": "laplace", "c": 1.0},
        },
        {
            "experiment": {"kind": "spectrum", "dim": 8, "max_degree": 8, "domain": "cube"},
            "kernel": {"kind": "gaussian", "c": 1.0},
        },
    )

    dim: int = Field(ge=2, description="dimension d of the space")
    max_degree: int = Field(ge=1, le=MOST_ENTRIES, description="largest degree")
    domain: Literal["sphere", "cube"] = Field("sphere", description="the unit sphere, or {±1}^d")
    kernel: Kernel = Field(description="the kernel")
    reference: Kernel | None = Field(None, description="a kernel to compare with")

    def outputs(self) -> dict[str, Output]:
        degree = {"degree": np.arange(self.max_degree + 1)}

        def by_degree(text: str) -> Output:
            return Output(text, ("degree",), coords=degree)

        found = {
            "log10_eigenvalue": by_degree("log10 of the eigenvalue's size; -inf for an exact zero"),
            "relative_error": by_degree("bound of the eigenvalue's relative error before rounding to float64"),
            "log10_multiplicity": by_degree("log10 of the number of harmonics of the degree"),
            "log10_predicted": by_degree(
                "log10 of the eigenvalue that the end-point expansion predicts; NaN if smooth"
            ),
            "trace": Output("value of the kernel at u = 1"),
            "exponent": Output("leading non-integer power ν of 1−u or 1+u in the kernel; NaN if smooth"),
            "at_plus_one": Output("coefficient of (1−u)^ν at u = 1"),
            "at_minus_one": Output("coefficient of (1+u)^ν at u = −1"),
        }
        for name in ("decay", "decay_low", "decay_high"):
            found[name] = Output("fitted p of μ_k ~ k^(−p), and its 95 % interval; NaN if it cannot be fitted")
        if self.reference is not None:
            found["log10_reference"] = by_degree("log10 of the reference kernel's eigenvalue")
        return found

    def measure(self, streams: Streams) -> dict[str, Any]:
        spectrum = self.kernel.spectrum(self.dim, self.max_degree, domain=self.domain)
        ends = self.kernel.endpoints()
        lawful = ends.exponent is not None and self.domain == "sphere"
        law = predicted(ends, self.dim, spectrum.degrees)[0] if lawful else np.full(spectrum.degrees.size, np.nan)
        found: dict[str, Any] = {
            "log10_eigenvalue": spectrum.log10,
            "relative_error": spectrum.errors,
            "log10_multiplicity": [log10(int(n)) for n in spectrum.multiplicities],
            "log10_predicted": law,
            "trace": spectrum.trace,
            "exponent": np.nan if ends.exponent is None else ends.exponent,
            "at_plus_one": ends.at_plus_one,
            "at_minus_one": ends.at_minus_one,
        }
        found |= dict(zip(("decay", "decay_low", "decay_high"), _fitted(spectrum), strict=True))
        if self.reference is not None:
            found["log10_reference"] = self.reference.spectrum(self.dim, self.max_degree, domain=self.domain).log10
        return found

    def cost(self) -> tuple[float, float]:
        """About 20 ns · nodes · degrees for the Legendre recurrence in 300 bits; 8 bytes per recorded number."""
        return 20.0 * (self.max_degree + 500.0) ** 2, 8.0 * 5 * self.max_degree


def _fitted(spectrum: KernelSpectrum) -> tuple[float, float, float]:
    """p and its interval; NaN where the eigenvalues do not fall by a power, or are too few."""
    try:
        fit = spectrum.fit()
    except SimlabError:
        return (np.nan,) * 3
    return (fit.exponent, *fit.interval) if fit.power_law else (np.nan,) * 3
