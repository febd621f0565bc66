"""targets: the functions to be learned.

A kind defines `Params` and ``draw(params, dim, rng) -> f``, one random target, a function of X (n, d); and, where it
is known, ``power(params, dim, max_degree) -> (K+1,)``: E f_k² by degree k, the same for every draw, for x uniform on
the unit sphere. Where the radius counts `power` takes it as ``radius=1.0``; `simlab.sphere.power` estimates it for any
f. A target of the radius alone is a `Radial`, which knows its profile. One made of known neurons
(`neuron_sum.NeuronSum`) has attributes ``neurons`` (k, d) and ``coefficients`` (k,).

A kind with ``outputs(params) -> k`` is vector-valued: f(X) is (n, k), also for k = 1; without it f(X) is (n,). Ask with
`components`. A `Hierarchy` F + αG(F) is one, and gives its parts.
A target is a function: noise on its values belongs to the experiment.
"""

from typing import TYPE_CHECKING

from simlab.core import lookup
from simlab.core.params import Params, kind_of, module_of
from simlab.targets.hierarchy import Hierarchy
from simlab.targets.radial_function import Radial

__all__ = ["Hierarchy", "Radial", "check_scalar", "components"]


def components(params: Params) -> int | None:
    """Number k of outputs of a target whose values are (n, k); None for one of values (n,)."""
    outputs = getattr(module_of(params), "outputs", None)
    return None if outputs is None else int(outputs(params))


def check_scalar(params: Params | None) -> None:
    """Refuse a vector-valued target, for experiments with one output."""
    if params is not None and (k := components(params)) is not None:
        raise ValueError(f"target.kind = {kind_of(params)!r}: it has {k} outputs; must have one value here")


if not TYPE_CHECKING:  # mypy reads the files themselves
    __getattr__, __dir__ = lookup.attributes(__name__)
