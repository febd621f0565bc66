"""What a kernel, or a linear fit over given features, leaves of the separation class on the cube {±1/√d}^d. MATH §9.

For each of many random targets H = F + αG(F) (`targets.separation`: k coordinates and their parity) the oracle risk is
recorded: the least E‖H − R‖², summed over the k outputs,

- with a [kernel], over all weights of R = Σ_n w_n K(·, x_n), x_n the N samples (`theory.cube`). Also recorded is the
  risk of ridge regression on the target's own values at the x_n, with the best of the ridges;
- with a [network] that is a feature map, over all coefficients of its D features (`theory.cube_features`).

By default N = ⌊C(d,k)/1000⌋. With no more samples, or features, the risk of 99 % of the targets is to stay above α²/16.
``given = "target"`` shows what is missing: the learner then sees the right k coordinates alone, on {±1/√k}^k.

Streams: ``data`` (samples, or the corners that features are measured on), ``target``, ``features``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from simlab.core.parsing import MOST_ENTRIES, AsTuple
from simlab.core.rng import Streams
from simlab.data.boolean_cube import BooleanCube
from simlab.experiments.experiment import OneShot
from simlab.kernels.kernel import Kernel
from simlab.networks.network import FeatureMap
from simlab.record.schema import Output
from simlab.targets import Hierarchy
from simlab.targets.separation import Separation
from simlab.theory import cube, cube_features
from simlab.theory.complexity import kernel_risk, kernel_samples, simple_line

Floats = NDArray[np.float64]


class CubeBound(OneShot):
    """Oracle risks of a kernel or a feature map on random targets of the separation class."""

    examples: ClassVar[tuple[dict[str, Any], ...]] = (
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
    kernel: Kernel | None = Field(None, description="the kernel")
    network: FeatureMap | None = Field(None, description="or the feature map")

    @model_validator(mode="after")
    def _one_learner(self) -> Self:
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
        if self.samples is not None:
            raise ValueError(f"samples = {self.samples}: features are fitted under the law itself, not on samples")
        if self.given == "all" and self.dim > cube_features.MOST_DIM and self.corners < 4 * self.functions():
            raise ValueError(f"corners = {self.corners}: must be 4 or more per feature, {4 * self.functions()}")
        return self

    def functions(self) -> int:
        """How many functions are combined: N of a kernel, D features."""
        if self.network is not None:
            return int(self.network.count(self._seen()))
        return kernel_samples(self.dim, self.size) if self.samples is None else self.samples

    def _seen(self) -> int:
        """Number of coordinates that the learner sees."""
        return self.dim if self.given == "all" else self.size

    def outputs(self) -> dict[str, Output]:
        def each(text: str) -> Output:
            return Output(text, ("target",), coords={"target": np.arange(self.targets)})

        found = {
            "functions": Output("samples of the kernel, or features, that are combined", dtype="int64"),
            "allowed": Output("a thousandth of the number of targets, C(d,k)/1000, rounded down", dtype="int64"),
            "bound": Output("α²/16"),
            "without_parity": Output("kα², the risk of F alone"),
            "share_above": Output("share of the targets whose oracle risk exceeds the bound"),
            "risk": each("oracle risk: the least over all weights, or coefficients"),
        }
        if self.kernel is not None:
            return found | {
                "ridge_risk": each("risk of ridge regression on the target's values, least over the ridges")
            }
        return found | {"risk_error": each("standard error of the oracle risk; 0 where all corners were summed")}

    def measure(self, streams: Streams) -> dict[str, Any]:
        k, bound = self.size, kernel_risk(self.alpha)
        count = self.functions() if self.network is None else self.corners
        X = BooleanCube(dim=self.dim, scale="unit").sample(count, streams["data"])
        law = Separation(size=self.size, alpha=self.alpha)
        targets = [law.draw(self.dim, streams["target"]) for _ in range(self.targets)]
        found: dict[str, Any] = {"functions": self.functions(), "bound": bound}
        found["allowed"] = kernel_samples(self.dim, k)
        found["without_parity"] = simple_line(k, self.alpha)
        d, scale = self._seen(), 1 / math.sqrt(self._seen())
        seen = [self._expansion(target) for target in targets]
        if self.network is not None:
            network, weights = self.network, self.network.draw(d, streams["features"])

            def features(Z: Floats) -> Floats:
                return network.features_of(weights, Z)

            sample = X if self.given == "all" and d > cube_features.MOST_DIM else None
            found["risk"], found["risk_error"] = cube_features.oracle_risks(features, d, scale, seen, sample)
        elif self.given == "all":
            found["risk"], found["ridge_risk"] = self._kernel_risks(X, seen)
        else:
            points = [scale * np.sign(X[:, target.coordinates]) for target in targets]
            parts = [self._kernel_risks(some, [terms]) for some, terms in zip(points, seen, strict=True)]
            found["risk"], found["ridge_risk"] = np.concatenate(parts, axis=1)
        found["share_above"] = np.mean(found["risk"] > bound)
        return found

    def _expansion(self, target: Hierarchy) -> cube.Terms:
        """The target's Walsh expansion, over the coordinates that the learner sees."""
        assert target.walsh is not None
        terms: cube.Terms = target.walsh(1 / math.sqrt(self.dim))
        if self.given == "all":
            return terms
        assert target.coordinates is not None
        place = {int(i): j for j, i in enumerate(target.coordinates)}
        return {tuple(place[i] for i in S): c for S, c in terms.items()}

    def _kernel_risks(self, X: Floats, targets: Sequence[cube.Terms]) -> tuple[Floats, Floats]:
        """Oracle risk, and ridge regression's at the best ridge, of every target.

        Samples that are the same corner have the same label, and weights that only count together: of m of them the
        ridge λ makes λ/m.
        """
        assert self.kernel is not None
        on_cube = cube.CubeKernel.of(self.kernel, X.shape[1], 1 / math.sqrt(X.shape[1]))
        subsets = cube.subsets_of(targets)
        points, times = np.unique(X, axis=0, return_counts=True)
        labels = cube.characters(np.sign(points), subsets)
        K = self.kernel.gram(points, threads=1)
        ridge = []
        for size in self.ridges:
            weights = np.linalg.solve(K + np.diag(size / times), labels)
            ridge.append(cube.sums(on_cube.error_form(points, weights, subsets), subsets, targets))
        return on_cube.oracle_risks(points, targets), np.min(ridge, axis=0)

    def cost(self) -> tuple[float, float]:
        """K₂ inverted in balls, about 100 flops' time each of N³, or the triangle of the features."""
        n, columns = float(self.functions()), self.targets + self.dim
        if self.kernel is not None:
            return (100.0 * min(n, 2.0**self.size) ** 3 if self.given == "target" else 100.0 * n**3), 24.0 * columns
        return 4.0 * self.corners * (n + columns) ** 2, 24.0 * columns
