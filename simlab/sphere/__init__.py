"""sphere: S^{d−1} with its uniform law. MATH §1, §4.

`legendre`: the polynomials P_k that span the zonal functions of degree k.
`multiplicity`: the dimension N(d, k) of the spherical harmonics of degree k.
`hemisphere`: Gauss–Legendre nodes in the angle, and the density of the angle.
`power`: the share of a function in each degree.
`zonal`: harmonics about an axis.
`mean_relu`: the mean of a ReLU over the directions.
`ball_law`: a spherically symmetric law with heavy tails; `bessel`: the Bessel functions that it needs.

d = 2 is the circle: P_k(cos θ) = cos kθ and N = 2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simlab.core import catalogue

if not TYPE_CHECKING:  # mypy reads the files themselves
    __getattr__, __dir__ = catalogue.attributes(__name__)
