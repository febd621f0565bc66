"""What kernel ridge regression leaves, and puts, in every degree: E (f_k − f*_k)². MATH §5.

`learning_curve` splits the total error E by where it comes from: E_k is what the target's power p_k in degree k costs
in all degrees together. Where the error is found is another split. With q_k = κ/(nη_k + κ), the share of a mode that
is not learned, degree k keeps the bias q_k² p_k, and has in the variance its share of γ = Σ_k N_k (1−q_k)²/n:

    E (f_k − f*_k)² = q_k² p_k + (1−q_k)² (N_k/n) (E + σ²),     and the sum over all degrees is E = (Σ q²p + γσ²)/(1−γ):

power of high degrees that is not learned acts like noise on the low ones. Symbols as in `learning_curve`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simlab.core import checks
from simlab.core.errors import BadInput
from simlab.theory.learning_curve import MOST_NOISE, Curve, Spectral, checked_spectrum

Floats = NDArray[np.float64]


def degree_residual(spectrum: Spectral, power: ArrayLike, curve: Curve, noise: float = 0.0) -> Floats:
    """E (f_k − f*_k)² for the n and ridges of the curve, (…, K+1).

    power, noise: those that the curve was computed for; power (K+1,).
    """
    checked_spectrum(spectrum)
    checks.instance(curve, "curve", Curve, "what learning_curve gives")
    noise = checks.number(noise, "noise", least=0, most=MOST_NOISE)
    n, kappa = curve.n[..., np.newaxis], curve.kappa[..., np.newaxis]
    eta = np.where(spectrum.eigenvalues > 0, spectrum.eigenvalues, 0.0)
    if (shape := np.shape(curve.by_degree)[-1]) != eta.size:
        raise BadInput(f"curve: of {shape} degrees; must be {eta.size}, as the spectrum has")
    counts = np.array([float(count) for count in spectrum.multiplicities])
    p = np.zeros(eta.size)
    given = checks.bounded(power, "power", ndim=1, least=0, must="one number per degree")[: eta.size]
    p[: given.size] = given
    with np.errstate(invalid="ignore", divide="ignore"):
        q = np.where(eta > 0, kappa / (n * eta + kappa), 1.0)
        spread = np.where(n > 0, (1.0 - q) ** 2 * counts / n, 0.0)
    found: Floats = q**2 * p + spread * (curve.error[..., np.newaxis] + noise**2)
    return found
