"""The three-layer residual net and its rivals, without the skip or with two layers. [S3 §2], MATH §9.

    "residual"    f(x) = A(φ(W x + b₁) + φ(U φ(W x + b₁) + b₂))          W : (m, d), U : (m, m), A : (k, m)
    "plain"       f(x) = A φ(U φ(W x + b₁) + b₂)
    "two_layer"   f(x) = A φ(W x + b₁)

`inner` = "full" trains U itself, "factored" U = V A with V : (m, k), A being that of the output: a step then costs
m(d + 4k), not m². A is never trained. At the start W ~ N(0, 1/d), U, V, A ~ N(0, 1/m), and the biases like their
matrices times `bias_scale`; drawn neuron by neuron. θ = (W, b₁, V or U, b₂, A). `trained`: both hidden layers, or one.

With x̃ = (x, 1), S = A φ(W x + b₁), D the slopes φ' and e_c the unit vectors of R^k, ∇f_c is made of outer products:

    δ₂ = D₂ ⊙ A_c with the input (S, 1) or (H₁, 1),     δ₁ = D₁ ⊙ Aᵀ(e_c + Vᵀ δ₂)  or  D₁ ⊙ (A_c + Uᵀ δ₂)  with x̃

(no e_c, A_c in "plain"), so that the tangent kernel of all outputs together, K_cc'(x, y) = ⟨∇f_c(x), ∇f_c'(y)⟩, is
exact at any width: `tangent_blocks`; its mean over c = c' is `tangent_gram`. The conjugate kernel, of a net of which
A alone is trained, is H Hᵀ of `hidden`. Loops: `_resnet_loops`.
"""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from simlab import activations
from simlab.activations.tiles import both
from simlab.core.params import Params as Base
from simlab.core.params import Room
from simlab.networks._gram import Factors, hadamard_gram
from simlab.networks._resnet_loops import FACTORED, FULL
from simlab.networks._wide import jump
from simlab.networks.bound import Loops, checked_start, inputs, other_inputs, vector
from simlab.networks.bound import forward as forward  # of the contract

Floats = NDArray[np.float64]
HAS_STAGES = True
KEPT = 1 << 26  # floats of the δ of a block of rows, 0.5 GB: all rows at once up to m = 8000 at n k = 8000


class Params(Base):
    width: int = Field(ge=1, description="number m of neurons of a layer")
    outputs: int = Field(ge=1, description="number k of outputs")
    form: Literal["residual", "plain", "two_layer"] = Field(
        "residual", description="with a skip, without, or two layers"
    )
    inner: Literal["factored", "full"] = Field("factored", description="second layer: U = VA, or U itself")
    activation: Annotated[Base, Room("activations")] = Field(
        default_factory=lambda: activations.get("relu"), description="φ"
    )
    bias_scale: float = Field(
        1.0, ge=0, le=1e15, description="biases at the start, relative to their matrices' entries"
    )
    trained: Literal["both", "first", "second"] = Field("both", description="which hidden layers are trained")

    @model_validator(mode="after")
    def _possible(self) -> Params:
        if self.form == "two_layer" and self.trained == "second":
            raise ValueError("trained = 'second': form = 'two_layer' has no second hidden layer")
        if problem := jump(self.activation):
            raise ValueError(problem)
        return self


EXAMPLES = (
    {"width": 7, "outputs": 2},
    {"width": 5, "outputs": 3, "inner": "full", "activation": "tanh"},
    {"width": 6, "outputs": 2, "form": "plain", "trained": "second"},
    {"width": 5, "outputs": 2, "form": "plain", "inner": "full", "bias_scale": 0.0},
    {"width": 6, "outputs": 1, "form": "two_layer", "activation": "erf"},
    {"width": 6, "outputs": 2, "trained": "first", "activation": "gelu"},
)


def _inner_columns(params: Params) -> int:
    """Of V or U; 0 where there is none."""
    if params.form == "two_layer":
        return 0
    return params.width if params.inner == "full" else params.outputs


def _first_size(params: Params, dim: int) -> int:
    """Of W and b₁."""
    return params.width * (dim + 1)


def size(params: Params, dim: int) -> int:
    """Number of weights and biases, A's among them."""
    second = 0 if params.form == "two_layer" else params.width * (_inner_columns(params) + 1)
    return _first_size(params, dim) + second + params.width * params.outputs


def initialise(params: Params, dim: int, rng: np.random.Generator) -> Floats:
    """θ : (size,)"""
    dim = checked_start(dim, rng, lambda d: size(params, d))
    m, k, inner = params.width, params.outputs, _inner_columns(params)
    second = 0 if params.form == "two_layer" else inner + 1
    rows = rng.standard_normal((m, dim + 1 + second + k))
    rows[:, : dim + 1] *= dim**-0.5
    rows[:, dim + 1 :] *= m**-0.5
    W, b1, V, b2, A = np.split(rows, np.cumsum([dim, 1, inner, 1 if second else 0]), axis=1)
    scale = params.bias_scale
    return np.concatenate([W.ravel(), scale * b1.ravel(), V.ravel(), scale * b2.ravel(), A.T.ravel()])


