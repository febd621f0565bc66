"""Profiles of known kernels written out in Arb and in float64, independent of the package: oracles for the tests."""

from __future__ import annotations

import numpy as np
from flint import arb


def relu(depth: int, tangent: bool):
    """κ_RF or κ_NTK of MATH §3, ReLU, layer by layer."""

    def profile(us: list[arb]) -> list[arb]:
        pi, values = arb.pi(), []
        for u in us:
            kappa = theta = u
            for _ in range(depth - 1):
                # A ball that reaches beyond ±1 has no arccos: cut it.
                kappa = kappa if abs(kappa) < 1 else kappa.intersection(arb(0, 1))
                angle = kappa.acos()
                sine = (1 - kappa * kappa).nonnegative_part().sqrt()
                kappa0, kappa = (pi - angle) / pi, (sine + (pi - angle) * kappa) / pi
                theta = theta * kappa0 + kappa
            values.append(theta if tangent else kappa)
        return values

    return profile


def step(depth: int):
    """κ0 iterated depth − 1 times."""

    def profile(us: list[arb]) -> list[arb]:
        for _ in range(depth - 1):
            us = [1 - (u if abs(u) < 1 else u.intersection(arb(0, 1))).acos() / arb.pi() for u in us]
        return us

    return profile


def power_exponential(c: float, gamma: float):
    def profile(us: list[arb]) -> list[arb]:
        return [(-arb(c) * (1 - u).nonnegative_part() ** arb(gamma)).exp() if u != 1 else arb(1) for u in us]

    return profile


def relu64(depth: int, tangent: bool):
    """The same in float64 from t = 1 − u and s = 1 + u, plain formulas."""

    def profile(t: np.ndarray, s: np.ndarray) -> np.ndarray:
        angle = 2 * np.arctan2(np.sqrt(t), np.sqrt(s))
        kappa = theta = (s - t) / 2
        for _ in range(depth - 1):
            kappa0, kappa = 1 - angle / np.pi, (np.sin(angle) + (np.pi - angle) * np.cos(angle)) / np.pi
            theta = theta * kappa0 + kappa
            angle = np.arccos(np.clip(kappa, -1, 1))
        return theta if tangent else kappa

    return profile


def step64(depth: int):
    def profile(t: np.ndarray, s: np.ndarray) -> np.ndarray:
        kappa = 2 * np.arctan2(np.sqrt(s), np.sqrt(t)) / np.pi
        for _ in range(depth - 2):
            kappa = 1 - np.arccos(kappa) / np.pi
        return kappa

    return profile
