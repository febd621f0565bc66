"""The spectrum of a kernel, degree by degree: what `kernel.spectrum(dim, max_degree)` returns. MATH §4."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simlab.core import checks
from simlab.core.errors import BadInput, SimlabError
from simlab.kernels.spectra.fit import Decay, fit_decay
from simlab.kernels.spectra.result import Eigenvalues
from simlab.sphere.multiplicity import multiplicity

Floats = NDArray[np.float64]
EPS = 2.0**-52


class Bounded(NamedTuple):
    """A number and a bound of its error."""

    value: float
    error: float


@dataclass(frozen=True, eq=False)
class Spectrum:
    """κ(u) = Σ_k μ_k N_k P_k(u) on the sphere S^{d−1}, or the same on the cube {±1}^d with λ_k and C(d, k).

    kernel: the kernel κ.
    domain: "sphere" or "cube".
    dim: d.
    degrees: 0 … K.
    eigenvalues: μ_k or λ_k in float64; exact zeros are 0.0.
    log10: of the eigenvalues; −inf for exact zeros; right where float64 underflows.
    multiplicities: exact; int64, or Python's integers where they exceed it.
    errors: relative bounds before rounding to float64; inf: not known.
    method: "arb", "series" or "float64", joined by "+" for a sum of kernels.
    trace: κ(1) = Σ N μ over all degrees.
    """

    kernel: Any
    domain: str
    dim: int
    degrees: NDArray[np.int64]
    eigenvalues: Floats
    log10: Floats
    multiplicities: NDArray[Any]
    errors: Floats
    method: str
    trace: float

    @classmethod
    def of(cls, kernel: Any, domain: str, dim: int, found: Eigenvalues, trace: float) -> Spectrum:
        """From what `simlab.kernels.spectra.eigenvalues` found."""
        counts = [count(domain, dim, k) for k in range(len(found.values))]
        exact = np.array(counts, dtype=np.int64 if max(counts) < 2**63 else object)
        degrees = np.arange(len(counts), dtype=np.int64)
        values, logs = found.float64(), found.log10()
        return cls(kernel, domain, dim, degrees, values, logs, exact, found.errors, found.method, float(trace))

    def known(self) -> NDArray[np.bool_]:
        """Degrees whose eigenvalue is larger than its error, exact zeros among them."""
        return self.errors < 1.0

    def polynomial_degree(self) -> int | None:
        """The degree beyond which all eigenvalues are 0; None where the kernel is no polynomial."""
        degree: int | None = self.kernel.polynomial_degree()
        return degree

    def weights(self) -> Floats:
        """N μ per degree, its share of the trace; by logarithms where a factor leaves the range of float64."""
        sign = np.where(self.eigenvalues < 0, -1.0, 1.0)
        pairs = zip(self.multiplicities, np.abs(self.eigenvalues), self.log10, strict=True)
        sizes = [
            float(n) * mu if n < 10**300 and mu > 1e-300 else 10.0 ** (math.log10(n) + log) for n, mu, log in pairs
        ]
        return np.asarray(sign * np.array(sizes))

    @property
    def tail(self) -> Bounded:
        """κ(1) − Σ N μ over the known degrees: what all others have together."""
        known = self.known()
        weights = self.weights()[known]
        value = self.trace - math.fsum(weights)
        error = float(np.abs(weights) @ (self.errors[known] + 8 * EPS)) + EPS * abs(self.trace)
        return Bounded(max(value, 0.0) if abs(value) <= error else value, error)

    def effective_dimension(self, ridge: float) -> Bounded:
        """Σ N μ/(μ + ridge) over all degrees.

        Of the tail T only the sum is known. None of its eigenvalues exceeds T/N, so that its part lies between
        T/(T/N + ridge) and T/ridge: the middle is taken, and half the difference is in the error.
        """
        ridge = checks.number(ridge, "ridge", least=0)
        if not ridge > 0:
            raise BadInput(f"ridge = {ridge}: must be positive; without one the effective dimension is infinite")
        known = self.known()
        if np.any(self.eigenvalues[known] < 0):
            k = int(self.degrees[known][self.eigenvalues[known] < 0][0])
            raise SimlabError(f"eigenvalue {k} is negative: the kernel is not positive definite and has none")
        terms = self.weights()[known] / (self.eigenvalues[known] + ridge)
        rest, uncertain = self.tail
        rest = max(rest, 0.0)
        beyond = range(len(self.degrees), self.dim + 1) if self.domain == "cube" else [len(self.degrees)]
        fewest = min((count(self.domain, self.dim, int(k)) for k in [*self.degrees[~known], *beyond]), default=1)
        least, most = rest / (rest / fewest + ridge), rest / ridge
        error = 0.5 * (most - least) + uncertain / ridge + float(terms @ (self.errors[known] + 8 * EPS))
        return Bounded(math.fsum(terms) + 0.5 * (least + most), error)

    def fit(self, *, parity: str | None = None, window: tuple[int, int] | None = None) -> Decay:
        """The exponent p of μ_k ~ k^{−p} with its 95 % interval, on the sphere; see `simlab.kernels.spectra.fit`."""
        if self.domain != "sphere":
            raise BadInput(f"domain = {self.domain!r}: a power of the degree is fitted on the sphere only")
        sure = self.errors < 1e-6
        return fit_decay(self.degrees[sure], self.log10[sure], self.dim, parity=parity, window=window)


def count(domain: str, dim: int, degree: int) -> int:
    """N(d, k) on the sphere, C(d, k) on the cube."""
    return multiplicity(dim, degree) if domain == "sphere" else math.comb(dim, degree)
