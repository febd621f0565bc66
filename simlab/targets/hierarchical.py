"""H = F + αG(F) of two-layer networks with smooth activations. MATH §9.

    F_r(x) = Σ_{i ≤ p_F} a_ri φ(w_ri·x),  G_r(h) = Σ_{i ≤ p_G} b_ri ψ(v_ri·h),  r = 1 … k,

a, b = ±1 and w, v uniform on spheres of the given radii, all drawn. The concept class is defined by the Taylor
coefficients of φ and ψ, so that neither may have a kink. Source: Allen-Zhu & Li, "What can ResNet learn efficiently,
going beyond kernels?", §2.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, field_validator

from simlab.activations import sin, tanh
from simlab.activations.elementwise import apply
from simlab.core import checks
from simlab.core.params import Params as Base
from simlab.core.params import Room, kind_of, module_of
from simlab.sphere.zonal import axes
from simlab.targets.hierarchy import Alpha, Hierarchy

Floats = NDArray[np.float64]


class Params(Base):
    outputs: int = Field(3, ge=1, description="number k of outputs")
    inner_neurons: int = Field(1, ge=1, description="p_F, neurons an output of F")
    outer_neurons: int = Field(4, ge=1, description="p_G, neurons an output of G")
    inner_activation: Annotated[Base, Room("activations")] = Field(tanh.Params(), description="φ of F, smooth")
    outer_activation: Annotated[Base, Room("activations")] = Field(sin.Params(), description="ψ of G, smooth")
    inner_norm: float = Field(1.0, gt=0, description="norm of each w")
    outer_norm: float = Field(1.0, gt=0, description="norm of each v")
    alpha: Alpha = 0.3

    @field_validator("inner_activation", "outer_activation")
    @classmethod
    def _smooth(cls, value: Base) -> Base:
        module = module_of(value)
        if module.jumps(value) or module.kinks(value):
            raise ValueError(
                f"{kind_of(value)} has a kink or a jump: must be smooth, such as tanh, sin, exp or monomial"
            )
        return value


EXAMPLES: tuple[dict[str, Any], ...] = (
    {},
    {"outputs": 1, "inner_neurons": 3, "inner_activation": {"kind": "monomial", "degree": 2}, "outer_norm": 2.0},
)


def outputs(params: Params) -> int:
    return params.outputs


def draw(params: Params, dim: int, rng: np.random.Generator) -> Hierarchy:
    k, dim = params.outputs, checks.draw_from(dim, rng)
    inner = _layer(params.inner_activation, params.inner_norm, (k, params.inner_neurons), dim, rng)
    outer = _layer(params.outer_activation, params.outer_norm, (k, params.outer_neurons), k, rng)
    return Hierarchy(inner, outer, params.alpha, dim)


def _layer(
    activation: Base, norm: float, shape: tuple[int, int], dim: int, rng: np.random.Generator
) -> Callable[[Floats], Floats]:
    """X (n, dim) → (n, k): k sums of `shape[1]` neurons each."""
    W = norm * axes(shape[0] * shape[1], dim, rng)
    signs = rng.choice((-1.0, 1.0), size=shape)
    return lambda X: np.einsum("nri,ri->nr", apply(activation, X @ W.T).reshape(len(X), *shape), signs)
