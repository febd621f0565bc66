"""Pictures of kernels: their profiles, and eigenvalues on log axes with the predicted law. MATH §4."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator
from numpy.typing import NDArray

from simlab.figures._style import colours, panels
from simlab.kernels import Kernel
from simlab.kernels._endpoints import predicted
from simlab.kernels._spectrum import Spectrum

Floats = NDArray[np.float64]


def log10_axis(axis: Axes) -> None:
    """Label an axis of log10 values by powers of ten; eigenvalues may lie below the range of float64."""
    axis.yaxis.set_major_locator(MaxNLocator(nbins=7, integer=True))
    axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"$10^{{{value:g}}}$"))


def eigenvalue_lines(
    axis: Axes, degrees: NDArray[np.int64], log10: Floats, law: Floats | None, colour: object, label: str
) -> None:
    """Points of both parities, zeros left out, and the law as a line for each parity."""
    for parity, mark in ((0, "o"), (1, "^")):
        at = (degrees % 2 == parity) & (degrees > 0) & np.isfinite(log10)
        axis.plot(degrees[at], log10[at], mark, ms=3.2, mew=0, color=colour, label=label if parity == 0 else None)
        if law is not None:
            line = (degrees % 2 == parity) & (degrees > 1) & np.isfinite(law)
            axis.plot(degrees[line], law[line], "-", lw=0.9, color=colour, alpha=0.7)


def decay(kernels: Sequence[Kernel], spectra: Sequence[Spectrum]) -> Figure:
    """Eigenvalues of several kernels against the degree, with the law that their end points predict."""
    figure, (left, right) = panels(2)
    for kernel, spectrum, shade in zip(kernels, spectra, colours(len(kernels)), strict=True):
        ends = kernel.endpoints()
        law = None
        log10 = np.where(spectrum.known(), spectrum.log10, -np.inf)  # noise is not drawn
        if ends.exponent is not None and spectrum.domain == "sphere":
            law = predicted(ends, spectrum.dim, spectrum.degrees)[0]
            at = np.isfinite(law) & np.isfinite(log10) & (spectrum.degrees > 0)
            right.plot(spectrum.degrees[at], 10 ** (log10[at] - law[at]), ".", ms=4, color=shade)
        eigenvalue_lines(left, spectrum.degrees, log10, law, shade, repr(kernel))
    span = (0.8, 1.25 * max(2, int(spectra[0].degrees[-1])))  # also where there is nothing above degree 0 to draw
    left.set(xscale="log", xlim=span, xlabel="degree k", ylabel="eigenvalue")
    left.set_title(
        f"{spectra[0].domain}, d = {spectra[0].dim}: circles even, triangles odd, lines predicted", fontsize=9
    )
    log10_axis(left)
    left.legend(frameon=False, fontsize=8)
    if not right.lines:
        right.text(0.5, 0.6, "no power law is predicted", transform=right.transAxes, ha="center")
    right.axhline(1.0, color="0.5", lw=0.8)
    right.set(xscale="log", xlim=span, xlabel="degree k", ylabel="eigenvalue / predicted", ylim=(0, 2))
    return figure


def profiles(kernels: Sequence[Kernel]) -> Figure:
    """κ(u)/κ(1) of several kernels, and their distance from 1 near u = 1."""
    figure, (left, right) = panels(2)
    u, t = np.cos(np.linspace(np.pi, 0, 801)), np.logspace(-12, 0, 200)
    for kernel, shade in zip(kernels, colours(len(kernels)), strict=True):
        top = kernel(1.0)
        left.plot(u, kernel(u) / top, color=shade, lw=1.5, label=repr(kernel))
        right.loglog(t, 1 - kernel.profile(t, 2 - t) / top, color=shade, lw=1.5)
    left.set(xlabel="cosine u", ylabel="κ(u)/κ(1)", xticks=[-1, -0.5, 0, 0.5, 1])
    left.legend(frameon=False, fontsize=8)
    right.set(xlabel="t = 1 − u", ylabel="1 − κ(1−t)/κ(1)")
    return figure
