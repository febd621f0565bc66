"""How smooth a target is for a kernel: its norm in the native space, its source exponent, and the rates that follow.

On S^{d−1}, D = d − 1. A kernel with μ_k ~ k^{−a} has the Sobolev space H^s, s = a/2, as its native space (RKHS): NTK of
ReLU a = d, s = d/2; RF of ReLU a = d + 2, s = d/2 + 1 (MATH §4). A target with power p_k ~ k^{−b} in degree k has

    ‖f‖² = Σ_k p_k/μ_k                     finite iff b > a + 1,
    Σ_k p_k μ_k^{−2r} < ∞                  iff r < (b−1)/2a, the source exponent; r = 1/2 is the native space,
    f ∈ H^β                                iff β < (b−1)/2, the `smoothness`.

Rates of the learning curve (MATH §5). A mode is learned where nη_k ≫ κ, up to k* with n k*^{−a} = κ. Not learned
is Σ_{k>k*} p_k + (κ/n)² Σ_{k<k*} p_k/μ_k² ~ k*^{−2β'}, β' = min(β, 2s): beyond β = 2s the second sum converges
and smoother targets gain nothing (saturation of ridge regression). The noise costs σ²γ ~ σ² k*^D/n.

(a) With noise and the best ridge, κ ≈ λ, the two balance at k* = n^{1/(2β'+D)}:  E ~ n^{−2β'/(2β'+D)} (minimax, β ≤ 2s)
    with λ ~ n k*^{−a} = n^{1 − a/(2β'+D)}.
(b) Without noise λ = 0 is best but for a constant: κ = κ Σ w/(nη+κ) puts k*^D ~ n:  E ~ n^{−2β'/D}.

At β = 2s exactly a logarithm joins. Symbols: a `kernel_decay`, b `power_decay`, s `native_smoothness`, β `smoothness`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simlab.core import checks
from simlab.core.errors import BadInput, SimlabError
from simlab.sphere.multiplicity import multiplicity
from simlab.theory.learning_curve import LN10, Spectral, checked_spectrum

Floats = NDArray[np.float64]
MOST_TERMS = 100_000


@dataclass(frozen=True)
class Source:
    """A target of power k^{−b} for a kernel of eigenvalues k^{−a} on S^{d−1}.

    dim: d.
    kernel_decay: a, more than d − 1.
    power_decay: b, more than 1.
    """

    dim: int
    kernel_decay: float
    power_decay: float

    def __post_init__(self) -> None:
        checks.sphere_dimension(self.dim)
        for name in ("kernel_decay", "power_decay"):
            checks.number(getattr(self, name), name, infinite=True)
        if not self.kernel_decay > self.dim - 1:
            raise BadInput(f"kernel_decay = {self.kernel_decay}: must be more than d − 1 = {self.dim - 1}")
        if not self.power_decay > 1:
            raise BadInput(f"power_decay = {self.power_decay}: must be more than 1, or the target has no mean square")

    @property
    def native_smoothness(self) -> float:
        """s = a/2: the Sobolev space that is the kernel's own."""
        return self.kernel_decay / 2

    @property
    def smoothness(self) -> float:
        """β = (b−1)/2: the target lies in H^t for t < β."""
        return (self.power_decay - 1) / 2

    @property
    def exponent(self) -> float:
        """(b−1)/2a: Σ p_k μ_k^{−2r} is finite for r below it."""
        return self.smoothness / self.kernel_decay

    @property
    def native(self) -> bool:
        """Whether the target lies in the native space."""
        return self.power_decay > self.kernel_decay + 1

    @property
    def paid_for(self) -> float:
        """β' = min(β, 2s): the smoothness that ridge regression turns into a rate."""
        return min(self.smoothness, 2 * self.native_smoothness)

    @property
    def saturated(self) -> bool:
        return self.smoothness > 2 * self.native_smoothness

    @property
    def noisy_rate(self) -> float:
        """E ~ n^{−rate} with noise and the best ridge."""
        return 2 * self.paid_for / (2 * self.paid_for + self.dim - 1)

    @property
    def noiseless_rate(self) -> float:
        """E ~ n^{−rate} without noise and without ridge."""
        return 2 * self.paid_for / (self.dim - 1)

    @property
    def ridge_growth(self) -> float:
        """λ ~ n^{growth} of the best ridge with noise (λ not scaled by n); negative: it falls."""
        return 1 - self.kernel_decay / (2 * self.paid_for + self.dim - 1)


