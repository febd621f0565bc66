"""`activations.check` on activations with one planted mistake each."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest
from flint import arb
from numpy.typing import NDArray

from simlab import activations
from simlab.activations import Activation, Compiled
from simlab.activations import relu as relu_file
from simlab.activations import tanh as tanh_file
from simlab.activations.relu import ReLU
from simlab.activations.step import Step
from simlab.activations.tanh import Tanh
from simlab.core.jit import jit

Floats = NDArray[np.float64]


@jit
def half(z: float, a: Floats) -> float:
    return 0.5


@jit
def too_large(q: float, a: Floats) -> float:
    return 0.51 * q


@jit
def swapped(q: float, p: float, A: float, B: float, t: float, s: float, a: Floats) -> tuple[float, float, float]:
    tau, sigma, slope = relu_file.dual(q, p, A, B, t, s, a)
    return sigma, tau, slope


@jit
def without_zero(q: float, p: float, A: float, B: float, t: float, s: float, a: Floats) -> tuple[float, float, float]:
    if A == 0.0 or B == 0.0:
        return 0.0, 2.0, 0.5
    return relu_file.dual(q, p, A, B, t, s, a)


class WrongSlope(ReLU):
    def compiled(self) -> Compiled:
        return super().compiled()._replace(dphi=half)


class WrongVariance(ReLU):
    def compiled(self) -> Compiled:
        return super().compiled()._replace(variance=too_large)


class WrongDual(ReLU):
    def compiled(self) -> Compiled:
        return super().compiled()._replace(dual=swapped)


class WrongAtZero(ReLU):
    def compiled(self) -> Compiled:
        return super().compiled()._replace(dual=without_zero)


class WrongHomogeneity(Tanh):
    def homogeneity(self) -> int | None:
        return 1


class WrongDegree(Tanh):
    def polynomial_degree(self) -> int | None:
        return 3


class WrongBounded(ReLU):
    bounded: ClassVar[bool] = True


class WrongJumps(Tanh):
    def jumps(self) -> bool:
        return True


class WrongShift(ReLU):
    def relu_shift(self) -> float | None:
        return 1.0


class WrongOrder(ReLU):
    def arc_cosine_order(self) -> int | None:
        return 0


class WrongSeries(Tanh):
    def taylor_size(self, i: int) -> arb:
        return 2 * super().taylor_size(i)


class WrongArb(ReLU):
    def arb_dual(self, q: arb, us: list[arb], tangent: bool) -> tuple[list[arb], list[arb]]:
        F, slopes = super().arb_dual(q, us, tangent)
        return F, [1.001 * slope for slope in slopes]


class Jumping(Step):
    """Says nothing of its jump."""

    def jumps(self) -> bool:
        return False


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        (WrongSlope(), r"φ'\(-3.1\) = 0.5, but a difference of φ gives 0"),
        (WrongVariance(), r"variance\(1.0\) = 0.51, E φ² = 0.4999"),
        (WrongDual(), "τ = .* at q, p, u = 1.0, 1.0, 0.3, by integration"),
        (WrongAtZero(), "E φ² = 0; must be 1, 1"),
        (WrongHomogeneity(), "φ is not homogeneous of degree 1"),
        (WrongDegree(), "φ is not a polynomial of degree 3"),
        (WrongBounded(), "it is not bounded"),
        (WrongJumps(), r"jumps\(\) says yes, but kink_points\(\) is empty"),
        (WrongShift(), r"φ is not max\(z \+ 1.0, 0\)"),
        (WrongOrder(), r"φ is not z\^0"),
        (WrongSeries(), r"taylor_size\(1\) = 2.0, of φ 1.0"),
        (WrongArb(), "Ḟ = 0.5 at q, u = 0.3, 1.0, not"),
        (Jumping(), r"φ jumps by 1 at 0.0, and jumps\(\) says no"),
        (np.tanh, "not a subclass of Activation"),
    ],
)
def test_a_planted_mistake_is_found(kind: Activation, says: str) -> None:
    with pytest.raises(AssertionError, match=says) as refusal:
        activations.check(kind)
    assert "\n" not in str(refusal.value)


class Bare(Activation):
    """tanh as another package would write it: the compiled functions and nothing else."""

    has_arb: ClassVar[bool] = False

    def compiled(self) -> Compiled:
        return Compiled(tanh_file.phi, tanh_file.dphi, tanh_file.variance, tanh_file.dual)


def test_a_kind_of_another_package_is_taken() -> None:
    assert Bare.room == "activations"
    assert Bare.kind == "bare"
    activations.check(Bare())
