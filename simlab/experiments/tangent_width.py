"""The tangent kernel of random nets of one width against that of infinite width. [S1 §5], MATH §6.

K̂ = J Jᵀ of `draws` independent nets is compared with its limit Θ at `points` fixed inputs (`simlab.networks.limit`: any
depth and activation, and the layers that are trained). Recorded are

- for every net the root mean square and the largest of |K̂ − Θ| over pairs, and ‖K̂ − Θ‖/‖Θ‖ in the Frobenius norm, all
  ~ m^(−1/2);
- over all nets the largest distance of the mean K̂ from Θ in standard errors: no bias beyond them for one hidden layer,
  one of ~ 1/m for more.

A `bottleneck` of the net is ignored in the limit: such a net does not tend to it, however wide the rest: a control.

Streams: ``data`` (inputs), ``init`` (nets, one after another).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from simlab.core.errors import SimlabError
from simlab.core.parsing import MOST_ENTRIES
from simlab.experiments.many_nets import NetsState, RandomNets, Work
from simlab.record.schema import Output

Floats = NDArray[np.float64]


@dataclass(kw_only=True)
class Grams(NetsState):
    """The nets so far.

    grams: K̂ of each, (draws, points, points); 0 where there is none yet.
    """

    grams: Floats


class TangentWidth(RandomNets):
    """Tangent kernels of many random nets against their limit."""

    state_class: ClassVar[type[NetsState]] = Grams
    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {
            "experiment": {"kind": "tangent_width", "draws": 20, "points": 3},
            "data": {"kind": "uniform_sphere", "dim": 3},
            "network": {"kind": "two_layer", "width": 8},
        },
    )

    draws: int = Field(ge=2, le=MOST_ENTRIES, description="number of independent nets")
    points: int = Field(10, ge=1, description="number of fixed inputs")

    @model_validator(mode="after")
    def _has_a_limit(self) -> Self:
        if (outputs := self.network.output_count()) != 1:
            raise ValueError(f"network.outputs = {outputs}: must be 1")
        self.network.widened().limit_kernel(self.data.dimension())
        return self

    def outputs(self) -> dict[str, Output]:
        draw = {"draw": np.arange(self.draws)}
        return {
            "rms_error": Output("root mean square of K̂ − Θ over pairs of inputs, by net", ("draw",), coords=draw),
            "sup_error": Output("largest |K̂ − Θ| over pairs of inputs, by net", ("draw",), coords=draw),
            "relative_error": Output("‖K̂ − Θ‖/‖Θ‖ in the Frobenius norm, by net", ("draw",), coords=draw),
            "entry_error": Output("root mean square of K̂ − Θ over nets and pairs"),
            "frobenius_error": Output("mean of ‖K̂ − Θ‖/‖Θ‖ over nets"),
            "mean_error": Output("root mean square over pairs of the mean of K̂ over the nets, less Θ"),
            "mean_z": Output("largest |mean K̂ − Θ| over pairs in standard errors"),
        }

    def limit(self, X: Floats) -> Floats:
        """Θ(X, X)"""
        Theta = self.network.widened().limit_kernel(X.shape[1]).gram(X)
        if not np.any(Theta):
            raise SimlabError("the limit of the tangent kernel is 0 at these inputs: nothing to compare with")
        return Theta

    def empty_state(self, rng: np.random.Generator) -> Grams:
        return Grams(grams=np.zeros((self.draws, self.points, self.points)), rng=rng)

    def measure_net(self, work: Work, state: Grams, theta: Floats) -> None:
        state.grams[state.drawn] = self.network.tangent_gram(theta, work.X)

    def summarise(self, limit: Floats, state: Grams) -> dict[str, Any]:
        grams, apart = state.grams, state.grams - limit
        rms = np.sqrt(np.mean(apart**2, axis=(1, 2)))
        mean, error = apart.mean(axis=0), grams.std(axis=0, ddof=1) / len(grams) ** 0.5
        # An entry that never varies (a linear net's, say) counts where it is wrong beyond rounding.
        z = np.abs(mean) / np.maximum(error, 1e-12 * np.abs(limit).max())
        return {
            "rms_error": rms,
            "sup_error": np.max(np.abs(apart), axis=(1, 2)),
            "relative_error": rms / np.sqrt(np.mean(limit**2)),
            "entry_error": np.sqrt(np.mean(apart**2)),
            "frobenius_error": np.mean(rms) / np.sqrt(np.mean(limit**2)),
            "mean_error": np.sqrt(np.mean(mean**2)),
            "mean_z": z.max(),
        }

    def cost(self) -> tuple[float, float]:
        """About 40 flops to draw a weight, 6 per point to push it back and forth; 8 bytes per recorded number."""
        size = self.network.size(self.data.dimension())
        return self.draws * size * (40.0 + 6 * self.points), 8.0 * (3 * self.draws + 4)

    def memory(self) -> float:
        """The weights of one draw and the Gram matrices of all."""
        return float(8 * (self.network.size(self.data.dimension()) + self.draws * self.points**2))
