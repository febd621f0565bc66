"""Pictures of kernels: their profiles, and eigenvalues on log axes with the predicted law. MATH §4."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture
from matplotlib.ticker import FuncFormatter, MaxNLocator
from numpy.typing import NDArray

from simlab.figures.style import GUIDE, colours, panels
from simlab.figures.words import number
from simlab.kernels import Kernel
from simlab.kernels.spectra.endpoints import predicted
from simlab.kernels.spectra.spectrum import Spectrum

Floats = NDArray[np.float64]
FEW_DECADES = 3.0
"""An axis that spans less has ticks at 1, 2 and 5 times powers of ten."""


def log10_axis(axis: Axes) -> None:
    """Label an axis of log10 values by powers of ten; eigenvalues may lie below the range of float64."""
    axis.yaxis.set_major_locator(MaxNLocator(nbins=7, integer=True))
    axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"$10^{{{value:g}}}$"))


def eigenvalue_lines(
    axis: Axes,
    degrees: NDArray[np.int64],
    log10: Floats,
    law: Floats | None,
    colour: object,
    label: str,
    power: float = 0.0,
) -> None:
    """Eigenvalues as points and the predicted law as lines, even and odd degrees apart, all times k^power.

    degrees: k, (K,).
    log10: log10 of the eigenvalues, (K,); those of 0, −∞, are left out.
    law: log10 of the predicted eigenvalues, (K,), or None.
    power: exponent of the compensation.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        lift = power * np.log10(degrees)
        values, line = log10 + lift, None if law is None else law + lift
    for parity, mark in ((0, "o"), (1, "^")):
        at = (degrees % 2 == parity) & (degrees > 0) & np.isfinite(log10)
        axis.plot(degrees[at], values[at], mark, ms=3.2, mew=0, color=colour, label=label if parity == 0 else None)
        if line is not None:
            there = (degrees % 2 == parity) & (degrees > 1) & np.isfinite(line)
            axis.plot(degrees[there], line[there], "-", lw=0.9, color=colour)


def law_power(dim: int, exponent: float) -> float:
    """p of the law μ_k ~ k^{−p}: d + 2ν − 1, ν the exponent of the kernel's singularity; NaN where it is smooth."""
    return dim + 2.0 * exponent - 1.0


def eigenvalue_axes(axis: Axes, title: str) -> None:
    """Names and scales of a panel of eigenvalues."""
    axis.set(xscale="log", xlabel="degree $k$", ylabel=r"eigenvalue $\mu_k$", title=title)
    log10_axis(axis)


def compensated_axes(axis: Axes, dim: int, power: float, *, law: str = "") -> None:
    """Names and scales of a panel of μ_k k^p, which is flat where the law μ_k ~ k^{−p} holds.

    dim: dimension d.
    power: p; NaN where no law is predicted, which the panel then says.
    law: symbol for p where every kernel has its own.
    """
    if not np.isfinite(power):
        axis.set(xscale="log", xlabel="degree $k$", yticks=[])
        axis.text(0.5, 0.6, "no power law is predicted", transform=axis.transAxes, ha="center")
        return
    more = power - dim
    name = law or ("d" if more == 0 else f"d{more:+.3g}")
    axis.set(xscale="log", xlabel="degree $k$", ylabel=rf"compensated $\mu_k\, k^{{{name}}}$")
    exponent = "each by its own $p$" if law else f"$p = {name} = {power:.4g}$"
    axis.set_title(rf"flat where $\mu_k \sim k^{{-p}}$, {exponent}, $d = {dim}$")
    log10_axis(axis)
    low, high = axis.get_ylim()
    if high - low < FEW_DECADES:
        ticks = [decade + np.log10(n) for decade in range(int(low) - 1, int(high) + 2) for n in (1, 2, 5)]
        ticks = [tick for tick in ticks if low <= tick <= high]
        axis.set_yticks(ticks, [number(float(f"{10**tick:.1g}")) for tick in ticks])


def decay(kernels: Sequence[Kernel], spectra: Sequence[Spectrum]) -> Picture:
    """Eigenvalues of kernels against the degree; where a law k^{−p} is predicted, also times k^p, and over the law."""
    lawful = spectra[0].domain == "sphere" and any(kernel.endpoints().exponent is not None for kernel in kernels)
    figure, (left, *more) = panels(3 if lawful else 1)
    dim, laws = spectra[0].dim, set()
    for kernel, spectrum, shade in zip(kernels, spectra, colours(len(kernels)), strict=True):
        ends = kernel.endpoints()
        law = None
        log10 = np.where(spectrum.known(), spectrum.log10, -np.inf)  # noise is not drawn
        if ends.exponent is not None and spectrum.domain == "sphere":
            law, power = predicted(ends, dim, spectrum.degrees)[0], law_power(dim, ends.exponent)
            laws.add(power)
            at = np.isfinite(law) & np.isfinite(log10) & (spectrum.degrees > 0)
            middle, right = more
            right.plot(spectrum.degrees[at], 10 ** (log10[at] - law[at]), ".", ms=4, color=shade)
            eigenvalue_lines(middle, spectrum.degrees, log10, law, shade, repr(kernel), power)
        eigenvalue_lines(left, spectrum.degrees, log10, law, shade, repr(kernel))
    eigenvalue_axes(left, f"{spectra[0].domain}, $d = {dim}$: circles even, triangles odd, lines predicted")
    left.legend(frameon=False, fontsize=8)
    if laws:
        middle, right = more
        # With several laws each kernel is compensated by its own.
        compensated_axes(middle, dim, max(laws), law="p" if len(laws) > 1 else "")
        right.axhline(1.0, color=GUIDE, lw=0.8)
        right.set(xscale="log", xlabel="degree $k$", ylabel="eigenvalue / predicted", ylim=(0, 2))
    else:
        left.set_title(f"{spectra[0].domain}, $d = {dim}$: no power law is predicted")
    for axis in (left, *more):  # also where there is nothing above degree 0 to draw
        axis.set_xlim(0.8, 1.25 * max(2, int(spectra[0].degrees[-1])))
    return figure


def profiles(kernels: Sequence[Kernel]) -> Picture:
    """κ(u)/κ(1) of several kernels, and their distance from 1 near u = 1."""
    figure, (left, right) = panels(2)
    u, t = np.cos(np.linspace(np.pi, 0, 801)), np.logspace(-12, 0, 200)
    for kernel, shade in zip(kernels, colours(len(kernels)), strict=True):
        top = kernel(1.0)
        left.plot(u, kernel(u) / top, color=shade, lw=1.5, label=repr(kernel))
        right.loglog(t, 1 - kernel.profile(t, 2 - t) / top, color=shade, lw=1.5)
    left.set(xlabel="cosine $u$", ylabel=r"$\kappa(u) / \kappa(1)$", xticks=[-1, -0.5, 0, 0.5, 1])
    left.legend(frameon=False, fontsize=8)
    right.set(xlabel="$t = 1 - u$", ylabel=r"$1 - \kappa(1 - t) / \kappa(1)$")
    return figure
