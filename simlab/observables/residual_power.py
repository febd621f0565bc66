"""The residual αf − f* by degree: its power in the spherical harmonics of degree k, over the test inputs. MATH §7.

In the linear regime with many samples the part of degree k decays as e^{−μ_k t}, μ_k the tangent kernel's eigenvalue:
low degrees first (spectral bias). Estimated as in `simlab.sphere.power`, over pairs of distinct test inputs with a
jackknife's standard error: unbiased, and perhaps negative where there is nearly nothing. With ``limit = true`` also
μ_k of the kernel of infinite width (`limit`), once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from simlab.core.params import Params as Base
from simlab.core.params import kind_of
from simlab.observables.view import Setting, View
from simlab.record.schema import RECORD, Output
from simlab.sphere.power import BATCHES, degree_power

LAWS = ("uniform_sphere", "gaussian")


class Params(Base):
    max_degree: int = Field(5, ge=0, le=1000, description="the last degree")
    limit: bool = Field(False, description="record the eigenvalues of the kernel of infinite width too")


EXAMPLES = ({"max_degree": 3}, {"max_degree": 2, "limit": True})


def check(params: Params, setting: Setting) -> None:
    kind = kind_of(setting.data)
    if kind not in LAWS:
        raise ValueError(f"data.kind = {kind!r}: residual_power needs uniform directions (allowed: {', '.join(LAWS)})")
    if setting.dim < 2:
        raise ValueError(f"data.dim = {setting.dim}: residual_power needs a sphere, of dimension 2 or more")
    if setting.test_samples < 2 * BATCHES:
        raise ValueError(f"test_samples = {setting.test_samples}: residual_power needs {2 * BATCHES} or more")
    if params.limit:
        if kind != "uniform_sphere":
            raise ValueError(f"data.kind = {kind!r}: residual_power.limit = true needs uniform_sphere")
        try:
            setting.network.limit_kernel(setting.dim, setting.data.radius)  # type: ignore[attr-defined]
        except ValueError as error:
            raise ValueError(f"observables residual_power.limit = true with {error}") from None


def outputs(params: Params) -> dict[str, Output]:
    degrees = {"degree": np.arange(params.max_degree + 1)}
    found = {
        "residual_power": Output("power of αf − f* in this degree", (RECORD, "degree"), coords=degrees),
        "residual_power_error": Output("its standard error", (RECORD, "degree"), coords=degrees),
    }
    if params.limit:
        text = "eigenvalue μ_k of the tangent kernel of infinite width"
        found["limit_eigenvalue"] = Output(text, ("degree",), coords=degrees)
    return found


def measure(params: Params, view: View) -> dict[str, Any]:
    residual = view.predict(view.X_test) - view.y_test
    found: dict[str, Any] = {}
    power = degree_power(lambda X: residual, view.dim, params.max_degree, view.X_test)
    found |= {"residual_power": power.power, "residual_power_error": power.errors}
    if params.limit:
        found["limit_eigenvalue"] = view.once(f"spectrum {params.max_degree}", lambda: _eigenvalues(params, view))
    return found


def _eigenvalues(params: Params, view: View) -> NDArray[np.float64]:
    radius = float(np.linalg.norm(view.X_test[0]))
    return view.network.limit_kernel(view.dim, radius).eigenvalues(view.dim, params.max_degree)
