"""H = F + αG(F) of two-layer networks with smooth activations. MATH §9.

    F_r(x) = Σ_{i ≤ p_F} a_ri φ(w_ri·x),  G_r(h) = Σ_{i ≤ p_G} b_ri ψ(v_ri·h),  r = 1 … k,

with random signs a, b = ±1, and w, v uniform on spheres of the given radii. The concept class is defined by the Taylor
coefficients of φ and ψ, so neither may have a kink. Source: Allen-Zhu & Li, "What can ResNet learn efficiently,
going beyond kernels?", §2.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from pydantic import Field, field_validator

from simlab.activations.activation import Activation
from simlab.activations.sin import Sin
from simlab.activations.tanh import Tanh
from simlab.core import checks
from simlab.sphere.zonal import axes
from simlab.targets.hierarchy import Alpha, Hierarchy
from simlab.targets.target import Function, Target


class Hierarchical(Target):
    """H = F + αG(F), F and G sums of random neurons."""

    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {},
        {"outputs": 1, "inner_neurons": 3, "inner_activation": {"kind": "monomial", "degree": 2}, "outer_norm": 2.0},
    )
    is_hierarchy: ClassVar[bool] = True

    outputs: int = Field(3, ge=1, description="number k of outputs")
    inner_neurons: int = Field(1, ge=1, description="p_F, neurons per output of F")
    outer_neurons: int = Field(4, ge=1, description="p_G, neurons per output of G")
    inner_activation: Activation = Field(default_factory=Tanh, description="φ of F, smooth")
    outer_activation: Activation = Field(default_factory=Sin, description="ψ of G, smooth")
    inner_norm: float = Field(1.0, gt=0, description="norm of each w")
    outer_norm: float = Field(1.0, gt=0, description="norm of each v")
    alpha: Alpha = 0.3

    @field_validator("inner_activation", "outer_activation")
    @classmethod
    def _smooth(cls, value: Activation) -> Activation:
        if value.jumps() or value.kink_points():
            raise ValueError(f"{value.kind} has a kink or a jump: must be smooth, such as tanh, sin, exp or monomial")
        return value

    def components(self) -> int:
        return self.outputs

    def check(self, dim: int) -> None:
        k, per_output = self.outputs, self.inner_neurons * checks.dimension(dim) + self.outer_neurons * self.outputs
        checks.memory(2 * k * per_output, f"dim = {dim} and outputs = {k}")

    def draw(self, dim: int, rng: np.random.Generator) -> Hierarchy:
        k, dim = self.outputs, self.checked(dim, rng)
        inner = _layer(self.inner_activation, self.inner_norm, (k, self.inner_neurons), dim, rng)
        outer = _layer(self.outer_activation, self.outer_norm, (k, self.outer_neurons), k, rng)
        return Hierarchy(inner, outer, self.alpha, dim)


def _layer(activation: Activation, norm: float, shape: tuple[int, int], dim: int, rng: np.random.Generator) -> Function:
    """A random function X (n, dim) → (n, k): k sums of p neurons each.

    norm: norm of every neuron's weights.
    shape: (k, p).
    """
    W = norm * axes(shape[0] * shape[1], dim, rng)
    signs = rng.choice((-1.0, 1.0), size=shape)
    return lambda X: np.einsum("nri,ri->nr", activation(X @ W.T).reshape(len(X), *shape), signs)
