"""The uniform law on the cube {±s}^d, alone or beside another law: Unif({±s}^{d₁}) × D₂. MATH §4, §9.

``scale = "unit"`` is s = 1/√d, d the dimension of all coordinates together, so that the cube {±s}^d lies on the unit
sphere; of a cube as `rest` it is the same s.
"""

from __future__ import annotations

from math import sqrt
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator, Field, field_validator

from simlab.core import checks
from simlab.core.params import Params as Base
from simlab.core.params import Room, kind_of, module_of


def _size(value: Any) -> Any:
    if value != "unit" and (isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 < value < np.inf):
        raise ValueError('must be a number greater than 0, or "unit" for 1/√d')
    return value


class Params(Base):
    dim: int = Field(ge=1, description="dimension of the cube: d, or d₁ beside `rest`")
    scale: Annotated[float | Literal["unit"], BeforeValidator(_size)] = Field(
        1.0, description='size s of a coordinate; "unit": 1/√d, which puts the cube on the unit sphere'
    )
    rest: Annotated[Base | None, Room("data")] = Field(
        None, description="law D₂ of the coordinates that follow, independent; none by default"
    )

    @field_validator("rest")
    @classmethod
    def _is_a_law(cls, value: Base | None) -> Base | None:
        if value is not None and getattr(module_of(value), "FINITE", False):
            raise ValueError(f"{kind_of(value)} has a fixed number of rows: must be a law, such as gaussian")
        if value is not None and getattr(module_of(value), "HEAVY_TAIL", False):
            raise ValueError(f"{kind_of(value)} has no mean: must be a law with moments, such as gaussian")
        return value


EXAMPLES: tuple[dict[str, Any], ...] = (
    {"dim": 10},
    {"dim": 4, "scale": 0.5},
    {"dim": 5, "scale": "unit", "rest": {"kind": "gaussian", "dim": 3, "scale": 0.2}},
)


def dimension(params: Params) -> int:
    return params.dim if params.rest is None else params.dim + int(module_of(params.rest).dimension(params.rest))


def coordinate_size(params: Params) -> float:
    """s: a coordinate is ±s."""
    return _coordinate_size(params, dimension(params))


def _coordinate_size(params: Params, total: int) -> float:
    return 1.0 / sqrt(total) if params.scale == "unit" else params.scale


def together(params: Params) -> bool:
    if params.rest is None or not hasattr(module_of(params.rest), "together"):
        return False
    return bool(module_of(params.rest).together(params.rest))


def sample(params: Params, n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """X : (n, d)"""
    dim = dimension(params)
    return _sample(params, checks.sample(n, rng, 2 * dim), rng, dim)


def _sample(params: Params, n: int, rng: np.random.Generator, total: int) -> NDArray[np.float64]:
    s = _coordinate_size(params, total)
    if params.rest is None:
        bits = rng.integers(0, 2, size=(n, params.dim))
        return np.asarray(s * (2.0 * bits - 1.0))
    # A generator of its own, named before anything is drawn: otherwise the rest of a row would depend on n.
    own = np.random.default_rng(rng.integers(0, 1 << 32, size=4))
    X = np.empty((n, dimension(params)))
    X[:, : params.dim] = s * (2.0 * rng.integers(0, 2, size=(n, params.dim)) - 1.0)
    if isinstance(params.rest, Params):
        X[:, params.dim :] = _sample(params.rest, n, own, total)
    else:
        X[:, params.dim :] = module_of(params.rest).sample(params.rest, n, own)
    return X
