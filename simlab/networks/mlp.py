"""A fully connected network of L weight layers, which tends to a Gaussian process as its width grows. MATH §3, §6.

    h¹ = W¹ x̃,   x̃ = (σ_w x/√d, σ_b),     h^ℓ = W^ℓ ã^{ℓ−1},   ã = (σ_w φ(h)/√m, σ_b),     f = h^L ∈ R^outputs

with every entry of every W from N(0, 1), the bias being the last column (none where σ_b = 0): NTK parametrisation.
``weight_std`` left out is the normalised family: x̃ = x, and σ_w² = 1/E φ(z)² at unit variance after it. In both

    E f(x) f(y) → nngp(L, φ, σ_w, σ_b)   as m → ∞ (equal to it at any m for L = 2; else the difference is ~ 1/m),

and f becomes Gaussian. `parametrisation` says where the factors σ_w/√m and σ_b stand:

    "ntk"         beside the weights, as above; ⟨∇f(x), ∇f(y)⟩ → ntk(L, φ, σ_w, σ_b)
    "standard"    in the weights: x̃ = (x, 1), ã = (φ(h), 1), entries from N(0, σ_w²/fan-in), biases from N(0, σ_b²). The
                  same draw gives the same f; ∂f/∂W is ntk's divided by the factor of W
    "mean_field"  as "ntk", with 1/m for 1/√m in the top layer: f → 0, and weights move by O(1) on the time scale m

`features` is H = ã^{L−1} : (n, m), with a bias (n, m + 1), factors included. H Hᵀ is the covariance of f given the
layers below, and the tangent kernel where only the top layer is trained. It tends to nngp (in "mean_field" m H Hᵀ does)
and its entries have a variance ~ 1/m.

`bottleneck` keeps the first hidden layer at a fixed width k. However large m, H Hᵀ then stays random and f is a mixture
of Gaussians: a control for both statements.

θ = (W¹, …, W^L), each row by row; all are trained. With Ã^{ℓ−1} : (n, ·) the input of layer ℓ and Δ_c^ℓ = ∂f_c/∂h^ℓ the
tangent kernel, its mean over the outputs c, needs no Jacobian:

    K = Σ_ℓ (Ã^{ℓ−1} Ã^{ℓ−1}ᵀ) ⊙ Σ_c Δ_c^ℓ Δ_c^ℓᵀ / outputs.
"""

from __future__ import annotations

import itertools
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from simlab.core import checks
from simlab.core.errors import BadInput
from simlab.kernels import ntk
from simlab.networks._gram import hadamard_gram
from simlab.networks._mlp_tile import LOOPS, MOST_ROWS
from simlab.networks._wide import Wide, jump
from simlab.networks.bound import Loops, checked_start, vector
from simlab.networks.limit import Limit, check_radius
from simlab.networks.network import Trainable
from simlab.networks.skeleton import fitting_rows

Floats = NDArray[np.float64]


BIASED = {"weight_std": 1.5, "bias_std": 0.5}
"""Fields of examples with biases."""


