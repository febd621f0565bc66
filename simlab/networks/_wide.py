"""What random nets of any width share: the fields, and the two conventions of MATH §3 in one form.

Each layer multiplies a *lifted* input by a matrix of N(0, 1) entries, z = W x̃, so that Cov(z(x), z(y)) = x̃·ỹ:

- general (σ_w given): x̃ = (σ_w x/√d, σ_b), the bias being the last column of W;
- normalised (``weight_std`` left out): x̃ = x in the first layer, and σ_w² = 1/E φ(z)² after it; no bias.

`outer_std` is the σ_w of the layers after the first in either.
"""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from simlab import activations
from simlab.core import checks
from simlab.core.errors import BadInput, shown
from simlab.core.params import Params, Room, kind_of, module_of
from simlab.networks.bound import checked_start, inputs, weights

Floats = NDArray[np.float64]
Law = Literal["gaussian", "sphere"]


class Wide(Params):
    """Fields and checks as those of the kernels nngp and ntk, its limits."""

    width: int = Field(ge=1, description="number of neurons of a hidden layer")
    activation: Annotated[Params, Room("activations")] = Field(
        default_factory=lambda: activations.get("relu"), description="φ"
    )
    weight_std: float | None = Field(
        None, gt=0, le=1e15, description="σ_w; left out: the normalised family, for inputs on the unit sphere"
    )
    bias_std: float = Field(0.0, ge=0, le=1e15, description="σ_b; only with weight_std")

    @model_validator(mode="after")
    def _possible(self) -> Wide:
        if module_of(self.activation).__name__.split(".")[:2] != ["simlab", "activations"]:
            raise ValueError(f"activation = {self.activation!r}: must be an activation, such as 'relu'")
        if self.weight_std is None and self.bias_std != 0:
            raise ValueError(f"bias_std = {self.bias_std}: the normalised family has no bias; give weight_std too")
        if self.needs_derivative() and (problem := jump(self.activation)):
            raise ValueError(problem)
        return self

    def needs_derivative(self) -> bool:
        return False


def jump(activation: Params) -> str:
    """What to say of a φ that cannot be differentiated; nothing of another."""
    if not module_of(activation).jumps(activation):
        return ""
    return f"activation = {kind_of(activation)!r}: it jumps, so that φ' says nothing of it; use one that does not"


def refuse_jump(activation: Params) -> None:
    if problem := jump(activation):
        raise BadInput(problem)


def has_bias(params: Wide) -> bool:
    return params.bias_std > 0


def outer_std(params: Wide) -> float:
    """σ_w after the first layer."""
    return activations.unit_weight(params.activation) ** 0.5 if params.weight_std is None else params.weight_std


def lifted_dim(params: Wide, dim: int) -> int:
    return checks.dimension(dim) + has_bias(params)


def lifted(params: Wide, X: Floats) -> Floats:
    """X̃ : (n, d), or (n, d + 1) with a bias"""
    X = inputs(X)
    return X if params.weight_std is None else with_bias(params, X * (params.weight_std / X.shape[1] ** 0.5))


def with_bias(params: Wide, H: Floats) -> Floats:
    """H with the column σ_b where there is a bias."""
    return np.column_stack([H, np.full(len(H), params.bias_std)]) if has_bias(params) else H


def draw_rows(params: Wide, law: Law, dim: int, rng: np.random.Generator) -> Floats:
    """W : (N, d) or, the biases last, (N, d + 1). The first rows of a larger draw are a smaller one's."""
    dim = checked_start(dim, rng, lambda d: params.width * lifted_dim(params, d))
    W = rng.standard_normal((params.width, lifted_dim(params, dim)))
    if law == "sphere":
        W[:, :dim] *= (dim**0.5 / np.linalg.norm(W[:, :dim], axis=1))[:, np.newaxis]
    return W


def columns(part: slice | None, count: int) -> tuple[int, int]:
    """First and one past the last of the features that `part` names."""
    if part is not None and (not isinstance(part, slice) or part.step not in (None, 1)):
        raise BadInput(f"part = {shown(part)}: must be a slice of features without a step, or None for all")
    begin, end, _ = (part or slice(None)).indices(count)
    return begin, end


def drawn_rows(drawn: Floats, width: int, length: int, lift: int = 0) -> Floats:
    """The weights that `draw` gave, refused unless of this width and length; `lift`: columns that are no input's."""
    found = weights(drawn, "weights", 2)
    if len(found) != width:
        raise BadInput(f"weights has shape {found.shape}: must have {width} rows, one for each neuron")
    if found.shape[1] != length:
        raise BadInput(f"X: {length - lift} columns; the weights were drawn for {found.shape[1] - lift}")
    return found
