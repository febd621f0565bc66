"""The picture of the proof at d = 2: |(fφ)^| of the network and |(gφ)^| of the target. MATH §8.

A two-layer network is a sum of functions of one direction each, so (fφ)^ lies in the tubes span(w_j) + R_d B. The
transform of a radial g is a ring. No such f has energy outside its tubes, so E(f − g)² is at least the energy of gφ
there. The tubes are always those of the first layer, also of a deeper network: a three-layer net leaves its tubes.

Everything is done in natural coordinates y, x = scale·y, on a box of side L with `grid`² points:

- *Taper.* φ falls only like r^{−3/2}, and a sharp end of the box would be seen all over the picture. f(scale·y) φ(y) is
  therefore multiplied by a normal taper of standard deviation σ = L/8. That blurs the transform by 1/(2πσ), and tubes
  are taken wider by four of that.
- *Aliasing.* What lies beyond the largest frequency of the grid comes back elsewhere. A network is smooth and has
  hardly any of it; a target that jumps has much. A radial target is therefore transformed in the radius, with J_0 and
  Gauss–Legendre panels between its breaks.
- *Extent.* Outside of the tubes only what is within the picture counts, ‖ξ‖ ≤ `extent`·R_d: there only frequencies of
  twice that come back.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, field_validator
from scipy.fft import rfft2
from scipy.interpolate import CubicSpline
from scipy.special import j0

from simlab.core import catalogue
from simlab.core.errors import one_of
from simlab.core.quadrature import NODES, WEIGHTS
from simlab.observables.observable import Observable
from simlab.observables.view import Setting, View
from simlab.record.schema import RECORD, Output
from simlab.sphere.ball_law import BallLaw
from simlab.targets.radial_function import Radial

Floats = NDArray[np.float64]

LEAST_SIDE = 100.0
"""Least side L of the box, in natural units: 0.8 % of the law is beyond σ, and the blur is 0.02 R_d."""
BLUR_DEVIATIONS = 4.0
"""Standard deviations of the blur that are added to the half width of a tube."""


@dataclass(frozen=True)
class Box:
    """The box: points y = (i − N/2) L/N, i < N, on each axis; frequencies k/L.

    points: number N of points per axis.
    side: length L of a side, in natural units.
    bins: width of a pixel in frequencies, an odd number.
    """

    points: int
    side: float
    bins: int

    @property
    def blur(self) -> float:
        """Standard deviation 1/(2πσ) of the blur, σ = L/8."""
        return 8.0 / (2.0 * math.pi * self.side)


def _box(picture: FourierPicture) -> Box:
    """The smallest box of side LEAST_SIDE or more in which a pixel is a whole, odd number of frequencies wide."""
    pixel = 2.0 * picture.extent / (picture.pixels - 1) * BallLaw.natural(2).ball_radius
    bins = 2 * math.ceil((LEAST_SIDE * pixel - 1.0) / 2.0) + 1 if LEAST_SIDE * pixel > 1.0 else 1
    return Box(picture.grid, bins / pixel, bins)


def _angles(view: View) -> Floats:
    """Directions of the first layer's neurons, (m,), in radians."""
    W = view.network.directions(view.theta)
    return np.asarray(np.arctan2(W[:, 1], W[:, 0]))