@dataclass(frozen=True)
class NativeNorm:
    """The squared norm of a target in the native space of a kernel.

    squared: Σ p_k/μ_k, inf if it diverges.
    partial: the sum over the degrees known.
    slope: of log(term) in log(degree) at the end, −inf where the terms vanish.
    """

    squared: float
    partial: float
    slope: float


def native_norm(spectrum: Spectral, power: ArrayLike, dim: int) -> NativeNorm:
    """‖f‖² in the kernel's native space.

    Infinite where an eigenvalue is 0 and the power is not, and where the terms of the upper half of the degrees fall no
    faster than 1/k: a sum known in part cannot tell by itself. Finite sums are those of the degrees known.
    """
    checked_spectrum(spectrum)
    checks.sphere_dimension(dim)
    known = len(spectrum.eigenvalues)
    p = checks.bounded(power, "power", ndim=1, least=0, must=f"{known} numbers at most, one per degree")
    if p.size > known:
        raise BadInput(f"power has shape {p.shape}: must be {known} numbers at most, one per degree")
    live = np.flatnonzero(p > 0)
    logs = LN10 * np.asarray(spectrum.log10)[live]
    if (spectrum.eigenvalues[live] < 0).any():
        raise BadInput("the kernel has a negative eigenvalue where the target has power: it has no native space")
    if np.isneginf(logs).any():
        return NativeNorm(math.inf, math.inf, math.inf)
    with np.errstate(over="ignore"):
        terms = np.zeros(p.size)
        terms[live] = np.exp(np.log(p[live]) - logs)
    partial = math.fsum(terms) if np.isfinite(terms).all() else math.inf
    try:
        slope = -fit_power_decay(terms, dim)
    except SimlabError:
        slope = -math.inf
    return NativeNorm(partial if slope < -1 else math.inf, partial, slope)


def fit_power_decay(power: ArrayLike, dim: int) -> float:
    """b of p_k ~ k^{−b} by least squares over the positive degrees of the upper half.

    In k + (d−2)/2, the root of the Laplacian's eigenvalue k(k+d−2) but for a constant, which is straight sooner than k.
    """
    checks.sphere_dimension(dim)
    p = checks.array(power, "power", ndim=1, finite=False)
    k = np.arange(p.size)
    used = (k >= max(p.size // 2, 1)) & (p > 0) & np.isfinite(p)
    if used.sum() < 3:
        raise SimlabError(f"{int(used.sum())} degrees of the upper half have power: at least 3 are needed for a fit")
    b, _ = np.polyfit(np.log(k[used] + (dim - 2) / 2), np.log(p[used]), 1)
    return float(-b)


@dataclass(frozen=True, eq=False)
class PowerLaw:
    """The spectrum μ_k = (k + d/2)^{−a}, k ≤ K, on S^{d−1}, as `learning_curve` takes it.

    The trace has the tail as an integral.

    dim: d.
    decay: a, more than d − 1.
    max_degree: K.
    """

    dim: int
    decay: float
    max_degree: int

    def __post_init__(self) -> None:
        checks.sphere_dimension(self.dim)
        checks.degree(self.max_degree, most=MOST_TERMS)
        checks.number(self.decay, "decay", above=self.dim - 1)

    @property
    def log10(self) -> Floats:
        return np.asarray(-self.decay * np.log10(np.arange(self.max_degree + 1) + self.dim / 2))

    @property
    def eigenvalues(self) -> Floats:
        return np.asarray(10.0**self.log10)

    @property
    def multiplicities(self) -> NDArray[np.float64]:
        return np.array([float(multiplicity(self.dim, k)) for k in range(self.max_degree + 1)])

    @property
    def trace(self) -> float:
        weights = self.eigenvalues * self.multiplicities
        # N ~ x^{d−2} in x = k + (d−2)/2, so that w ~ x^{d−2−a} and ∫ from K + 1/2 on is w_K x/(a−d+1).
        tail = weights[-1] * (self.max_degree + (self.dim - 1) / 2) / (self.decay - self.dim + 1)
        return math.fsum(weights) + float(tail)
