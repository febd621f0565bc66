"""The two-layer network f(x) = s Σ_{j≤m} a_j φ(w_j·x + b_j). MATH §6.

s = 1/√m ("ntk": a limit where training is linear), 1/m ("mean_field": one where neurons move, by steps m times as
long) or 1 ("none"). θ = (a, b, W), W : (m, d) row by row, without b where there is no bias. Every entry starts from
N(0, τ²), τ = ``init_std``, drawn neuron by neuron: the first neurons of a wider net are those of a narrower one;
with ``inner_std`` those of W from N(0, inner_std²), "unit": 1/√d, so that ‖w_j‖ is about 1 in every dimension.
``doubled``: neurons 2j and 2j+1 start alike but for the sign of a, so that f = 0 at the start; m counts both.
``trained``: both layers, the first (W and b) or the second (a) alone.

Loops and tangent kernel: `_two_layer_loops`.
"""

from __future__ import annotations

from typing import Annotated, Literal

import numba
import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from simlab import activations
from simlab.activations.tiles import both
from simlab.core.errors import BadInput
from simlab.core.fields import number_or
from simlab.core.params import Params as Base
from simlab.core.params import Room, kind_of, module_of
from simlab.networks import _two_layer_loops as compiled
from simlab.networks._gram import Factors, hadamard_gram
from simlab.networks.bound import Loops, checked_start, inputs, other_inputs, weights
from simlab.networks.bound import forward as forward  # of the contract

Floats = NDArray[np.float64]


class Params(Base):
    width: int = Field(ge=1, description="number m of neurons")
    activation: Annotated[Base, Room("activations")] = Field(
        default_factory=lambda: activations.get("relu"), description="φ"
    )
    scaling: Literal["ntk", "mean_field", "none"] = Field("ntk", description="output scale s: 1/√m, 1/m or 1")
    bias: bool = Field(False, description="a bias b_j in each neuron")
    trained: Literal["both", "first", "second"] = Field("both", description="which layers are trained")
    doubled: bool = Field(False, description="neurons in pairs of opposite sign, so that f = 0 at the start")
    init_std: float = Field(1.0, gt=0, le=1e15, description="standard deviation τ of every weight at the start")
    inner_std: Annotated[float | Literal["unit"] | None, number_or("unit", most=1e15, optional=True)] = Field(
        None, description='that of W apart: a number, or "unit" for 1/√d; left out: init_std'
    )

    @model_validator(mode="after")
    def _possible(self) -> Params:
        if self.doubled and self.width % 2:
            raise ValueError(f"width = {self.width}: must be even where the neurons are doubled")
        if self.trained != "second" and module_of(self.activation).jumps(self.activation):
            raise ValueError(
                f"activation = {kind_of(self.activation)!r}: it jumps, so that φ' says nothing of it; "
                f"use one that does not, or trained = 'second'"
            )
        return self


EXAMPLES = (
    {"width": 7},
    {"width": 4, "scaling": "mean_field", "trained": "first"},
    {"width": 6, "activation": "tanh", "bias": True, "doubled": True, "init_std": 0.5, "scaling": "none"},
    {"width": 5, "activation": "step", "trained": "second", "bias": True},
    {"width": 4, "activation": "shifted", "scaling": "mean_field", "inner_std": "unit"},
)


def size(params: Params, dim: int) -> int:
    """Number of weights and biases."""
    return params.width * (dim + 1 + params.bias)


def initialise(params: Params, dim: int, rng: np.random.Generator) -> Floats:
    """θ : (size,)"""
    dim = checked_start(dim, rng, lambda d: size(params, d))
    outer = 1 + params.bias
    rows = rng.standard_normal((params.width // (1 + params.doubled), dim + outer))
    rows[:, :outer] *= params.init_std
    rows[:, outer:] *= inner_std(params, dim)
    if params.doubled:
        rows = np.repeat(rows, 2, axis=0)
        rows[1::2, 0] *= -1
    return np.concatenate([rows[:, :outer].T.ravel(), rows[:, outer:].ravel()])


def inner_std(params: Params, dim: int) -> float:
    """Standard deviation of an entry of W at the start."""
    if params.inner_std is None:
        return params.init_std
    return float(dim**-0.5) if params.inner_std == "unit" else params.inner_std


def output_scale(params: Params) -> float:
    """s"""
    return float(params.width ** {"ntk": -0.5, "mean_field": -1.0, "none": 0.0}[params.scaling])


def loops(params: Params, dim: int) -> Loops:
    m, P = params.width, size(params, dim)
    code = {"both": compiled.BOTH, "first": compiled.FIRST, "second": compiled.SECOND}[params.trained]
    plain = kind_of(params.activation) == "relu" and params.trained == "both" and not params.bias
    return Loops(
        value=compiled.value,
        gradient=compiled.gradient,
        push=compiled.push,
        pull=compiled.pull,
        activation=params.activation,
        sizes=np.array([m, dim, params.bias, code, plain, numba.get_num_threads()], dtype=np.int64),
        numbers=np.array([output_scale(params)]),
        size=P,
        trained={"both": range(P), "first": range(m, P), "second": range(m)}[params.trained],
        scratch=lambda n: int(compiled.scratch_size(n, m, dim)),
    )


def neurons(params: Params, theta: Floats) -> tuple[Floats, Floats, Floats]:
    """a : (m,), b : (m,), zeros where there is no bias, and W : (m, d)"""
    m, theta = params.width, weights(theta)
    if theta.size % m or theta.size < m * (2 + params.bias):
        raise BadInput(f"theta has shape {theta.shape}: must be {m} (d + {1 + params.bias}) numbers, d the dimension")
    b = theta[m : 2 * m] if params.bias else np.zeros(m, theta.dtype)
    return theta[:m], b, theta[m * (1 + params.bias) :].reshape(m, -1)


def hidden(params: Params, theta: Floats, X: Floats) -> Floats:
    """H : (n, m), φ(w_j·x + b_j)/√m, so that H Hᵀ tends to the covariance of f in "ntk" scaling."""
    _, b, W = neurons(params, theta)
    H, _ = both(params.activation, inputs(X, dim=W.shape[1]) @ W.T + b)
    H *= params.width**-0.5
    return H


def tangent_gram(params: Params, theta: Floats, X: Floats, Y: Floats | None = None) -> Floats:
    """K : (n, n), or (n, p) against the rows of Y. K = s² [Hᵀ H + (X Yᵀ + 1{bias}) ⊙ (Dᵀ diag(a²) D)]."""
    a, b, W = neurons(params, theta)
    X, Y = inputs(X, dim=W.shape[1]), other_inputs(Y, W.shape[1])
    s = output_scale(params)

    def factors(rows: Floats) -> Factors:
        H, D = both(params.activation, rows @ W.T + b)
        found: Factors = [] if params.trained == "first" else [(s * H, None)]
        if params.trained != "second":
            lifted = np.column_stack([rows, np.ones(len(rows))]) if params.bias else rows
            found.append((lifted, D * (s * a)))
        return found

    return hadamard_gram(factors, X, Y, 2 * params.width + W.shape[1])
