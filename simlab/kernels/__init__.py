"""kernels: of deep nets and classical ones: their values, Gram matrices and spectra.

A kind defines `Params`, a subclass of `simlab.kernels._kernel.Leaf` (it evaluates itself) or `Kernel` (it combines
others), and a function of the kind's name that makes one. A kernel ``k`` has ``k(u)`` of cosines (a number or a
vector), ``k(X)`` and ``k(X, Y)`` of inputs (matrices, one input per row; also ``k.gram(X, Y)`` with its options),
``k.spectrum(dim, max_degree)``, ``k.endpoints()``, and ``+``, ``*`` with kernels and positive numbers.

Of the kinds named here the function hides the module: ``from simlab.kernels.ntk import Params`` works, while
``import simlab.kernels.ntk as module`` gives the function.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simlab.core import checks, lookup
from simlab.kernels._gram import gram
from simlab.kernels._kernel import Kernel, made
from simlab.kernels.gaussian import gaussian
from simlab.kernels.laplace import laplace
from simlab.kernels.nngp import nngp
from simlab.kernels.ntk import ntk
from simlab.kernels.polynomial import polynomial
from simlab.kernels.power_exponential import power_exponential
from simlab.kernels.residual import residual

__all__ = [
    "Kernel",
    "gaussian",
    "get",
    "gram",
    "laplace",
    "nngp",
    "ntk",
    "polynomial",
    "power_exponential",
    "residual",
]


def get(name: str, **fields: Any) -> Kernel:
    """The kernel of this kind: ``get("ntk", depth=3)``."""
    checks.instance(name, "kernel", str, "the name of a kind, a string")
    chosen: Kernel = made(lookup.get("kernels", name, "kernel").Params, **fields)
    return chosen


if not TYPE_CHECKING:  # mypy reads the files themselves
    __getattr__, __dir__ = lookup.attributes(__name__, files=False)
