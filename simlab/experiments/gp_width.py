"""Random nets of one width against the Gaussian process of infinite width. [S1 §3–4], MATH §3, §5.

`draws` independent nets f = H a of depth L are evaluated at `points` fixed inputs. K is the covariance of the process,
the given kernel. Recorded are

- *conjugate kernel* of one net, H Hᵀ → K: root mean square of H Hᵀ − K over draws and pairs, ~ m^(−1/2);
- *covariance* over the draws, the mean of f(x)f(y): its largest distance from K in standard errors of that mean;
- *excess kurtosis* E f⁴/(E f²)² − 3, the mean over the inputs: ~ 1/m, and 0 for a Gaussian. For normalised ReLU it is
  exactly 3((1 + 5/m)^{L−1} − 1), as ‖h^ℓ‖² is a product of independent factors of variance 5/m;
- *Kolmogorov–Smirnov distance* of f(x) from N(0, K(x,x)), the largest over the inputs, and the critical value that it
  exceeds in 0.1 % of cases if all f(x) are Gaussian (Bonferroni over the inputs).

Covariance and kurtosis use all outputs of a net; the distance uses its first alone, as it needs independent values.
Standard errors of the first two are those of means over draws; that of the kurtosis is a jackknife over blocks.

Streams: ``data`` (inputs), ``init`` (nets, one after another).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, field_validator
from scipy import stats

from simlab.core.errors import SimlabError
from simlab.experiments.many_nets import NetsState, RandomNets, Work
from simlab.kernels.kernel import Kernel
from simlab.kernels.ntk import NTK
from simlab.networks.mlp import MLP
from simlab.record.schema import Output

Floats = NDArray[np.float64]
BLOCKS = 50
"""Blocks of nets of the jackknife."""
LEVEL = 0.001
"""Probability that the Kolmogorov–Smirnov distance exceeds its critical value if all is Gaussian."""


@dataclass(kw_only=True)
class Outputs(NetsState):
    """The nets so far.

    values: f of each, (draws, outputs, points); 0 where there is none yet.
    squares: mean square of H Hᵀ − K over pairs of inputs, (draws,).
    """

    values: Floats
    squares: Floats


class GPWidth(RandomNets):
    """Statistics of many random nets against a Gaussian process."""

    state_class: ClassVar[type[NetsState]] = Outputs
    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {
            "experiment": {"kind": "gp_width", "draws": 100, "points": 2},
            "data": {"kind": "uniform_sphere", "dim": 3},
            "network": {"kind": "mlp", "depth": 3, "width": 8, "outputs": 2},
            "kernel": {"kind": "nngp", "depth": 3},
        },
    )

    draws: int = Field(ge=2 * BLOCKS, description="number of independent nets")
    points: int = Field(6, ge=1, description="number of fixed inputs")
    network: MLP = Field(description="the nets")
    kernel: Kernel = Field(description="covariance of the limit")

    @field_validator("kernel")
    @classmethod
    def _a_covariance(cls, value: Kernel) -> Kernel:
        if isinstance(value, NTK):
            raise ValueError("a tangent kernel is not the covariance of a net (use nngp)")
        return value

    def outputs(self) -> dict[str, Output]:
        return {
            "conjugate_error": Output("root mean square of H Hᵀ − K over draws and pairs of inputs"),
            "conjugate_error_se": Output("its standard error"),
            "covariance_error": Output("root mean square of mean f fᵀ − K over pairs of inputs"),
            "covariance_z": Output("largest |mean f fᵀ − K| in standard errors"),
            "kurtosis": Output("excess kurtosis of f, mean over the inputs"),
            "kurtosis_se": Output("its standard error"),
            "ks_distance": Output("largest Kolmogorov-Smirnov distance of f(x) from N(0, K(x,x)) over the inputs"),
            "ks_critical": Output("what it exceeds with probability 0.1 % if all f(x) are Gaussian"),
        }

    def limit(self, X: Floats) -> Floats:
        """K(X, X)"""
        return self.kernel.gram(X, threads=1)

    def empty_state(self, rng: np.random.Generator) -> Outputs:
        values = np.zeros((self.draws, self.network.outputs, self.points))
        return Outputs(values=values, squares=np.zeros(self.draws), rng=rng)

    def measure_net(self, work: Work, state: Outputs, theta: Floats) -> None:
        H = self.network.features(theta, work.X)
        top = self.network.layers(theta, work.X.shape[1])[-1]
        state.squares[state.drawn] = np.mean((H @ H.T - work.limit) ** 2)
        state.values[state.drawn] = top @ H.T

    def summarise(self, limit: Floats, state: Outputs) -> dict[str, float]:
        K, values, squares = limit, state.values, state.squares
        draws, outputs, points = values.shape
        if not np.all(np.diagonal(K) > 0.0) or not np.all(np.any(values != 0.0, axis=(0, 1))):
            point = int(np.argmin(np.diagonal(K)))
            raise SimlabError(f"input {point} has the variance {K[point, point]:g}: the law of 0 is not compared")
        error = np.sqrt(np.mean(squares))
        products = np.einsum("roi,roj->rij", values, values) / outputs
        apart = products.mean(axis=0) - K
        kurtosis, kurtosis_se = excess_kurtosis(values)
        ks = [stats.kstest(f / k**0.5, "norm").statistic for f, k in zip(values[:, 0].T, np.diagonal(K), strict=True)]
        return {
            "conjugate_error": error,
            "conjugate_error_se": np.std(squares, ddof=1) / draws**0.5 / (2 * error) if error > 0 else 0.0,
            "covariance_error": np.sqrt(np.mean(apart**2)),
            "covariance_z": np.max(np.abs(apart) / (products.std(axis=0, ddof=1) / draws**0.5)),
            "kurtosis": kurtosis,
            "kurtosis_se": kurtosis_se,
            "ks_distance": max(ks),
            "ks_critical": stats.kstwo.isf(LEVEL / points, draws),
        }

    def cost(self) -> tuple[float, float]:
        """About 40 flops to draw a weight and 2 per point to use it; 8 bytes per recorded number."""
        size = self.network.size(self.data.dimension())
        return self.draws * size * (40.0 + 2 * self.points), 8.0 * len(self.outputs())

    def memory(self) -> float:
        """The weights of one draw and the outputs of all."""
        size = self.network.size(self.data.dimension())
        return 8.0 * (size + self.draws * self.network.outputs * self.points)


def excess_kurtosis(values: Floats) -> tuple[float, float]:
    """Of (draws, outputs, points) with mean 0, averaged over points; its standard error by a jackknife over draws."""
    blocks = np.array_split(values, BLOCKS)
    second, fourth = (np.array([np.sum(block**power, axis=(0, 1)) for block in blocks]) for power in (2, 4))
    rows = np.array([block.shape[0] * block.shape[1] for block in blocks])[:, np.newaxis]

    def ratio(rows: Any, second: Floats, fourth: Floats) -> Floats:
        result: Floats = np.mean(rows * fourth / second**2, axis=-1) - 3.0
        return result

    whole = ratio(rows.sum(), second.sum(axis=0), fourth.sum(axis=0))
    left = ratio(rows.sum() - rows, second.sum(axis=0) - second, fourth.sum(axis=0) - fourth)
    return float(whole), float(np.sqrt((BLOCKS - 1) / BLOCKS * np.sum((left - left.mean()) ** 2)))
