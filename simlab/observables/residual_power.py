"""The residual αf − f* by degree: its power in the spherical harmonics of degree k, over the test inputs. MATH §7.

In the linear regime with many samples the part of degree k decays as e^{−μ_k t}, μ_k the tangent kernel's eigenvalue:
low degrees first (spectral bias). The power is estimated as in `simlab.sphere.power`, over pairs of distinct test
inputs, with a jackknife's standard error. The estimate is unbiased, and may be negative where the power is nearly 0.
With ``limit = true``, μ_k of the kernel of infinite width (the network's `limit_kernel`) is recorded once.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from simlab.core import catalogue
from simlab.core.errors import one_of
from simlab.data.law import Law
from simlab.observables.observable import Observable
from simlab.observables.view import Setting, View
from simlab.record.schema import RECORD, Output
from simlab.sphere.power import BATCHES, degree_power


def _has_uniform_directions(law: Law | type[Law]) -> bool:
    """Whether x/‖x‖ is uniform and means over ‖x‖ exist."""
    return law.rotation_invariant and not law.heavy_tail


class ResidualPower(Observable):
    """Power of αf − f* by degree, over the test inputs."""

    needs_test: ClassVar[bool] = True
    losses: ClassVar[Literal["any", "real", "squared"]] = "real"
    examples: ClassVar[tuple[dict[str, Any], ...]] = ({"max_degree": 3}, {"max_degree": 2, "limit": True})

    max_degree: int = Field(5, ge=0, le=1000, description="the last degree")
    limit: bool = Field(False, description="record the eigenvalues of the kernel of infinite width too")

    def check(self, setting: Setting) -> None:
        law = setting.require_law(self.kind)
        if not _has_uniform_directions(law):
            able = one_of(catalogue.able("data", _has_uniform_directions))
            raise ValueError(f"data.kind = {law.kind!r}: residual_power needs uniform directions (allowed: {able})")
        dim, radius = law.dimension(), law.sphere_radius()
        if dim < 2:
            raise ValueError(f"data.dim = {dim}: residual_power needs a sphere, of dimension 2 or more")
        if setting.test_samples < 2 * BATCHES:
            raise ValueError(f"test_samples = {setting.test_samples}: residual_power needs {2 * BATCHES} or more")
        if self.limit:
            if radius is None:
                raise ValueError(f"data.kind = {law.kind!r}: residual_power.limit = true needs uniform_sphere")
            try:
                setting.network.limit_kernel(dim, radius)
            except ValueError as error:
                raise ValueError(f"observables residual_power.limit = true with {error}") from None

    def outputs(self) -> dict[str, Output]:
        degrees = {"degree": np.arange(self.max_degree + 1)}
        found = {
            "residual_power": Output("power of αf − f* in this degree", (RECORD, "degree"), coords=degrees),
            "residual_power_error": Output("its standard error", (RECORD, "degree"), coords=degrees),
        }
        if self.limit:
            text = "eigenvalue μ_k of the tangent kernel of infinite width"
            found["limit_eigenvalue"] = Output(text, ("degree",), coords=degrees)
        return found

    def measure(self, view: View) -> dict[str, Any]:
        residual = view.predict(view.X_test) - view.y_test
        found: dict[str, Any] = {}
        power = degree_power(lambda X: residual, view.dim, self.max_degree, view.X_test)
        found |= {"residual_power": power.power, "residual_power_error": power.errors}
        if self.limit:
            found["limit_eigenvalue"] = view.cached(f"spectrum {self.max_degree}", lambda: self._eigenvalues(view))
        return found

    def _eigenvalues(self, view: View) -> NDArray[np.float64]:
        """μ_k, k = 0 … max_degree, of the kernel of infinite width."""
        radius = float(np.linalg.norm(view.X_test[0]))
        return view.network.limit_kernel(view.dim, radius).eigenvalues(view.dim, self.max_degree)
