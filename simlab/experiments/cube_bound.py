"""What a kernel, or a linear fit over given features, leaves of the separation class on the cube {±1/√d}^d. MATH §9.

Of every one of many random targets H = F + αG(F) (`targets.separation`, k coordinates and their parity) the oracle
risk: the least E‖H − R‖², summed over the k outputs,

- of a [kernel] over all weights of R = Σ_n w_n K(·, x_n), x_n the N samples, by `theory.cube`, and beside it what
  ridge regression on the targets' own values at the x_n reaches with the best of the ridges;
- of a [network] that is a feature map over all coefficients of its D features, by `theory.cube_features`.

By default N = ⌊C(d,k)/1000⌋: with no more samples, or features, the risk of 99 % of the targets is to stay above α²/16.
given = "target" shows what it is that is missing: the learner sees the right k coordinates alone, on {±1/√k}^k.

Streams: data (samples, or the corners that features are measured on), target, features.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from simlab.core import lookup
from simlab.core.errors import one_of
from simlab.core.params import MOST_ENTRIES, AsTuple, Room, kind_of, module_of
from simlab.core.params import Params as Base
from simlab.core.rng import Streams
from simlab.data import boolean_cube
from simlab.kernels.kernel import Kernel
from simlab.record.schema import Output
from simlab.record.segments import State
from simlab.targets import Hierarchy, separation
from simlab.theory import cube, cube_features
from simlab.theory.complexity import kernel_risk, kernel_samples, simple_line

Floats = NDArray[np.float64]


class Params(Base):
    dim: int = Field(ge=1, description="dimension d of the cube")
    size: int = Field(ge=2, description="number k of coordinates of a target, and of its outputs")
    alpha: float = Field(0.3, gt=0, lt=1, description="size α of the parity")
    samples: int | None = Field(None, ge=1, description="number N of samples of a kernel; ⌊C(d,k)/1000⌋ by default")
    targets: int = Field(200, ge=1, le=MOST_ENTRIES, description="number of random targets")
    given: Literal["all", "target"] = Field("all", description="the coordinates that the learner sees")
    ridges: Annotated[tuple[Annotated[float, Field(gt=0)], ...], AsTuple] = Field(
        (1e-4, 1e-2, 1.0, 10.0), min_length=1, description="ridges, of which the best counts for each target"
    )
    corners: int = Field(8192, ge=2, description=f"corners to measure features on, where d > {cube_features.MOST_DIM}")
    kernel: Annotated[Kernel | None, Room("kernels")] = Field(None, description="the kernel")
    network: Annotated[Base | None, Room("networks")] = Field(None, description="or the feature map")

    @model_validator(mode="after")
    def _one_learner(self) -> Params:
        if (self.kernel is None) == (self.network is None):
            raise ValueError("kernel: give either a [kernel] or a [network], a feature map")
        if self.size > self.dim:
            raise ValueError(f"size = {self.size}: must be at most dim, {self.dim}")
        if self.kernel is not None and self.samples is None and kernel_samples(self.dim, self.size) == 0:
            raise ValueError(
                f"dim = {self.dim}: C({self.dim}, {self.size}) = {math.comb(self.dim, self.size)} leaves no sample of "
                f"a thousandth; must be larger, or give samples"
            )
        if self.network is None:
            return self
        if not hasattr(module_of(self.network), "features"):
            able = [name for name in lookup.kinds("networks") if hasattr(lookup.get("networks", name), "features")]
            raise ValueError(
                f"network.kind = {kind_of(self.network)!r}: it is no feature map (allowed: {one_of(able)})"
            )
        if self.samples is not None:
            raise ValueError(f"samples = {self.samples}: features are fitted under the law itself, not on samples")
        if self.given == "all" and self.dim > cube_features.MOST_DIM and self.corners < 4 * functions(self):
            raise ValueError(f"corners = {self.corners}: must be 4 or more a feature, {4 * functions(self)}")
        return self


EXAMPLES: tuple[dict[str, Any], ...] = (
    {
        "experiment": {"kind": "cube_bound", "dim": 12, "size": 2, "samples": 9, "targets": 4},
        "kernel": {"kind": "laplace", "c": 1.0},
    },
    {
        "experiment": {"kind": "cube_bound", "dim": 12, "size": 2, "samples": 9, "targets": 3, "given": "target"},
        "kernel": {"kind": "polynomial", "degree": 2},
    },
    {
        "experiment": {"kind": "cube_bound", "dim": 22, "size": 4, "targets": 3, "corners": 200},
        "network": {"kind": "random_features", "width": 7},
    },
)


@dataclass
class Work:
    X: Floats
    targets: list[Hierarchy]
    features: Callable[[Floats], Floats] | None


def functions(params: Params) -> int:
    """How many functions are combined: N of a kernel, D features."""
    if params.network is not None:
        return int(module_of(params.network).count(params.network, _seen(params)))
    return kernel_samples(params.dim, params.size) if params.samples is None else params.samples


def _seen(params: Params) -> int:
    return params.dim if params.given == "all" else params.size


def outputs(params: Params) -> dict[str, Output]:
    def each(text: str) -> Output:
        return Output(text, ("target",), coords={"target": np.arange(params.targets)})

    found = {
        "functions": Output("samples of the kernel, or features, that are combined", dtype="int64"),
        "allowed": Output("a thousandth of the number of targets, C(d,k)/1000, rounded down", dtype="int64"),
        "bound": Output("α²/16"),
        "without_parity": Output("kα², the risk of F alone"),
        "share_above": Output("share of the targets whose oracle risk exceeds the bound"),
        "risk": each("oracle risk: the least over all weights, or coefficients"),
    }
    if params.kernel is not None:
        return found | {"ridge_risk": each("risk of ridge regression on the target's values, least over the ridges")}
    return found | {"risk_error": each("standard error of the oracle risk; 0 where all corners were summed")}


def prepare(params: Params, streams: Streams) -> Work:
    count = functions(params) if params.network is None else params.corners
    X = boolean_cube.sample(boolean_cube.Params(dim=params.dim, scale="unit"), count, streams["data"])
    kind = separation.Params(size=params.size, alpha=params.alpha)
    targets = [separation.draw(kind, params.dim, streams["target"]) for _ in range(params.targets)]
    if params.network is None:
        return Work(X, targets, None)
    module, network = module_of(params.network), params.network
    weights = module.draw(network, _seen(params), streams["features"])
    return Work(X, targets, lambda Z: np.asarray(module.features(network, weights, Z)))


def start(params: Params, work: Work, streams: Streams) -> State:
    return {"finished": False}


def advance(params: Params, work: Work, state: State) -> dict[str, NDArray[Any]]:
    k, bound = params.size, kernel_risk(params.alpha)
    found: dict[str, Any] = {"functions": functions(params), "bound": bound}
    found["allowed"] = kernel_samples(params.dim, k)
    found["without_parity"] = simple_line(k, params.alpha)
    d, scale = _seen(params), 1 / math.sqrt(_seen(params))
    seen = [_expansion(params, target) for target in work.targets]
    if work.features is not None:
        sample = work.X if params.given == "all" and d > cube_features.MOST_DIM else None
        found["risk"], found["risk_error"] = cube_features.oracle_risks(work.features, d, scale, seen, sample)
    elif params.given == "all":
        found["risk"], found["ridge_risk"] = _kernel_risks(params, work.X, seen)
    else:
        points = [scale * np.sign(work.X[:, target.coordinates]) for target in work.targets]
        parts = [_kernel_risks(params, X, [terms]) for X, terms in zip(points, seen, strict=True)]
        found["risk"], found["ridge_risk"] = np.concatenate(parts, axis=1)
    found["share_above"] = np.mean(found["risk"] > bound)
    state["finished"] = True
    return {name: np.asarray(value) for name, value in found.items()}


def _expansion(params: Params, target: Hierarchy) -> cube.Terms:
    """The target's Walsh expansion, over the coordinates that the learner sees."""
    assert target.walsh is not None
    terms: cube.Terms = target.walsh(1 / math.sqrt(params.dim))
    if params.given == "all":
        return terms
    assert target.coordinates is not None
    place = {int(i): j for j, i in enumerate(target.coordinates)}
    return {tuple(place[i] for i in S): c for S, c in terms.items()}


