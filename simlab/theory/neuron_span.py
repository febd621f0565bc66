"""The best fit by random neurons, or by their tangent features, under the uniform law: n = ∞. MATH §7.

x uniform on S^{d−1}(√d), w_i on the unit sphere, t = w·x/√d:

    RF  Σ_i a_i φ(w_i·x + b)          NT  Σ_i a_i φ(w_i·x + b) + Σ_i ⟨s_i, x⟩ φ'(w_i·x + b)

A neuron of norm r has φ(r ŵ·x + b) = Σ_k λ_k(r) N_k P_k(ŵ·x̂), λ_k(r) = E φ(r√d t + b) P_k(t); with c_k = λ_k(1) and
e_k = λ_k'(1) = E φ'(√d t + b) √d t P_k(t), all inner products are exact, without a sample:

    E φ_i φ_j = K(w_i, w_j) = Σ_k λ_k(r_i) λ_k(r_j) N_k P_k(u),   u = ŵ_i·ŵ_j,
    E φ_i φ'_j x = ∂_{w_j} K,   E φ'_i φ'_j x xᵀ = ∂_{w_i} ∂_{w_j}ᵀ K,   ∂_w = ŵ ∂_r + Π ∂_ŵ,  Π = I − ŵŵᵀ,

and for a harmonic f of degree k (Funk–Hecke) E φ_i f = c_k f(w_i), E φ'_i x f = e_k f(w_i) w_i + c_k ∇f(w_i). The sum
stops at degree K; the diagonal blocks, where it converges slowest, are integrals of one variable.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simlab import activations
from simlab.activations import Activation
from simlab.core import checks
from simlab.core.errors import BadInput
from simlab.sphere.legendre import legendre, legendre_sum
from simlab.sphere.multiplicity import multiplicity
from simlab.sphere.power import angle_quadrature
from simlab.sphere.zonal import cosines, mode, mode_curvature, mode_slope, slope_at_one, zonal, zonal_gradient

Floats = NDArray[np.float64]
MOST_DEGREE = 10_000


@dataclass(frozen=True)
class Neurons:
    """N neurons, and the moments of φ that all inner products of their features are made of.

    There are p = N outer + N d tangent features, in this order: the N of a, then the d of s_1, those of s_2, …
    For a 1-homogeneous φ without bias φ(w·x) = ⟨w, x⟩ φ'(w·x): NT leaves out a, and its Gram matrix is regular.

    W: (N, d) unit vectors.
    outer: whether the features of a are there.
    tangent: whether the features of s are there.
    c, e: (K+1,) c_k and e_k.
    square: E φ².
    mixed: E φφ'z, z = w·x.
    radial: E φ'²z².
    across: E φ'²(d−z²)/(d−1).
    """

    W: Floats
    outer: bool
    tangent: bool
    c: Floats
    e: Floats
    square: float
    mixed: float
    radial: float
    across: float

    @classmethod
    def of(cls, activation: Activation, bias: float, W: Floats, max_degree: int, tangent: bool) -> Neurons:
        W, bias = checks.matrix(W, "W"), checks.number(bias, "bias", least=-1e100, most=1e100)
        max_degree, tangent = checks.degree(max_degree, most=MOST_DEGREE), checks.flag(tangent, "tangent")
        dim = checks.sphere_dimension(W.shape[1], "W: the dimension")
        activation = activations.required(activation)
        if tangent and activation.jumps():
            raise BadInput(f"activation = {activation.kind!r}: it jumps, so that there are no tangent features")
        kinks = [(kink - bias) / np.sqrt(dim) for kink in activation.kink_points()]
        t, weights = angle_quadrature(dim, max_degree, kinks)
        z = np.sqrt(dim) * t
        P = legendre(dim, max_degree, t)
        phi = activation(z + bias)
        slope = activation.derivative(z + bias) * z if tangent else np.zeros_like(z)
        around = np.divide(slope, z, out=np.zeros_like(z), where=z != 0.0) ** 2 * (dim - z * z) / (dim - 1)
        moments = [float(weights @ values) for values in (phi**2, phi * slope, slope**2, around)]
        outer = not tangent or bias != 0.0 or activation.homogeneity() != 1
        return cls(W, outer, tangent, P @ (weights * phi), P @ (weights * slope), *moments)

    @property
    def dim(self) -> int:
        return int(self.W.shape[1])

    def _degree(self, degree: int) -> int:
        return checks.whole(degree, "degree", least=0, most=self.c.size - 1)

    def _counts(self) -> Floats:
        return np.array([float(multiplicity(self.dim, k)) for k in range(self.c.size)])

    def gram(self) -> Floats:
        """The inner products of all features : (p, p)."""
        N, d = self.W.shape
        U = cosines(self.W, self.W)
        counts = self._counts()
        F = legendre_sum(d, self.c**2 * counts, U)
        np.fill_diagonal(F, self.square)
        if not self.tangent:
            return F
        # P_k' = rise_k P_{k−1} of dimension d + 2, P_k'' = rise_k further_k P_{k−2} of dimension d + 4
        rise = np.array([slope_at_one(d, k) for k in range(1, self.c.size)])
        further = np.array([slope_at_one(d + 2, k - 1) for k in range(2, self.c.size)])
        D = legendre_sum(d, self.e**2 * counts, U)
        E = legendre_sum(d, self.c * self.e * counts, U)
        C = legendre_sum(d + 2, rise * (self.c * self.e * counts)[1:], U)
        A = legendre_sum(d + 2, rise * (self.c**2 * counts)[1:], U)
        B = legendre_sum(d + 4, further * (rise * (self.c**2 * counts)[1:])[1:], U)
        G = np.empty((N * (d + 1), N * (d + 1)))
        G[:N, :N] = F
        for i, w in enumerate(self.W):
            u = U[i][:, np.newaxis]
            here = w - u * self.W  # Π_j w_i
            there = self.W - u * w  # Π_i w_j
            cross = E[i][:, np.newaxis] * self.W + A[i][:, np.newaxis] * here  # E φ_i φ'_j x
            cross[i] = self.mixed * w
            G[i, N:] = cross.ravel()
            G[N:, i] = cross.ravel()
            block = np.einsum("a,jb->ajb", w, D[i][:, np.newaxis] * self.W + C[i][:, np.newaxis] * here)
            block += np.einsum("ja,jb->ajb", C[i][:, np.newaxis] * there, self.W)
            block += np.einsum("ja,jb->ajb", B[i][:, np.newaxis] * there, here)
            across = -np.einsum("a,b->ab", w, w) + np.eye(d)  # Π_i Π_j = Π_i − Π_i w_j w_jᵀ
            block += A[i][np.newaxis, :, np.newaxis] * across[:, np.newaxis]
            block -= np.einsum("ja,jb->ajb", A[i][:, np.newaxis] * there, self.W)
            block[:, i] = self.across * across + self.radial * np.outer(w, w)
            G[N + i * d : N + (i + 1) * d, N:] = block.reshape(d, N * d)
        return G if self.outer else np.ascontiguousarray(G[N:, N:])

    def projections(self, degree: int, V: Floats) -> Floats:
        """E of every feature times the zonal harmonics of this degree about the axes V : (p, m)."""
        degree, V = self._degree(degree), checks.matrix(V, "V", dim=self.dim)
        values = zonal(degree, V, self.W)
        first = self.c[degree] * values
        if not self.tangent:
            return np.asarray(first)
        second = self.e[degree] * values[:, :, np.newaxis] * self.W[:, np.newaxis]
        second = second + self.c[degree] * zonal_gradient(degree, V, self.W)
        second = second.transpose(0, 2, 1).reshape(-1, V.shape[0])
        return np.concatenate([first, second]) if self.outer else np.asarray(second)

    def power(self, degree: int, coefficients: Floats) -> Floats:
        """E g_k² of the fits g with these coefficients (p, m) : (m,)."""
        N, d = self.W.shape
        degree, p = self._degree(degree), N * (self.outer + d * self.tangent)
        coefficients = checks.array(coefficients, "coefficients", ndim=2, must=f"({p}, m), one row for each feature")
        if len(coefficients) != p:
            raise BadInput(f"coefficients has shape {coefficients.shape}: must be ({p}, m), one row for each feature")
        U = cosines(self.W, self.W)
        count = multiplicity(d, degree)
        c, e = float(self.c[degree]), float(self.e[degree])
        P = mode(d, degree, U)
        a = coefficients[:N] if self.outer else np.zeros((N, coefficients.shape[1]))
        if not self.tangent:
            return np.asarray(count * c * c * np.einsum("im,im->m", a, P @ a))
        P1, P2 = mode_slope(d, degree, U), mode_curvature(d, degree, U)
        found = np.empty(coefficients.shape[1])
        for m in range(found.size):
            S = coefficients[-N * d :, m].reshape(N, d)
            r = np.einsum("ia,ia->i", S, self.W)
            alpha = c * a[:, m] + e * r
            Q = S @ self.W.T - r[:, np.newaxis] * U  # s_i·Π_i w_j
            flat = S - r[:, np.newaxis] * self.W  # Π_i s_i
            mixed = alpha[:, np.newaxis] * Q.T
            found[m] = alpha @ P @ alpha + c * float(np.sum((mixed + mixed.T) * P1))
            found[m] += c * c * float(np.sum(P1 * (flat @ flat.T) + P2 * Q * Q.T))
        return np.asarray(count * found)
