"""A flow of a network, and kernel ridge regression on the same samples: what learned features are worth. MATH §5–7.

The network and its flow are those of `gradient_flow`. The kernel is fitted to the same (X, y) at every ridge, and its
error E (f − f*)² is measured on the same test inputs. Choosing the best ridge is then a choice in hindsight, which
favours the kernel. Errors are mean squares: twice the losses. Streams: as in `gradient_flow`.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Self

import numpy as np
from pydantic import Field, model_validator

from simlab.core.fields import EachOnce
from simlab.core.parsing import AsTuple
from simlab.experiments.course import SampledCourse
from simlab.experiments.gradient_flow import GradientFlow
from simlab.kernels.kernel import Kernel
from simlab.machines.ridge_choice import solve_each
from simlab.record.schema import Output


class FeatureLearning(GradientFlow):
    """Training of a network, and a kernel machine on the same samples."""

    examples: ClassVar[tuple[dict[str, Any], ...]] = (
        {
            "experiment": {"kind": "feature_learning", "samples": 12, "test_samples": 5, "records": 6},
            "data": {"kind": "uniform_sphere", "dim": 4},
            "target": {"kind": "neuron"},
            "network": {"kind": "two_layer", "width": 4, "scaling": "none", "init_std": 0.1},
            "flow": {"kind": "gradient_descent", "steps": 50, "step": 0.1},
            "kernel": {"kind": "ntk", "depth": 2},
        },
    )

    test_samples: int = Field(1000, ge=2, description="number of test samples")
    ridges: Annotated[tuple[Annotated[float, Field(ge=0)], ...], AsTuple, EachOnce] = Field(
        (1e-3, 1e-1, 1.0, 10.0), min_length=1, description="ridges λ of the kernel, each once"
    )
    kernel: Kernel = Field(description="kernel of the machine to compare with")

    @model_validator(mode="after")
    def _squared(self) -> Self:
        if not self.minimised.quadratic:
            raise ValueError(f"loss.kind = {self.minimised.kind!r}: ridge regression beside has the squared loss")
        return self

    def outputs(self) -> dict[str, Output]:
        ridge = {"ridge": np.array(self.ridges)}
        about = "mean square error of kernel ridge regression on the test data"
        return super().outputs() | {
            "kernel_error": Output(about, ("ridge",), coords=ridge),
            "target_variance": Output("variance of the target over the test data"),
        }

    def measure_at_end(self, work: SampledCourse, state: Any) -> dict[str, Any]:
        X, y_test = work.samples.X, work.samples.y_test
        K, K_test = self.kernel.gram(X, threads=1), self.kernel.gram(work.samples.X_test, X, threads=1)
        alpha = np.stack(solve_each(K, work.samples.y, self.ridges), axis=1)
        errors = np.mean((K_test @ alpha - y_test[:, np.newaxis]) ** 2, axis=0)
        return {"kernel_error": errors, "target_variance": np.var(y_test)}

    def cost(self) -> tuple[float, float] | None:
        """That of the flow, a factorisation per ridge and 20 flops per entry of the Gram matrices."""
        if (flow := super().cost()) is None:
            return None
        flops, nbytes = flow
        n = self.samples
        return flops + len(self.ridges) * n**3 / 3 + 20.0 * n * (n + self.test_samples), nbytes + 8.0 * 5

    def memory(self) -> float | None:
        """That of the flow, and a Gram matrix."""
        flow = super().memory()
        return None if flow is None else flow + 8.0 * self.samples**2
