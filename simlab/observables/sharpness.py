"""The sharpness: the largest eigenvalues of the Hessian of R_α(θ) = R(αf_θ)/α² over the trained weights. MATH §6, §10.

With J = ∂f/∂θ, and ℓ', ℓ'' at (αf(x_i), y_i), i ≤ n,

    ∇²R_α = (1/n) Jᵀ diag(ℓ'') J + (1/αn) Σ_ia ℓ'_ia ∇²f_a(x_i) = G + S.

G, the Gauss–Newton part, is exact: J v, the curvature, Jᵀ r. S v is the central difference of Jᵀ ℓ'/(αn) along v with
ℓ' held fixed. S vanishes for a linear model and where all samples are fitted, and so does its error. Gradient descent
of step η is stable only while the largest eigenvalue is below 2/η. Beside it are recorded the largest eigenvalue of G
and that of K/n, K = J Jᵀ the tangent kernel of all outputs; both are the same for the squared loss.

Where ℓ has a kink (`Loss.smooth` is false), ℓ'' is 0 there: G is that of the smooth pieces, 0 for the hinge loss. Where
the activation has a kink, as ReLU, ∇²f is that of the smooth piece of θ, unless the difference steps over a kink.
A sample within h|v·x| of a neuron's kink adds a spurious term of order 1/h; with many neurons × samples that happens.

Eigenvalues are found by Lanczos' method (`simlab.observables._lanczos`), from a fixed start. Their error is about the
square of the residual `tolerance` over the gap to the next eigenvalue.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from simlab.core.blas import one_blas_thread
from simlab.core.errors import BadInput
from simlab.core.parsing import MOST_ENTRIES
from simlab.observables._lanczos import largest
from simlab.observables.observable import Observable
from simlab.observables.view import Setting, View
from simlab.record.schema import RECORD, Output

Floats = NDArray[np.float64]
STEP = float(np.cbrt(np.finfo(np.float64).eps))
"""The difference goes STEP·(1 + root mean square of θ) along v/‖v‖. Measured on tanh and gelu nets of 140 to 14 000
weights: relative errors of 5e-11 to 1e-9 along random directions and along single weights. With ‖θ‖ in place of the
root mean square, 5e-7 along single weights of the largest."""


class Products:
    """Products with the Hessian's parts at one instant; vectors are the trained weights, (size,).

    view: the instant.
    X, y: the samples of R, (n, d) and (n,) or (n, c), n ≥ 1.
    """

    def __init__(self, view: View, X: Floats, y: Floats) -> None:
        self.view, self.X, self.n = view, X, len(X)
        f, labels = view.columns(X, y)
        self.slopes = view.loss.slope(f, labels) / (view.alpha * self.n)
        self.curvature = view.loss.curvature(f, labels)
        trained = view.network.loops(view.dim).trained
        self.trained, self.size = slice(trained.start, trained.stop), len(trained)
        self.length = STEP * (1.0 + float(np.linalg.norm(view.theta[self.trained])) / np.sqrt(self.size))

    def pushed(self, v: Floats) -> Floats:
        """J v, (n, c)"""
        return self.view.network.push(self.view.theta, self._whole(v), self.X).reshape(self.n, -1)

    def pulled(self, r: Floats, moved: Floats | None = None) -> Floats:
        """Jᵀ r, (size,), for r : (n, c), with the trained weights moved by `moved`."""
        theta = self.view.theta if moved is None else self.view.theta + self._whole(moved)
        return np.asarray(self.view.network.pull(theta, r, self.X)[self.trained])

    def gauss_newton(self, v: Floats) -> Floats:
        """G v"""
        r = self.pushed(v)
        bent = self.curvature * r if self.curvature.ndim == 2 else np.einsum("iab,ib->ia", self.curvature, r)
        return self.pulled(bent / self.n)

    def hessian(self, v: Floats) -> Floats:
        """(G + S) v"""
        norm = float(np.linalg.norm(v))
        h = self.length / norm if norm > 0.0 else 1.0
        ahead, behind = self.pulled(self.slopes, h * v), self.pulled(self.slopes, -h * v)
        return self.gauss_newton(v) + (ahead - behind) / (2.0 * h)

    def tangent(self, r: Floats) -> Floats:
        """K r/n, for r : (n c,)"""
        return self.pushed(self.pulled(r.reshape(self.n, -1))).ravel() / self.n

    def _whole(self, v: Floats) -> Floats:
        """v among all weights, 0 for those that are not trained."""
        found = np.zeros_like(self.view.theta)
        found[self.trained] = v
        return found


class Sharpness(Observable):
    """Largest eigenvalues of the Hessian, of its Gauss–Newton part and of the tangent kernel over n."""

    several_outputs: ClassVar[bool] = True
    losses: ClassVar[Literal["any", "real", "squared"]] = "any"
    examples: ClassVar[tuple[dict[str, Any], ...]] = ({}, {"count": 3, "samples": 5, "least": True})

    count: int = Field(1, ge=1, le=MOST_ENTRIES, description="how many eigenvalues, the largest")
    samples: int | None = Field(None, ge=1, description="how many training samples, the first; left out: all")
    tolerance: float = Field(1e-6, gt=0, lt=1, description="residual of an eigenvector over the largest |eigenvalue|")
    least: bool = Field(False, description="measure the least eigenvalue too")

    def check(self, setting: Setting) -> None:
        if setting.samples < (self.samples or 1):
            raise ValueError(
                f"observables sharpness.samples = {self.samples}: there are {setting.samples} training samples"
                if self.samples
                else "samples = 0: sharpness needs training samples"
            )

    def outputs(self) -> dict[str, Output]:
        index = {"eigenvalue": np.arange(self.count)}
        text = "eigenvalue of the Hessian of R(αf)/α², descending"
        found = {
            "sharpness": Output(text, (RECORD, "eigenvalue"), coords=index),
            "sharpness_gauss_newton": Output("largest eigenvalue of the Gauss–Newton part Jᵀ ℓ'' J/n", (RECORD,)),
            "sharpness_tangent": Output("largest eigenvalue of K/n, K the tangent kernel of all outputs", (RECORD,)),
        }
        if self.least:
            found["sharpness_least"] = Output("least eigenvalue of the Hessian of R(αf)/α²", (RECORD,))
        return found

    def measure(self, view: View) -> dict[str, Any]:
        part = slice(self.samples)
        products = Products(view, view.X[part], view.y[part])
        if self.count > products.size:
            raise BadInput(
                f"observables sharpness.count = {self.count}: the network has {products.size} trained weights"
            )

        def top(apply: Callable[[Floats], Floats], size: int, count: int = 1) -> Floats:
            return largest(apply, size, count, self.tolerance)

        with one_blas_thread():
            found: dict[str, Any] = {
                "sharpness": top(products.hessian, products.size, self.count),
                "sharpness_gauss_newton": float(top(products.gauss_newton, products.size)[0]),
                "sharpness_tangent": float(top(products.tangent, products.slopes.size)[0]),
            }
            if self.least:
                found["sharpness_least"] = -float(top(lambda v: -products.hessian(v), products.size)[0])
        return found