def weights(params: Params, theta: Floats, dim: int) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """W : (m, d), b₁ : (m,), V : (m, k) or U : (m, m), b₂ : (m,), A : (k, m); V and b₂ empty in two layers"""
    theta = vector(theta, "theta", size(params, dim), dim)
    m, inner = params.width, _inner_columns(params)
    W, b1, V, b2, A = np.split(theta, np.cumsum([m * dim, m, m * inner, 0 if params.form == "two_layer" else m]))
    return W.reshape(m, dim), b1, V.reshape(m, inner), b2, A.reshape(params.outputs, m)


def stages(params: Params, dim: int) -> tuple[range, ...]:
    """The parts of θ that training layer by layer moves one after another."""
    first, last = _first_size(params, dim), size(params, dim) - params.width * params.outputs
    return (range(first),) if params.form == "two_layer" else (range(first), range(first, last))


def loops(params: Params, dim: int) -> Loops:
    parts = stages(params, dim)
    trained = {"both": range(parts[-1].stop), "first": parts[0], "second": parts[-1]}[params.trained]
    layers, skip = 2 + (params.form != "two_layer"), params.form == "residual"
    full = layers == 3 and params.inner == "full"
    which = params.trained != "second", layers == 3 and params.trained != "first"
    sizes = np.array([params.width, dim, params.outputs, layers, skip, full, *which], dtype=np.int64)
    compiled = FULL if full else FACTORED
    return Loops(
        value=compiled.value,
        gradient=compiled.gradient,
        push=compiled.push,
        pull=compiled.pull,
        activation=params.activation,
        sizes=sizes,
        numbers=np.zeros(1),
        outputs=params.outputs,
        size=size(params, dim),
        trained=trained,
        scratch=lambda n: int(compiled.scratch_size(sizes, n)),
    )


def _layers(params: Params, theta: Floats, X: Floats) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """H₁, D₁, the second layer's input, H₂, D₂, a row an input; the last three empty where there are two layers."""
    W, b1, V, b2, A = weights(params, theta, X.shape[1])
    H1, D1 = both(params.activation, X @ W.T + b1)
    if params.form == "two_layer":
        none = np.zeros((len(X), 0))
        return H1, D1, none, none, none
    inner = H1 if params.inner == "full" else H1 @ A.T
    H2, D2 = both(params.activation, inner @ V.T + b2)
    return H1, D1, inner, H2, D2


def hidden(params: Params, theta: Floats, X: Floats) -> Floats:
    """H : (n, m), what A is multiplied with, over √m: H Hᵀ is the covariance of each output over A."""
    H1, _, _, H2, _ = _layers(params, theta, inputs(X))
    H = H1 if params.form == "two_layer" else H1 + H2 if params.form == "residual" else H2
    scaled: Floats = H / params.width**0.5
    return scaled


def _outer_products(params: Params, theta: Floats, X: Floats) -> list[tuple[Floats, Floats]]:
    """(input (n, p), δ (n, k, m)) of each trained layer."""
    m, k = params.width, params.outputs
    _, _, V, _, A = weights(params, theta, X.shape[1])
    _, D1, inner, _, D2 = _layers(params, theta, X)
    if params.form == "two_layer":
        above: Floats = np.broadcast_to(A, (len(X), k, m))
    else:
        delta2 = A * D2[:, np.newaxis, :]
        through = delta2 @ V  # (n, k, k) or (n, k, m)
        if params.inner == "full":
            above = through + A if params.form == "residual" else through
        else:
            above = (through + np.eye(k) if params.form == "residual" else through) @ A
    one = np.ones((len(X), 1))
    found = []
    if params.trained != "second":
        found.append((np.hstack([X, one]), above * D1[:, np.newaxis, :]))
    if params.trained != "first" and params.form != "two_layer":
        found.append((np.hstack([inner, one]), delta2))
    return found


def tangent_gram(params: Params, theta: Floats, X: Floats, Y: Floats | None = None) -> Floats:
    """K : (n, n), or (n, n') between the rows of X and of Y; the mean over outputs"""
    X = inputs(X)

    def factors(rows: Floats) -> Factors:
        scale = params.outputs**-0.5
        return [(A, scale * delta.reshape(len(rows), -1)) for A, delta in _outer_products(params, theta, rows)]

    a_row = (2 * params.outputs + 4) * params.width
    return hadamard_gram(factors, X, other_inputs(Y, X.shape[1]), a_row)


def tangent_blocks(params: Params, theta: Floats, X: Floats, Y: Floats | None = None) -> Floats:
    """K : (n k, n' k), entry (i k + c, j k + c') being ⟨∇f_c(x_i), ∇f_c'(y_j)⟩"""
    X, k = inputs(X), params.outputs
    Y = X if Y is None else inputs(Y, "Y", X.shape[1])
    rows = max(1, KEPT // (k * params.width))
    K = np.empty((len(X), k, len(Y), k))
    for i in range(0, len(X), rows):
        left = _outer_products(params, theta, X[i : i + rows])
        for j in range(0, len(Y), rows):
            right = _outer_products(params, theta, Y[j : j + rows])
            block = K[i : i + rows, :, j : j + rows]
            block[...] = 0.0
            for (A, delta), (B, other) in zip(left, right, strict=True):
                product = delta.reshape(-1, params.width) @ other.reshape(-1, params.width).T
                block += product.reshape(block.shape) * (A @ B.T)[:, np.newaxis, :, np.newaxis]
    return K.reshape(len(X) * k, len(Y) * k)
