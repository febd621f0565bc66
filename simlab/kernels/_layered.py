"""Kernels made by a recursion over layers: the fields they share and the way to `_recursion`. MATH §3.

``weight_std = None`` is the normalised family: φ scaled so that E φ(z)² = 1 at unit variance, K¹ = x·y, no bias. A
number is the general recursion, K¹ = σ_b² + σ_w² x·y/d. `depth` L counts weight layers: L = 2 is one hidden layer.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from flint import arb
from pydantic import Field, model_validator

from simlab.activations.activation import Activation
from simlab.activations.relu import ReLU
from simlab.core.errors import SimlabError
from simlab.kernels import _recursion
from simlab.kernels.kernel import Floats, Leaf, Pairs
from simlab.kernels.spectra.endpoints import Endpoints

CHUNK_NORMS = 1024


class Layered(Leaf):
    """A kernel of depth L: Θ^L or K^L."""

    depth: int = Field(ge=1, le=100_000, description="number L of weight layers; 2 is one hidden layer")
    activation: Activation = Field(default_factory=ReLU, description="φ")
    weight_std: float | None = Field(
        None, gt=0, le=1e15, description="σ_w; left out: the normalised family on the unit sphere"
    )
    bias_std: float = Field(0.0, ge=0, le=1e15, description="σ_b; only with weight_std")

    @model_validator(mode="after")
    def _possible(self) -> Layered:
        if self.weight_std is None and self.bias_std != 0:
            raise ValueError(f"bias_std = {self.bias_std}: the normalised family has no bias; give weight_std too")
        if self.is_tangent() and self.depth > 1 and self.activation.jumps():
            raise ValueError(
                f"activation = {self.activation.kind!r}: it jumps, so that E φ'(z)² is infinite and there is no "
                f"tangent kernel; use nngp"
            )
        return self

    @abstractmethod
    def is_tangent(self) -> bool:
        """Whether it is the tangent kernel Θ^L; else K^L."""

    def branch_scale(self) -> float | None:
        """α of a residual net, None for a plain one."""
        return None

    # Numbers

    def family(self) -> Hashable:
        return ("layered", self.activation, self.weight_std, self.bias_std, self.branch_scale())

    @staticmethod
    def evaluate(leaves: Sequence[Any], pairs: Pairs) -> Floats:
        order = sorted(range(len(leaves)), key=lambda i: leaves[i].depth)
        first: Layered = leaves[order[-1]]
        depths = np.array([leaves[i].depth for i in order], dtype=np.int64)
        tangents = np.array([leaves[i].is_tangent() for i in order])
        dual = first.activation.compiled().dual
        a, c = first.activation.numbers(), first.constants(pairs.dim)
        x, y, out = pairs.x, pairs.y, np.empty((len(leaves), pairs.t.size))
        X = first._points(x, pairs.dim)
        Y = X if y is x else first._points(y, pairs.dim)
        chosen = _recursion.Chosen(pairs.rows, pairs.columns, pairs.t, pairs.s)
        wanted = _recursion.Wanted(depths, tangents)
        _recursion.pairs(dual, a, c, _recursion.Inputs(x, X), _recursion.Inputs(y, Y), chosen, wanted, out)
        return out[np.argsort(order)]

    def constants(self, dim: int) -> Floats:
        """(σ_b², v, r, β, w) of `_recursion`, packed in this order."""
        skip, mix = self._mixing(float)
        if self.weight_std is None:
            return np.array([0.0, 1.0, skip, mix, self.activation.unit_weight()])
        return np.array([self.bias_std**2, self.weight_std**2 / dim, skip, mix, self.weight_std**2])

    def _mixing(self, number: Any) -> tuple[Any, Any]:
        """(r, β) as numbers of this type, float or arb."""
        alpha = self.branch_scale()
        if alpha is None:
            return number(0), number(1)
        square = number(alpha) ** 2
        return (1 / (1 + square), square / (1 + square)) if self.weight_std is None else (number(1), square)

    def _points(self, norms: Floats, dim: int) -> Floats:
        """(n, depth, 5): the tables of `_recursion.points`."""
        _, _, variance, dual = self.activation.compiled()
        a = self.activation.numbers()
        return _recursion.points(variance, dual, a, self.constants(dim), norms, self.depth)

    def check_inputs(self, norms: Floats, dim: int) -> None:
        # The recursion of a homogeneous net grows with the norm.
        distinct = np.array([norms.max(initial=0.0)]) if self.homogeneity() is not None else np.unique(norms)
        for begin in range(0, distinct.size, CHUNK_NORMS):
            table = self._points(distinct[begin : begin + CHUNK_NORMS], dim)
            columns = [_recursion.VARIANCE_IN, *([_recursion.TANGENT] if self.is_tangent() else [])]
            wrong = np.any(~np.isfinite(table[:, :, columns]), axis=2)
            if wrong.any():
                layer = int(np.argmax(wrong.any(axis=0)))
                norm = distinct[begin + int(np.argmax(wrong[:, layer]))]
                raise SimlabError(
                    f"{self!r}: overflow at layer {layer + 1} of {self.depth} for an input of norm {norm:.6g}; "
                    f"use smaller variances, fewer layers or smaller inputs"
                )

    def homogeneity(self) -> int | None:
        if self.bias_std != 0:
            return None
        if self.depth == 1:
            return 1
        h = self.activation.homogeneity()
        if h != 0:
            return h
        # A constant is homogeneous, but not 0 for the zero vector.
        at_zero = self.activation.compiled().variance(0.0, self.activation.numbers())
        return None if self.branch_scale() is not None or at_zero != 0.0 else h

    def depends_on_dim(self) -> bool:
        return self.weight_std is not None

    def grading(self) -> int | None:
        return 2 ** max(0, self.depth - 2) if self.activation.jumps() else 1

    def polynomial_degree(self) -> int | None:
        if self.depth == 1:
            return 1
        degree = self.activation.polynomial_degree()
        return None if degree is None else max(degree, 0 if self.branch_scale() is None else 1) ** (self.depth - 1)

    def known_endpoints(self) -> Endpoints | None:
        """Without a kink φ is smooth, and so is its dual at u = ±1."""
        smooth = self.depth == 1 or not self.activation.kink_points()
        return Endpoints(None) if smooth else None

    # Numbers of any precision

    def has_arb(self) -> bool:
        return self.activation.has_arb

    def profile_arb(self, us: list[arb]) -> list[arb]:
        return self._arb(us)

    def at_one_arb(self) -> arb:
        return self._arb([])[0]

    def _arb(self, us: list[arb]) -> list[arb]:
        """κ at these cosines by the recursion in Arb, on the unit sphere or that of radius √d; [κ(1)] for none."""
        dual = self.activation.arb_dual
        one, tangent, bias = arb(1), self.is_tangent(), arb(self.bias_std) ** 2
        skip, mix = self._mixing(arb)
        if self.weight_std is None:
            first, weight = one, one if self.depth == 1 else 1 / dual(one, [one], False)[0][0]
        else:
            first = weight = arb(self.weight_std) ** 2
        # The diagonal goes first and apart: there the correlation is 1, exactly.
        q = theta_one = bias + first
        K = [bias + first * u for u in us]
        theta = list(K)
        for _ in range(self.depth - 1):
            F_one, slope_one = dual(q, [one], tangent)
            F, slope = self._arb_dual(q, [k / q for k in K]) if us else ([], [])
            part_one, parts = mix * (bias + weight * F_one[0]), [mix * (bias + weight * f) for f in F]
            if tangent:
                theta_one = skip * theta_one + part_one + mix * weight * slope_one[0] * theta_one
                theta = [
                    skip * th + part + mix * weight * d * th for th, part, d in zip(theta, parts, slope, strict=True)
                ]
            q = skip * q + part_one
            K = [skip * k + part for k, part in zip(K, parts, strict=True)]
        if not us:
            return [theta_one if tangent else q]
        return theta if tangent else K

    def _arb_dual(self, q: arb, us: list[arb]) -> tuple[list[arb], list[arb]]:
        """F and Ḟ at correlations in balls.

        An arccos of a ball near u = ±1 loses half of its digits at every layer, and 100 layers lose all of them. F
        moves by at most q Ḟ(1) |du| (Cauchy–Schwarz). So F is evaluated at the midpoint and its ball widened by that.
        """
        dual = self.activation.arb_dual
        if self.activation.jumps():  # Ḟ(1) is infinite
            return dual(q, us, self.is_tangent())
        steepest = q * dual(q, [arb(1)], True)[1][0]
        F = dual(q, [u.mid() for u in us], False)[0]
        widened = [f + arb(0, (steepest * u.rad()).upper()) for f, u in zip(F, us, strict=True)]
        return widened, dual(q, us, True)[1] if self.is_tangent() else []