class MLP(Wide, Trainable):
    """L weight layers, h^ℓ = W^ℓ ã^{ℓ−1}."""

    has_features: ClassVar[bool] = True
    shown: ClassVar[tuple[str, ...]] = (*Trainable.shown, "features")
    may_be_bounded: ClassVar[bool] = True
    lack: ClassVar[str] = "no net of dense layers"
    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {"width": 7, "depth": 3},
        {"width": 7, "depth": 2, "activation": "erf", "outputs": 3, **BIASED},
        {"width": 7, "depth": 4, "bottleneck": 2, "weight_std": 1.4142135623730951},
        {"width": 7, "depth": 1},
        {"width": 7, "depth": 3, "activation": "tanh", "parametrisation": "standard", **BIASED},
        {"width": 7, "depth": 3, "activation": "gelu", "outputs": 2, "parametrisation": "mean_field"},
    )

    depth: int = Field(ge=1, le=1000, description="number L of weight layers; 2 is one hidden layer")
    outputs: int = Field(1, ge=1, description="number of outputs")
    bottleneck: int | None = Field(None, ge=1, description="width of the first hidden layer where it differs")
    parametrisation: Literal["ntk", "standard", "mean_field"] = Field(
        "ntk", description="factors beside N(0, 1) weights, within the weights, or 1/m in the top layer"
    )

    @model_validator(mode="after")
    def _has_a_hidden_layer(self) -> MLP:
        if self.bottleneck is not None and self.depth == 1:
            raise ValueError(f"bottleneck = {self.bottleneck}: a net of depth 1 has no hidden layer")
        if self.parametrisation == "mean_field" and self.depth == 1:
            raise ValueError("parametrisation = 'mean_field': a net of depth 1 has no hidden layer to average over")
        return self

    def output_count(self) -> int:
        return self.outputs

    def first_width(self) -> int:
        return self.bottleneck or self.width

    def widened(self) -> MLP:
        """Without the bottleneck."""
        return self.model_copy(update={"bottleneck": None})

    def unbounded(self) -> str:
        if self.depth == 1:
            return "network.depth = 1"
        return "" if self.activation.bounded else f"network.activation = {self.activation.kind!r}"

    def _widths(self, dim: int) -> list[int]:
        """d, m_1, …, m_{L−1}, outputs"""
        within = [self.width] * (self.depth - 1)
        if self.bottleneck is not None:
            within[0] = self.bottleneck
        return [dim, *within, self.outputs]

    def shapes(self, dim: int) -> list[tuple[int, int]]:
        """The shape of each W."""
        bias = self.biased
        return [(wide, narrow + bias) for narrow, wide in itertools.pairwise(self._widths(dim))]

    def size(self, dim: int) -> int:
        """Number of weights and biases."""
        return sum(rows * columns for rows, columns in self.shapes(dim))

    def _factors(self, dim: int) -> list[float]:
        """σ_w/√fan-in of each layer: of its input, or ("standard") of its weights."""
        found = [1.0 if self.weight_std is None else self.weight_std / dim**0.5]
        found += [self.outer_std() / m**0.5 for m in self._widths(dim)[1:-1]]
        if self.parametrisation == "mean_field":
            found[-1] = self.outer_std() / self._widths(dim)[-2]
        return found

    def initialise(self, dim: int, rng: np.random.Generator) -> Floats:
        """θ : (size,)"""
        dim = checked_start(dim, rng, self.size)
        theta = rng.standard_normal(self.size(dim))
        if self.parametrisation == "standard":
            for W, factor in zip(self.layers(theta, dim), self._factors(dim), strict=True):
                k = W.shape[1] - self.biased
                W[:, :k] *= factor
                W[:, k:] *= self.bias_std
        return theta

    def layers(self, theta: Floats, dim: int) -> list[Floats]:
        """The matrices W¹ … W^L that θ holds."""
        theta = vector(theta, "theta", self.size(dim), dim)
        each = self.shapes(dim)
        cuts = np.cumsum([rows * columns for rows, columns in each])[:-1]
        return [W.reshape(shape) for W, shape in zip(np.split(theta, cuts), each, strict=True)]

    def _multipliers(self, dim: int) -> tuple[list[float], float]:
        """(factor of the input of each layer, constant input of the biases) in the forward pass"""
        if self.parametrisation == "standard":
            return [1.0] * self.depth, 1.0
        return self._factors(dim), self.bias_std

    def _lifted(self, A: Floats, factor: float, bias: float) -> Floats:
        """(factor · A, bias), one row per input"""
        A = factor * A
        return np.column_stack([A, np.full(len(A), bias)]) if self.biased else A

    def _top(self, theta: Floats, X: Floats) -> Floats:
        """Ã^{L−1} : (n, m), with a bias (n, m + 1); the lifted input itself at depth 1."""
        factors, bias = self._multipliers(X.shape[1])
        A = self._lifted(X, factors[0], bias)
        for W, factor in zip(self.layers(theta, X.shape[1])[:-1], factors[1:], strict=True):
            A = self._lifted(self.activation(A @ W.T), factor, bias)
        return A

    def features(self, theta: Floats, X: Floats) -> Floats:
        """H : (n, m), with a bias (n, m + 1); the lifted input itself at depth 1."""
        X = checks.matrix(X)
        H = self._top(theta, X)
        if self.parametrisation == "standard":
            dim = X.shape[1]
            m = self._widths(dim)[-2]
            H[:, :m] *= self._factors(dim)[-1]
            H[:, m:] *= self.bias_std
        return H

    def forward(self, theta: Floats, X: Floats) -> Floats:
        """f : (n,), or (n, outputs) where there are several"""
        X = checks.matrix(X)
        f: Floats = self._top(theta, X) @ self.layers(theta, X.shape[1])[-1].T
        return f[:, 0] if self.outputs == 1 else f

    def _refuse_jump(self) -> None:
        if problem := jump(self.activation):
            raise BadInput(problem)

    def loops(self, dim: int) -> Loops:
        self._refuse_jump()
        widths = self._widths(dim)
        bias = int(self.biased)
        plain = self.activation.relu_shift() == 0.0
        rows = fitting_rows(2 * sum(widths), MOST_ROWS)
        sizes = np.array([rows, bias, max(widths) + bias, self.depth, plain, *widths], dtype=np.int64)
        factors, constant = self._multipliers(dim)
        return Loops(
            compiled=LOOPS,
            activation=self.activation,
            sizes=sizes,
            numbers=np.array([constant, *factors]),
            outputs=self.outputs,
            trained=range(self.size(dim)),
            size=self.size(dim),
        )

    def tangent_gram(self, theta: Floats, X: Floats, Y: Floats | None = None) -> Floats:
        """K : (n, n), or (n, n') between the rows of X and of Y; the mean over outputs"""
        self._refuse_jump()
        X = checks.matrix(X)
        matrices = self.layers(theta, X.shape[1])
        factors, bias = self._multipliers(X.shape[1])

        def outer_products(rows: Floats) -> list[tuple[Floats, Floats | None]]:
            """Pairs (Ã^{ℓ−1}, Δ^ℓ/√outputs), from the top layer down; Δ^ℓ : (n, outputs · m), output by output."""
            inner, slopes = [self._lifted(rows, factors[0], bias)], []
            for W, factor in zip(matrices[:-1], factors[1:], strict=True):
                H, D = self.activation.both(inner[-1] @ W.T)
                inner.append(self._lifted(H, factor, bias))
                slopes.append(factor * D)
            found: list[tuple[Floats, Floats | None]] = [(inner[-1], None)]
            Delta = np.broadcast_to(np.eye(self.outputs) / self.outputs**0.5, (len(rows), *[self.outputs] * 2))
            for A, D, W in zip(inner[-2::-1], slopes[::-1], matrices[:0:-1], strict=True):
                Delta = (Delta @ W[:, : D.shape[1]]) * D[:, np.newaxis, :]
                found.append((A, Delta.reshape(len(rows), -1)))
            return found

        row_floats = (2 + self.outputs) * sum(self._widths(X.shape[1]))
        return hadamard_gram(outer_products, X, Y, row_floats)

    def limit_kernel(self, dim: int, radius: float | None = None) -> Limit:
        """Θ^L with the net's own σ_w, σ_b; in "mean_field" all of it but the last bias's σ_b² is divided by m."""
        if self.bottleneck is not None:
            raise ValueError(f"network.bottleneck = {self.bottleneck}: a narrow layer has no infinite width")
        if self.parametrisation == "standard":
            raise ValueError(
                "network.parametrisation = 'standard': its tangent kernel grows with m (allowed: 'ntk', 'mean_field')"
            )
        check_radius(radius, dim, self.weight_std)
        scale = 1.0 if self.parametrisation == "ntk" else 1.0 / self.width
        Theta = ntk(self.depth, self.activation, self.weight_std, self.bias_std)
        return Limit(((scale, Theta),), (1.0 - scale) * self.bias_std**2)
