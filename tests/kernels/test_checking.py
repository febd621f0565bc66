"""`kernels.check` on kernels with one planted mistake each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from flint import arb

from simlab import kernels
from simlab.kernels import Kernel, Pairs
from simlab.kernels.kernel import Floats
from simlab.kernels.laplace import Laplace
from simlab.kernels.ntk import NTK
from simlab.kernels.polynomial import Polynomial
from simlab.kernels.sum import Sum


class NotPositive(Laplace):
    @staticmethod
    def evaluate(leaves: Sequence[Any], pairs: Pairs) -> Floats:
        return -Laplace.evaluate(leaves, pairs)

    def has_arb(self) -> bool:
        return False


class WrongShape(Laplace):
    @staticmethod
    def evaluate(leaves: Sequence[Any], pairs: Pairs) -> Floats:
        return Laplace.evaluate(leaves[:1], pairs)


class WrongArb(Laplace):
    def profile_arb(self, us: list[arb]) -> list[arb]:
        return [2 * value for value in super().profile_arb(us)]


class WrongDegree(Laplace):
    def polynomial_degree(self) -> int | None:
        return 2


class WrongHomogeneity(Polynomial):
    def homogeneity(self) -> int | None:
        return 1


class WrongDimension(NTK):
    def depends_on_dim(self) -> bool:
        return False


class WrongTerms(Sum):
    def linear_terms(self) -> list[tuple[float, Kernel]]:
        return super().linear_terms()[:1]


class WrongParameters(Laplace):
    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {"c": 2.0 * self.c}


TERMS = [kernels.ntk(2), kernels.laplace(1.0)]


@pytest.mark.parametrize(
    ("kernel", "says"),
    [
        (NotPositive(c=1.0), "gram has the eigenvalue -"),
        (WrongShape(c=1.0), "evaluate gives shape"),
        (WrongArb(c=1.0), "profile_arb and at_one_arb differ from κ"),
        (WrongDegree(c=1.0), "κ is not a polynomial of degree 2"),
        (WrongHomogeneity(degree=2), r"K\(3x, 3y\) is not 9\^1 K\(x, y\)"),
        (WrongDimension(depth=2, weight_std=1.0), "another dimension changes it"),
        (WrongTerms(terms=TERMS), r"Σ a K over linear_terms\(\) differs"),
        (WrongParameters(c=1.0), r"get_params\(\) makes another kernel"),
        ("ntk", "not a subclass of Kernel"),
    ],
    ids=repr,
)
def test_a_planted_mistake_is_found(kernel: Kernel, says: str) -> None:
    with pytest.raises(AssertionError, match=says) as refusal:
        kernels.check(kernel)
    assert "\n" not in str(refusal.value)
