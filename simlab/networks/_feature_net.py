"""Feature maps as nets: f = Φ(x)·c with c trained and the neurons that make Φ frozen. MATH §5, §7.

θ = (c, W): the p coefficients in the order of the features, then the weights as `draw` gives them, row by row.
c starts at 0 (descent then tends to the interpolant of least norm, kernel regression with Φ Φᵀ) or, `coefficient_std`
given, at independent N(0, coefficient_std²): 1 is the top layer of a net in NTK parametrisation.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from simlab.networks import _feature_loops
from simlab.networks._wide import Law, Wide, draw_rows, has_bias, lifted_dim, outer_std
from simlab.networks.bound import Loops, vector

Floats = NDArray[np.float64]


class FeatureNet(Wide):
    law: Law = Field("gaussian", description="of the weights w: N(0, I), or uniform on the sphere of radius √d")
    coefficient_std: float = Field(
        0.0, ge=0, le=1e15, description="standard deviation of the coefficients before training; 1: as a net's"
    )


def start(params: FeatureNet, dim: int, count: int, rng: np.random.Generator) -> Floats:
    """θ : (p + N k,), the weights drawn first: those that `draw` gives."""
    W = draw_rows(params, params.law, dim, rng)
    return np.concatenate([params.coefficient_std * rng.standard_normal(count), W.reshape(-1)])


def split(params: FeatureNet, theta: Floats, dim: int, count: int) -> tuple[Floats, Floats]:
    """c : (p,) and W : (N, k) of θ"""
    k = lifted_dim(params, dim)
    theta = vector(theta, "theta", count + params.width * k, dim)
    return theta[:count], theta[count:].reshape(params.width, k)


def compiled(params: FeatureNet, dim: int, count: int, second: bool, first: bool) -> Loops:
    """The loops of a net with the features φ (`second`), x̃ φ' (`first`) or both, `count` in all."""
    N = params.width
    s0 = 1.0 if params.weight_std is None else params.weight_std / dim**0.5
    sizes = np.array([_feature_loops.tile_rows(N), has_bias(params), dim, N, second, first], dtype=np.int64)
    return Loops(
        value=_feature_loops.value,
        gradient=_feature_loops.gradient,
        push=_feature_loops.push,
        pull=_feature_loops.pull,
        activation=params.activation,
        sizes=sizes,
        numbers=np.array([params.bias_std, s0, outer_std(params) / N**0.5]),
        outputs=1,
        trained=range(count),
        size=count + N * lifted_dim(params, dim),
        scratch=lambda n: _feature_loops.scratch_size(sizes, n),
    )
