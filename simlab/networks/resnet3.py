"""The three-layer residual network and its rivals: without the skip, or with two layers. [S3 §2], MATH §9.

    "residual"    f(x) = A(φ(W x + b₁) + φ(U φ(W x + b₁) + b₂))          W : (m, d), U : (m, m), A : (k, m)
    "plain"       f(x) = A φ(U φ(W x + b₁) + b₂)
    "two_layer"   f(x) = A φ(W x + b₁)

inner:     "full" trains U itself; "factored" has U = V A with V : (m, k) trained and the output's A, so that a step
           costs m(d + 4k), not m².
θ:         (W, b₁, V or U, b₂, A); A is never trained.
start:     W ~ N(0, 1/d); U, V, A ~ N(0, 1/m); biases like their matrices, times `bias_scale`. Drawn neuron by neuron.
trained:   both hidden layers, or one of them.

With x̃ = (x, 1), S = A φ(W x + b₁), D the slopes φ' and e_c the unit vectors of R^k, ∇f_c is made of outer products:

    δ₂ = D₂ ⊙ A_c with the input (S, 1) or (H₁, 1),     δ₁ = D₁ ⊙ Aᵀ(e_c + Vᵀ δ₂)  or  D₁ ⊙ (A_c + Uᵀ δ₂)  with x̃

(without e_c and A_c in "plain"). So the tangent kernel between all outputs, K_cc'(x, y) = ⟨∇f_c(x), ∇f_c'(y)⟩, is exact
at any width: `tangent_blocks`; its mean over c = c' is `tangent_gram`. H Hᵀ of `features` is the tangent kernel of
training A alone. What is compiled: `_resnet_tile`.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from simlab.activations.activation import Activation
from simlab.activations.relu import ReLU
from simlab.core import checks
from simlab.networks import _resnet_factored, _resnet_full
from simlab.networks._gram import Factors, hadamard_gram
from simlab.networks._wide import jump
from simlab.networks.bound import Loops, checked_start, vector
from simlab.networks.network import Trainable

Floats = NDArray[np.float64]
DELTA_FLOATS = 1 << 26  # most floats of δ in a block of rows, 0.5 GB: all rows at once up to m = 8000 at n k = 8000


class ResNet3(Trainable):
    """A(φ(W x + b₁) + φ(U φ(W x + b₁) + b₂)), or without the skip or the second layer."""

    has_features: ClassVar[bool] = True
    shown: ClassVar[tuple[str, ...]] = (*Trainable.shown, "features")
    has_stages: ClassVar[bool] = True
    has_tangent_blocks: ClassVar[bool] = True
    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {"width": 7, "outputs": 2},
        {"width": 5, "outputs": 3, "inner": "full", "activation": "tanh"},
        {"width": 6, "outputs": 2, "form": "plain", "trained": "second"},
        {"width": 5, "outputs": 2, "form": "plain", "inner": "full", "bias_scale": 0.0},
        {"width": 6, "outputs": 1, "form": "two_layer", "activation": "erf"},
        {"width": 6, "outputs": 2, "trained": "first", "activation": "gelu"},
    )

    width: int = Field(ge=1, description="number m of neurons of a layer")
    outputs: int = Field(ge=1, description="number k of outputs")
    form: Literal["residual", "plain", "two_layer"] = Field(
        "residual", description="with a skip, without, or two layers"
    )
    inner: Literal["factored", "full"] = Field("factored", description="second layer: U = VA, or U itself")
    activation: Activation = Field(default_factory=ReLU, description="φ")
    bias_scale: float = Field(
        1.0, ge=0, le=1e15, description="biases at the start, relative to their matrices' entries"
    )
    trained: Literal["both", "first", "second"] = Field("both", description="which hidden layers are trained")

    @model_validator(mode="after")
    def _possible(self) -> ResNet3:
        if self.form == "two_layer" and self.trained == "second":
            raise ValueError("trained = 'second': form = 'two_layer' has no second hidden layer")
        if problem := jump(self.activation):
            raise ValueError(problem)
        return self

    def output_count(self) -> int:
        return self.outputs

    def particle_count(self) -> int:
        return self.width

    def _inner_columns(self) -> int:
        """Number of columns of V or U; 0 where there is neither."""
        if self.form == "two_layer":
            return 0
        return self.width if self.inner == "full" else self.outputs

    def _first_size(self, dim: int) -> int:
        """Number of entries of W and b₁."""
        return self.width * (dim + 1)

    def size(self, dim: int) -> int:
        """Number of weights and biases, A's among them."""
        second = 0 if self.form == "two_layer" else self.width * (self._inner_columns() + 1)
        return self._first_size(dim) + second + self.width * self.outputs

    def initialise(self, dim: int, rng: np.random.Generator) -> Floats:
        """θ : (size,)"""
        dim = checked_start(dim, rng, self.size)
        m, k, inner = self.width, self.outputs, self._inner_columns()
        second = 0 if self.form == "two_layer" else inner + 1
        rows = rng.standard_normal((m, dim + 1 + second + k))
        rows[:, : dim + 1] *= dim**-0.5
        rows[:, dim + 1 :] *= m**-0.5
        W, b1, V, b2, A = np.split(rows, np.cumsum([dim, 1, inner, 1 if second else 0]), axis=1)
        scale = self.bias_scale
        return np.concatenate([W.ravel(), scale * b1.ravel(), V.ravel(), scale * b2.ravel(), A.T.ravel()])

    def weights(self, theta: Floats, dim: int) -> tuple[Floats, Floats, Floats, Floats, Floats]:
        """W : (m, d), b₁ : (m,), V : (m, k) or U : (m, m), b₂ : (m,), A : (k, m); V and b₂ empty in two layers"""
        theta = vector(theta, "theta", self.size(dim), dim)
        m, inner = self.width, self._inner_columns()
        W, b1, V, b2, A = np.split(theta, np.cumsum([m * dim, m, m * inner, 0 if self.form == "two_layer" else m]))
        return W.reshape(m, dim), b1, V.reshape(m, inner), b2, A.reshape(self.outputs, m)

    def stages(self, dim: int) -> tuple[range, ...]:
        """The parts of θ that training layer by layer moves one after another."""
        first, last = self._first_size(dim), self.size(dim) - self.width * self.outputs
        return (range(first),) if self.form == "two_layer" else (range(first), range(first, last))

    def loops(self, dim: int) -> Loops:
        parts = self.stages(dim)
        trained = {"both": range(parts[-1].stop), "first": parts[0], "second": parts[-1]}[self.trained]
        layers, skip = 2 + (self.form != "two_layer"), self.form == "residual"
        full = layers == 3 and self.inner == "full"
        which = self.trained != "second", layers == 3 and self.trained != "first"
        sizes = np.array([self.width, dim, self.outputs, layers, skip, full, *which], dtype=np.int64)
        return Loops(
            compiled=_resnet_full.LOOPS if full else _resnet_factored.LOOPS,
            activation=self.activation,
            sizes=sizes,
            numbers=np.zeros(1),
            outputs=self.outputs,
            size=self.size(dim),
            trained=trained,
        )

    def _layers(self, theta: Floats, X: Floats) -> tuple[Floats, Floats, Floats, Floats, Floats]:
        """H₁, D₁, the second layer's input, H₂, D₂, one row per input; with two layers the last three are empty."""
        W, b1, V, b2, A = self.weights(theta, X.shape[1])
        H1, D1 = self.activation.both(X @ W.T + b1)
        if self.form == "two_layer":
            none = np.zeros((len(X), 0))
            return H1, D1, none, none, none
        inner = H1 if self.inner == "full" else H1 @ A.T
        H2, D2 = self.activation.both(inner @ V.T + b2)
        return H1, D1, inner, H2, D2

    def features(self, theta: Floats, X: Floats) -> Floats:
        """H : (n, m), what A is multiplied with, over √m: H Hᵀ is the covariance of each output over A."""
        H1, _, _, H2, _ = self._layers(theta, checks.matrix(X))
        H = H1 if self.form == "two_layer" else H1 + H2 if self.form == "residual" else H2
        scaled: Floats = H / self.width**0.5
        return scaled

    def _outer_products(self, theta: Floats, X: Floats) -> list[tuple[Floats, Floats]]:
        """(input (n, p), δ (n, k, m)) of each trained layer."""
        m, k = self.width, self.outputs
        _, _, V, _, A = self.weights(theta, X.shape[1])
        _, D1, inner, _, D2 = self._layers(theta, X)
        if self.form == "two_layer":
            above: Floats = np.broadcast_to(A, (len(X), k, m))
        else:
            delta2 = A * D2[:, np.newaxis, :]
            through = delta2 @ V  # (n, k, k) or (n, k, m)
            if self.inner == "full":
                above = through + A if self.form == "residual" else through
            else:
                above = (through + np.eye(k) if self.form == "residual" else through) @ A
        one = np.ones((len(X), 1))
        found = []
        if self.trained != "second":
            found.append((np.hstack([X, one]), above * D1[:, np.newaxis, :]))
        if self.trained != "first" and self.form != "two_layer":
            found.append((np.hstack([inner, one]), delta2))
        return found

    def tangent_gram(self, theta: Floats, X: Floats, Y: Floats | None = None) -> Floats:
        """K : (n, n), or (n, n') between the rows of X and of Y; the mean over outputs"""
        X = checks.matrix(X)

        def factors(rows: Floats) -> Factors:
            scale = self.outputs**-0.5
            return [(A, scale * delta.reshape(len(rows), -1)) for A, delta in self._outer_products(theta, rows)]

        row_floats = (2 * self.outputs + 4) * self.width
        return hadamard_gram(factors, X, Y, row_floats)

    def tangent_blocks(self, theta: Floats, X: Floats, Y: Floats | None = None) -> Floats:
        """K : (n k, n' k), entry (i k + c, j k + c') being ⟨∇f_c(x_i), ∇f_c'(y_j)⟩"""
        X, k = checks.matrix(X), self.outputs
        Y = X if Y is None else checks.matrix(Y, "Y", dim=X.shape[1])
        rows = max(1, DELTA_FLOATS // (k * self.width))
        K = np.empty((len(X), k, len(Y), k))
        for i in range(0, len(X), rows):
            left = self._outer_products(theta, X[i : i + rows])
            for j in range(0, len(Y), rows):
                right = self._outer_products(theta, Y[j : j + rows])
                block = K[i : i + rows, :, j : j + rows]
                block[...] = 0.0
                for (A, delta), (B, other) in zip(left, right, strict=True):
                    product = delta.reshape(-1, self.width) @ other.reshape(-1, self.width).T
                    block += product.reshape(block.shape) * (A @ B.T)[:, np.newaxis, :, np.newaxis]
        return K.reshape(len(X) * k, len(Y) * k)
