"""Eigenvalues of every point against the degree on log axes, even and odd apart, with the law that is predicted.

Beside or below them: the compensated eigenvalues μ_k k^p, p the predicted exponent, which are flat where the law holds.
If the sweep has several axes, each value of the first one has a pair of panels of its own.
"""

from __future__ import annotations

import itertools

import numpy as np
from matplotlib.figure import Figure as Picture
from pydantic import Field

from simlab.figures.figure import Figure
from simlab.figures.spectra import compensated_axes, eigenvalue_axes, eigenvalue_lines, law_power
from simlab.figures.style import add_title, colours, paired_panels
from simlab.figures.words import point_label
from simlab.record.reader import Results
from simlab.statistics.sweeps import setting


class Eigenvalues(Figure):
    """Eigenvalues against the degree, and compensated by the predicted law."""

    needs = ("log10_eigenvalue", "log10_predicted")
    title: str = Field("", description="above all panels")

    def draw(self, results: Results) -> Picture:
        dims = results.dims["trace"]
        outer, inner = (dims[:1], dims[1:]) if len(dims) > 1 else ((), dims)
        across, points = (list(itertools.product(*(results[dim].tolist() for dim in some))) for some in (outer, inner))
        figure, pairs = paired_panels(len(across))
        for value, (above, below) in zip(across, pairs, strict=True):
            laws = set()
            for point, shade in zip(points, colours(len(points)), strict=True):
                at = dict(zip((*outer, *inner), (*value, *point), strict=True))
                log10, law = results.select("log10_eigenvalue", at), results.select("log10_predicted", at)
                dim = int(at.get("experiment.dim", setting(results, "experiment", "dim")))
                power = law_power(dim, float(results.select("exponent", at)))
                eigenvalue_lines(above, results["degree"], log10, law, shade, point_label(inner, point))
                if np.isfinite(law).any():
                    laws.add((dim, power))
                    eigenvalue_lines(below, results["degree"], log10, law, shade, point_label(inner, point), power)
            eigenvalue_axes(above, point_label(outer, value))
            compensated_axes(below, *min(laws, default=(0, np.nan)), law="p" if len(laws) > 1 else "")
        if inner:
            pairs[0][0].legend(frameon=False, fontsize=8)
        return add_title(figure, self.title)
