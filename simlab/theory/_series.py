"""Sums Σ w_i |c_i| over the Taylor coefficients c_i about 0 of a function, in Arb, to 1e-14 of their value.

A function is given by a finite sequence (c_0, c_1, …) of a polynomial, a callable i → c_i, or an activation. Numbers
are int, Fraction or float and are taken exactly. An activation knows its own |c_i| (`Activation.taylor_size`).

An infinite sum ends after n terms where the root test on the last half of them, r = max (w_i|c_i|/S)^{1/i} over
n/2 < i ≤ n, S the sum so far, leaves no more than S r^{n+1}/(1 − r) ≤ 1e-15 S for the rest. That is no proof: a gap of
zeros longer than all that came before it ends the sum. What has a finite end is given as a sequence.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from flint import arb, ctx, fmpq
from numpy.typing import NDArray

from simlab import activations
from simlab.activations import Activation
from simlab.core import catalogue, checks
from simlab.core.errors import BadInput, shown

Number: TypeAlias = int | float | Fraction
Series: TypeAlias = Sequence[Number] | NDArray[Any] | Callable[[int], Number] | str | Activation

PRECISION_BITS = 160
REST_SHARE = 1e-15
"""What may be left out of an infinite sum, as a share of it."""
SMALLEST = float(np.finfo(np.float64).tiny)
"""Floats below it have fewer digits, and those that follow are 0: any series of them would seem to converge."""
STRIDE_TERMS = 32
"""After every so many terms a sum may end."""
MOST_TERMS = 10_000
"""A sum that has not ended after so many terms has not converged."""


def as_arb(name: str, value: Any) -> arb:
    """A number, exactly; an error where it is none or not finite."""
    if isinstance(value, numbers.Rational) and not isinstance(value, bool):
        return arb(fmpq(int(value.numerator), int(value.denominator)))
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real) or not math.isfinite(value):
        raise BadInput(f"{name} = {shown(value)}: must be a finite number")
    return arb(float(value))


def _of_activation(activation: Activation, what: str, reach: float) -> list[arb] | Callable[[int], arb]:
    """|c_i|: all of a polynomial's, or a function of i."""
    radius = activation.taylor_radius
    entire = ", ".join(catalogue.able("activations", lambda cls: cls.taylor_radius == math.inf))
    if radius is None and 0.0 in activation.kink_points() and not activation.has_own_code:
        raise BadInput(f"{what}: not smooth at 0, it has no Taylor series there: give one of {entire}, or coefficients")
    if radius is None:
        raise BadInput(f"{what}: its Taylor coefficients are not known: give them as a sequence or callable")
    if reach >= radius:
        parts = math.pi / radius
        words = "π" if parts == 1.0 else f"π/{parts:g}" if parts == int(parts) else f"{radius:.6g}"
        raise BadInput(
            f"{what}: weights grow as {reach:g}^i, and its Taylor series converges only below {words}: "
            f"take C less than {radius:.6g}, or an entire function ({entire})"
        )
    degree = activation.polynomial_degree()
    return activation.taylor_size if degree is None else [activation.taylor_size(i) for i in range(degree + 1)]


def weighted_sum(series: Series, weight: Callable[[int], arb], what: str, reach: float = 1.0) -> float:
    """Σ w_i |c_i|.

    series: the coefficients c_i.
    weight: i → w_i.
    what: the name of the sum in errors.
    reach: the weights grow as reach^i.
    """
    with ctx.workprec(PRECISION_BITS):
        if isinstance(series, str):
            catalogue.check_name("activations", series, "series")
            series = activations.get(series)
        if isinstance(series, Activation):
            what = f"{what} of {series.kind}"
            terms = _of_activation(series, what, reach)
        elif callable(series):
            terms = _checked(series)
        else:
            must = "coefficients c_0, c_1, …, a function of i, or an activation"
            given = checks.listed(series, "series", must, most=MOST_TERMS)
            if not given:
                raise BadInput("series: no coefficients; must be one or more, c_0 first")
            terms = [abs(as_arb(f"series: coefficient c_{i}", c)) for i, c in enumerate(given)]
        if callable(terms):
            return _infinite(terms, weight, what)
        total = float(sum((weight(i) * c for i, c in enumerate(terms)), arb(0)))
        if math.isinf(total):
            raise BadInput(f"{what}: the sum of {len(terms)} terms is greater than 1.8e308, the largest float")
        return total


def _checked(series: Callable[[int], Number]) -> Callable[[int], arb]:
    """|c_i| of a user's function."""

    def magnitude(i: int) -> arb:
        try:
            value = series(i)
        except ArithmeticError as error:
            raise BadInput(
                f"series: coefficient c_{i}: {error}; give a Fraction, never too large or too small"
            ) from None
        if isinstance(value, numbers.Real) and 0.0 < abs(value) < SMALLEST and not isinstance(value, numbers.Rational):
            raise BadInput(
                f"series: coefficient c_{i} = {shown(value)}: has lost its digits as a float; give a Fraction"
            )
        return abs(as_arb(f"series: coefficient c_{i}", value))

    return magnitude


def _infinite(magnitude: Callable[[int], arb], weight: Callable[[int], arb], what: str) -> float:
    total, logs = arb(0), np.full(MOST_TERMS, -np.inf)
    for i in range(MOST_TERMS):
        term = weight(i) * magnitude(i)
        total += term
        if not term.is_zero():
            logs[i] = float(term.log())
        n = i + 1
        if n % STRIDE_TERMS:
            continue
        value = float(total)
        if math.isinf(value):
            raise BadInput(f"{what}: the sum of {n} terms is greater than 1.8e308, the largest float, or diverges")
        if total.is_zero():
            continue
        last = np.arange(n // 2, n)
        root = float(np.max((logs[last] - float(total.log())) / last))  # log r
        if root < 0.0 and root * n - math.log(-math.expm1(root)) <= math.log(REST_SHARE):
            return value
    if total.is_zero():
        return 0.0
    raise BadInput(
        f"{what}: Σ w_i|c_i| has not converged after {MOST_TERMS} terms (sum {float(total):.6g}, last term "
        f"{float(term):.3g}): must be a series that does"
    )
