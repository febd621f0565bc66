"""kernels: of deep nets and classical ones: their values, Gram matrices and spectra.

One file per kind; `kernel` has the contract, the folder gram the assembly of Gram matrices, spectra that of
eigenvalues. A kernel ``k`` has ``k(u)`` of cosines (a number or a vector), ``k(X)`` and ``k(X, Y)`` of inputs
(matrices, one input per row; also ``k.gram(X, Y)`` with its options), ``k.spectrum(dim, max_degree)``,
``k.endpoints()``, and ``+``, ``*`` with kernels and positive numbers.

Names in small letters are functions that make a kernel, and hide the file of the same name: ``kernels.ntk(3)`` is
``kernels.NTK(depth=3)``. Likewise `gram` is the function: what the folder holds is imported from it,
``from simlab.kernels.gram.store import gram_file``.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from simlab.core import catalogue, checks
from simlab.kernels.gaussian import gaussian
from simlab.kernels.kernel import Kernel, Leaf, Pairs
from simlab.kernels.laplace import laplace
from simlab.kernels.nngp import nngp
from simlab.kernels.ntk import ntk
from simlab.kernels.polynomial import polynomial
from simlab.kernels.power_exponential import power_exponential
from simlab.kernels.residual import residual

__all__ = [
    "Kernel",
    "Leaf",
    "Pairs",
    "check",
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

if TYPE_CHECKING:
    from simlab.kernels.gram.assembly import gram
else:
    # An import binds a module to its name in the package once, the first time: then the function takes the name.
    gram = importlib.import_module("simlab.kernels.gram.assembly").gram


def get(name: str, **fields: Any) -> Kernel:
    """The kernel of this kind: ``get("ntk", depth=3)``."""
    checks.instance(name, "kernel", str, "the name of a kind, a string")
    chosen: Kernel = catalogue.get("kernels", name, "kernel")(**fields)
    return chosen


def check(kernel: Kernel) -> None:
    """Check that a kernel keeps the contract; AssertionError says in one line where it does not."""
    from simlab.kernels.checking import check

    check(kernel)


if not TYPE_CHECKING:  # mypy reads the files themselves
    __getattr__, __dir__ = catalogue.attributes(__name__, files=False)