def _window(here: Box) -> Floats:
    """φ times the taper at the points of the box, (N, N); one quadrant is computed and mirrored."""
    n, step = here.points, here.side / here.points
    half = step * np.arange(n // 2 + 1)
    r = np.hypot(half[:, np.newaxis], half)
    quadrant = BallLaw.natural(2).phi(r) * np.exp(-0.5 * (8.0 / here.side * r) ** 2)
    fold = np.abs(np.arange(n) - n // 2)
    return np.ascontiguousarray(quadrant[np.ix_(fold, fold)])


def _share(part: float, whole: float) -> float:
    """part/whole; 0 where the whole is 0, as for a doubled net, which starts at f = 0 (on some CPUs up to rounding)."""
    return float(part / whole) if whole > 0.0 else 0.0


def _on_grid(here: Box, scale: float, function: Any) -> Floats:
    """Values (N, N) of a function X (n, 2) → (n,) at x = scale·y; y₂ is constant along a row."""
    n = here.points
    axis = scale * here.side / n * (np.arange(n) - n // 2)
    values, rows = np.empty((n, n)), max(1, (1 << 18) // n)
    for begin in range(0, n, rows):
        second, first = np.meshgrid(axis[begin : begin + rows], axis, indexing="ij")
        X = np.column_stack([first.ravel(), second.ravel()])
        values[begin : begin + rows] = function(X).reshape(second.shape)
    return values


def _energies(values: Floats, here: Box) -> Floats:
    """|transform|² per frequency, (N, N/2+1), of values (N, N).

    The transform of real values is symmetric: only half of the plane is stored, and counted twice, but for the columns
    that are their own mirror image. The sum is ∫ values².
    """
    transform = rfft2(values)
    found = (transform.real**2 + transform.imag**2) * (here.side / here.points**2) ** 2
    found[:, 1 : -1 if here.points % 2 == 0 else None] *= 2.0
    return np.asarray(found)


def _of_target(here: Box, scale: float, target: Any, window: Floats) -> tuple[Floats, float]:
    """Energies of gφ as in `_energies`, and their sum over all frequencies, those beyond the grid included."""
    if not isinstance(target, Radial):
        found = _energies(_on_grid(here, scale, target) * window, here)
        return found, float(found.sum())
    # Panels of at most half a wave of φ and of the highest frequency: 16 nodes on each are exact up to rounding.
    highest = here.points / here.side / math.sqrt(2.0)
    inner = np.array([b for b in target.breaks if b < 0.625 * scale * here.side]) / scale  # to 5 σ
    edges = np.unique(np.concatenate([inner, np.linspace(0.0, 0.625 * here.side, math.ceil(here.side * highest) + 1)]))
    r = (0.5 * (edges[1:] + edges[:-1])[:, np.newaxis] + 0.5 * np.diff(edges)[:, np.newaxis] * NODES).ravel()
    weights = (0.5 * np.diff(edges)[:, np.newaxis] * WEIGHTS).ravel()
    values = target.profile(scale * r) * BallLaw.natural(2).phi(r) * np.exp(-0.5 * (8.0 / here.side * r) ** 2)
    inside = values != 0.0
    r, values, weights = r[inside], values[inside], (2.0 * math.pi * r * weights)[inside]
    # The transform varies over 1/side: it is computed at multiples of a quarter of that, with cubic splines between.
    rho = np.arange(math.ceil(4.0 * here.side * highest) + 4) / (4.0 * here.side)
    along = np.concatenate(
        [j0(2.0 * math.pi * np.outer(some, r)) @ (weights * values) for some in np.array_split(rho, 64)]
    )
    x = np.arange(here.points // 2 + 1) / here.side
    y = (np.fft.fftfreq(here.points) * here.points / here.side)[:, np.newaxis]
    found = (CubicSpline(rho, along)(np.hypot(y, x)) / here.side) ** 2
    found[:, 1 : -1 if here.points % 2 == 0 else None] *= 2.0
    return found, float(weights @ values**2)


def _outside(picture: FourierPicture, here: Box, angles: Floats) -> NDArray[np.bool_]:
    """Which frequencies are within the picture and in no tube, (N, N/2+1). angles: directions of the tubes, (m,)."""
    radius = BallLaw.natural(2).ball_radius
    reach = radius + BLUR_DEVIATIONS * here.blur
    x = np.arange(here.points // 2 + 1) / here.side
    y = (np.fft.fftfreq(here.points) * here.points / here.side)[:, np.newaxis]
    outside = np.hypot(x, y) <= picture.extent * radius
    for angle in angles:
        outside &= np.abs(math.cos(angle) * y - math.sin(angle) * x) > reach
    return np.asarray(outside)


def _picture(picture: FourierPicture, here: Box, energies: Floats) -> Floats:
    """Root mean square of |transform| over each pixel, (pixels, pixels)."""
    half = (picture.pixels // 2) * here.bins + here.bins // 2
    rows = np.arange(-half, half + 1)
    right = energies[rows % here.points, : half + 1] * here.side**2  # energy per frequency → energy per area
    right[:, 1:] /= 2.0
    whole = np.concatenate([right[::-1, :0:-1], right], axis=1)
    return np.asarray(np.sqrt(whole.reshape(picture.pixels, here.bins, picture.pixels, here.bins).mean(axis=(1, 3))))


class FourierPicture(Observable):
    """|(fφ)^| and |(gφ)^| in the plane, and what of them lies outside the tubes of the first layer."""

    losses: ClassVar[Literal["any", "real", "squared"]] = "real"
    examples: ClassVar[tuple[dict[str, Any], ...]] = ({"grid": 512, "pixels": 21, "extent": 3.0},)

    extent: float = Field(8.0, gt=1, le=12, description="the picture's largest frequency, in units of R_d")
    pixels: int = Field(161, ge=11, le=1001, description="of a side of the picture; odd, so that 0 is in the middle")
    grid: int = Field(2048, ge=256, le=8192, description="points of a side of the box on which fφ is taken")

    @field_validator("pixels")
    @classmethod
    def _odd(cls, pixels: int) -> int:
        if pixels % 2 == 0:
            raise ValueError("must be odd")
        return pixels

    def check(self, setting: Setting) -> None:
        law = setting.require_law(self.kind)
        setting.require_target(self.kind)
        if not law.has_radius_law:
            able = one_of(catalogue.able("data", lambda cls: bool(cls.has_radius_law)))
            raise ValueError(f"data.kind = {law.kind!r}: fourier_picture needs {able}, the law φ²")
        if law.dimension() != 2:
            raise ValueError(f"data.dim = {law.dimension()}: fourier_picture is drawn in the plane, dim = 2")
        if not setting.network.has_directions:
            raise ValueError(f"network.kind = {setting.network.kind!r}: fourier_picture needs neurons of a first layer")
        largest = self.grid / (2.0 * _box(self).side * BallLaw.natural(2).ball_radius)
        if 1.5 * self.extent > largest:
            raise ValueError(
                f"observables fourier_picture.grid = {self.grid}: reaches the frequency {largest:.1f} R_d, "
                f"less than 1.5 times extent = {self.extent}"
            )

    def outputs(self) -> dict[str, Output]:
        axis = np.linspace(-self.extent, self.extent, self.pixels)
        plane = {"frequency_y": axis, "frequency_x": axis}
        dims = tuple(plane)
        return {
            "fourier_net": Output("|(fφ)^|, root mean square over a pixel", (RECORD, *dims), coords=plane),
            "fourier_target": Output("|(gφ)^|, root mean square over a pixel", dims, coords=plane),
            "tube_angle": Output("direction of w_j, the axis of its tube", (RECORD, "tube"), unit="rad"),
            "net_outside": Output("share of the energy of fφ outside the tubes, up to extent", (RECORD,)),
            "target_outside": Output("share of the energy of gφ outside the tubes, up to extent", (RECORD,)),
            "outside_energy": Output("energy of gφ outside the tubes: E(f − g)² is no less", (RECORD,)),
            "squared_error": Output("E(f − g)², both tapered", (RECORD,)),
        }

    def measure(self, view: View) -> dict[str, Any]:
        here = _box(self)
        assert view.data is not None  # what `check` asks for
        scale = view.data.radius_law().scale
        window = view.cached("fourier window", lambda: _window(here))
        target: Any = view.target
        g, (of_target, total) = view.cached(
            "fourier target", lambda: (_on_grid(here, scale, target) * window, _of_target(here, scale, target, window))
        )
        f = _on_grid(here, scale, view.predict) * window
        of_net = _energies(f, here)
        angles = _angles(view)
        outside = _outside(self, here, angles)
        return {
            "fourier_net": _picture(self, here, of_net),
            "fourier_target": _picture(self, here, of_target),
            "tube_angle": angles,
            "net_outside": _share(of_net[outside].sum(), of_net.sum()),
            "target_outside": _share(of_target[outside].sum(), total),
            "outside_energy": float(of_target[outside].sum()),
            "squared_error": float(np.sum((f - g) ** 2) * (here.side / here.points) ** 2),
        }