def _kernel_risks(params: Params, X: Floats, targets: Sequence[cube.Terms]) -> tuple[Floats, Floats]:
    """Oracle risk, and ridge regression's at the best ridge, of every target.

    Samples that are the same corner have the same label, and weights that only count together: of m of them the ridge λ
    makes λ/m.
    """
    assert params.kernel is not None
    on_cube = cube.CubeKernel.of(params.kernel, X.shape[1], 1 / math.sqrt(X.shape[1]))
    subsets = cube.subsets_of(targets)
    points, times = np.unique(X, axis=0, return_counts=True)
    labels = cube.characters(np.sign(points), subsets)
    K = params.kernel.gram(points, threads=1)
    ridge = []
    for size in params.ridges:
        weights = np.linalg.solve(K + np.diag(size / times), labels)
        ridge.append(cube.sums(on_cube.error_form(points, weights, subsets), subsets, targets))
    return on_cube.oracle_risks(points, targets), np.min(ridge, axis=0)


def finished(params: Params, state: State) -> bool:
    return bool(state["finished"])


def cost(params: Params) -> tuple[float, float]:
    """K₂ inverted in balls, about 100 flops' time each of N³, or the triangle of the features."""
    n, columns = float(functions(params)), params.targets + params.dim
    if params.kernel is not None:
        return (100.0 * min(n, 2.0**params.size) ** 3 if params.given == "target" else 100.0 * n**3), 24.0 * columns
    return 4.0 * params.corners * (n + columns) ** 2, 24.0 * columns
