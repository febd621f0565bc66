"""What `mlp`, `random_features` and `neural_tangent` share: fields, and the two conventions of MATH §3 in one form.

Each layer multiplies a *lifted* input x̃ by a matrix of N(0, 1) entries, z = W x̃, so that Cov(z(x), z(y)) = x̃·ỹ:

- general (σ_w given): x̃ = (σ_w x/√d, σ_b); the bias is the last column of W;
- normalised (``weight_std`` left out): x̃ = x in the first layer, and σ_w² = 1/E φ(z)² after it; no bias.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from simlab.activations.activation import Activation
from simlab.activations.relu import ReLU
from simlab.core import checks
from simlab.core.errors import BadInput, shown
from simlab.networks.bound import weights
from simlab.networks.network import Network

Floats = NDArray[np.float64]


class Wide(Network):
    """Fields and checks like those of the kernels nngp and ntk, which are its limits."""

    width: int = Field(ge=1, description="number of neurons of a hidden layer")
    activation: Activation = Field(default_factory=ReLU, description="φ")
    weight_std: float | None = Field(
        None, gt=0, le=1e15, description="σ_w; left out: the normalised family, for inputs on the unit sphere"
    )
    bias_std: float = Field(0.0, ge=0, le=1e15, description="σ_b; only with weight_std")

    @model_validator(mode="after")
    def _possible(self) -> Wide:
        if self.weight_std is None and self.bias_std != 0:
            raise ValueError(f"bias_std = {self.bias_std}: the normalised family has no bias; give weight_std too")
        return self

    @property
    def biased(self) -> bool:
        """Whether there are biases."""
        return self.bias_std > 0

    def outer_std(self) -> float:
        """σ_w of the layers after the first."""
        return self.activation.unit_weight() ** 0.5 if self.weight_std is None else self.weight_std

    def lifted_dim(self, dim: int) -> int:
        """Length of x̃."""
        return checks.dimension(dim) + self.biased

    def lifted(self, X: Floats) -> Floats:
        """X̃ : (n, d), or (n, d + 1) with a bias"""
        X = checks.matrix(X)
        if self.weight_std is None:
            return X
        X = X * (self.weight_std / X.shape[1] ** 0.5)
        return np.column_stack([X, np.full(len(X), self.bias_std)]) if self.biased else X

    def particle_count(self) -> int:
        return self.width


def jump(activation: Activation) -> str:
    """Why a φ that jumps cannot be differentiated; empty for one that does not jump."""
    if not activation.jumps():
        return ""
    return f"activation = {activation.kind!r}: it jumps, so that φ' says nothing of it; use one that does not"


def columns(part: slice | None, count: int) -> tuple[int, int]:
    """(begin, end) of the features that `part` names, out of `count`."""
    if part is not None and (not isinstance(part, slice) or part.step not in (None, 1)):
        raise BadInput(f"part = {shown(part)}: must be a slice of features without a step, or None for all")
    begin, end, _ = (part or slice(None)).indices(count)
    return begin, end


def checked_rows(found: Floats, width: int, length: int, lift: int = 0) -> Floats:
    """The weights that `draw` gave, as an array; BadInput unless (width, length).

    lift: number of their columns that belong to no input, for the error: 1 with a bias.
    """
    found = weights(found, "weights", 2)
    if len(found) != width:
        raise BadInput(f"weights has shape {found.shape}: must have {width} rows, one for each neuron")
    if found.shape[1] != length:
        raise BadInput(f"X: {length - lift} columns; the weights were drawn for {found.shape[1] - lift}")
    return found
