"""The three-layer network in mean-field scaling that learns a radial target. MATH §8.

    F(x) = (1/m₁) Σ_i ‖v_i‖ σ(v_i·x),        f(x) = (1/m₂) Σ_j σ(w_j F(x) + b_j),        σ = ReLU

Particles v_i of the first layer and (w_j, b_j) of the second. F is 1-homogeneous. Where the law of v is spherically
symmetric, F = α‖x‖ at infinite width with α = (C_Γ/√d) E‖v‖², and f is a function of the radius.

θ = (v_1 … v_{m₁}, c w, c b) with c = √(m₁/m₂). Gradient flow on θ, made m₁ times as fast (the unit "particle" of a
flow), is then the mean-field flow of both layers, v̇_i = −m₁ ∂R/∂v_i and ẇ_j = −m₂ ∂R/∂w_j.

start:     v ~ N(0, τ² I/d), τ = ``init_std``, so that E‖v‖² = τ²; with ``norms = "equal"`` ‖v‖ = τ. w_j and b_j uniform
           within ``w2``(1 ± ``spread``) and ``b2``(1 ± ``spread``). They are drawn before v, so that they are the same
           at any width m₁; and a wider network begins with the neurons of a narrower one.
stretch:   multiplies the first coordinate of v at the start: a law without symmetry, for controls.
w < 0:     needed where E‖x‖ = ∞ (`simlab.data.ball_fourier`): a neuron that stays active has infinite risk.

What is compiled: `_three_layer_tile`. Tangent kernel, with z = v_k·x, z' = v_k·x', n_k = ‖v_k‖ and 1, 1' the indicators
of activity at x and x':

    K = h'(F)h'(F') Σ_k [3σ(z)σ(z') + n_k² 1 1' x·x']/m₁² + (FF' + 1) Σ_j 1 1'/(c m₂)².
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from simlab import activations
from simlab.core import checks
from simlab.core.errors import BadInput
from simlab.networks._gram import Factors, hadamard_gram
from simlab.networks._three_layer_tile import LOOPS
from simlab.networks._two_layer_tile import BOTH, FIRST, SECOND
from simlab.networks.bound import Loops, checked_start, weights
from simlab.networks.network import ThreeLayer
from simlab.sphere.mean_relu import mean_relu

Floats = NDArray[np.float64]


class ThreeLayerMeanField(ThreeLayer):
    """h(F(x)), F = (1/m₁) Σ_i ‖v_i‖ σ(v_i·x), h(z) = (1/m₂) Σ_j σ(w_j z + b_j)."""

    has_directions: ClassVar[bool] = True
    may_be_bounded: ClassVar[bool] = True
    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {"width": 7},
        {"width": 5, "outer_width": 3, "norms": "equal", "stretch": 2.0, "trained": "first"},
        {"width": 4, "outer_width": 6, "w2": 1.0, "b2": -0.2, "init_std": 2.0},
        {"width": 3, "outer_width": 4, "trained": "second", "spread": 0.9},
    )

    width: int = Field(ge=1, description="number m₁ of neurons of the first layer")
    outer_width: int = Field(20, ge=1, description="number m₂ of neurons of the second layer")
    norms: Literal["random", "equal"] = Field("random", description="of v at the start: of a normal vector, or all τ")
    init_std: float = Field(1.0, gt=0, le=1e15, description="τ: root mean square of ‖v‖ at the start")
    stretch: float = Field(1.0, ge=0, le=1e6, description="factor of the first coordinate of v at the start")
    w2: float = Field(-1.0, ge=-1e15, le=1e15, description="middle of the outer weights w at the start")
    b2: float = Field(1.0, ge=-1e15, le=1e15, description="middle of the outer biases b at the start")
    spread: float = Field(0.5, ge=0, lt=1, description="w and b are uniform within their middle (1 ± spread)")
    trained: Literal["both", "first", "second"] = Field("both", description="which layers are trained")

    def size(self, dim: int) -> int:
        """Number of weights and biases."""
        return self.width * dim + 2 * self.outer_width

    def _stored(self) -> float:
        """c = √(m₁/m₂)"""
        return float((self.width / self.outer_width) ** 0.5)

    def initialise(self, dim: int, rng: np.random.Generator) -> Floats:
        """θ : (size,)"""
        dim = checked_start(dim, rng, self.size)
        w, b = 1.0 + self.spread * rng.uniform(-1.0, 1.0, (2, self.outer_width))
        V = rng.standard_normal((self.width, dim)) * (self.init_std / dim**0.5)
        V[:, 0] *= self.stretch
        if self.norms == "equal":
            V *= self.init_std / np.linalg.norm(V, axis=1, keepdims=True)
        return np.concatenate([V.ravel(), self._stored() * self.w2 * w, self._stored() * self.b2 * b])

    def particles(self, theta: Floats) -> tuple[Floats, Floats, Floats]:
        """(V, w, b): (m₁, d), (m₂,), (m₂,)"""
        m2, theta = self.outer_width, weights(theta)
        if theta.size <= 2 * m2 or (theta.size - 2 * m2) % self.width:
            raise BadInput(f"theta has shape {theta.shape}: must be {self.width} d + {2 * m2} numbers, d the dimension")
        V, w, b = np.split(theta, [theta.size - 2 * m2, theta.size - m2])
        return V.reshape(self.width, -1), w / self._stored(), b / self._stored()

    def directions(self, theta: Floats) -> Floats:
        """V : (m₁, d)"""
        return self.particles(theta)[0]

    def particle_count(self) -> int:
        return self.width

    def trained_layers(self) -> Literal["both", "first", "second"]:
        return self.trained

    def unbounded(self) -> str:
        return ""

    def grows_at_start(self) -> str:
        """Outer weights start about w2, which must be negative."""
        return "" if self.w2 < 0 else f"network.w2 = {self.w2}"

    def grows(self, theta: Floats) -> bool:
        """Where an outer weight is positive."""
        return bool((self.particles(theta)[1] > 0).any())

    def first_layer(self, theta: Floats, X: Floats) -> Floats:
        """F : (n,)"""
        V, _, _ = self.particles(theta)
        X = checks.matrix(X, dim=V.shape[1])
        F = np.empty(len(X))
        rows = max(1, (1 << 22) // self.width)
        for begin in range(0, len(X), rows):
            F[begin : begin + rows] = np.maximum(X[begin : begin + rows] @ V.T, 0.0) @ np.linalg.norm(V, axis=1)
        return F / self.width

    def outer(self, w: Floats, b: Floats, F: Floats) -> Floats:
        """h(F) = (1/m₂) Σ_j σ(w_j F + b_j), of F's shape"""
        w, b, F = weights(w, "w"), weights(b, "b"), weights(F, "F", None)
        if not w.size or w.shape != b.shape:
            raise BadInput(f"b has shape {b.shape}: must be {w.shape}, as w, of one number or more")
        flat = np.ravel(F)
        f = np.empty(flat.size)
        rows = max(1, (1 << 22) // w.size)
        for begin in range(0, flat.size, rows):
            f[begin : begin + rows] = np.maximum(np.multiply.outer(flat[begin : begin + rows], w) + b, 0.0).mean(axis=1)
        return f.reshape(np.shape(F))

    def alpha(self, theta: Floats) -> float:
        """α = (C_Γ/√d) mean ‖v‖²: F of these particles has the mean α‖x‖ over the directions of x."""
        V, _, _ = self.particles(theta)
        return mean_relu(V.shape[1]) * float(np.mean(np.einsum("ij,ij->i", V, V)))

    def mean_alpha(self, dim: int) -> float:
        """α at the start, at infinite width"""
        square = self.init_std**2
        if self.norms == "random":
            square *= 1.0 + (self.stretch**2 - 1.0) / dim
        return mean_relu(dim) * square

    def loops(self, dim: int) -> Loops:
        m1, m2, P = self.width, self.outer_width, self.size(dim)
        code = {"both": BOTH, "first": FIRST, "second": SECOND}[self.trained]
        return Loops(
            compiled=LOOPS,
            activation=activations.get("relu"),
            sizes=np.array([m1, dim, m2, code], dtype=np.int64),
            numbers=np.array([1.0 / self._stored()]),
            size=P,
            trained={"both": range(P), "first": range(m1 * dim), "second": range(m1 * dim, P)}[self.trained],
        )

    def tangent_gram(self, theta: Floats, X: Floats, Y: Floats | None = None) -> Floats:
        """K : (n, n), or (n, n') between the rows of X and Y"""
        V, w, b = self.particles(theta)
        X = checks.matrix(X, dim=V.shape[1])
        m1, m2, n = self.width, self.outer_width, np.linalg.norm(V, axis=1)
        of_outer = 1.0 / (self._stored() * m2)

        def factors(rows: Floats) -> Factors:
            Z = rows @ V.T
            F = np.maximum(Z, 0.0) @ n / m1
            active = (np.multiply.outer(F, w) + b > 0.0).astype(np.float64)
            slope = (active @ w / m2)[:, np.newaxis]
            found: Factors = []
            if self.trained != "second":
                found += [(3**0.5 * slope * np.maximum(Z, 0.0) / m1, None), (rows, slope * (Z > 0.0) * n / m1)]
            if self.trained != "first":
                found += [(of_outer * F[:, np.newaxis] * active, None), (of_outer * active, None)]
            return found

        return hadamard_gram(factors, X, Y, 2 * m1 + 2 * m2 + V.shape[1])
