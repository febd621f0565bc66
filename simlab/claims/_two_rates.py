"""What the claims about nets and their linearisation share: two exponents per activation, one for smooth ones alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from simlab.claims._numbers import exponent_numbers, short_exponent
from simlab.claims.claim import Judgement
from simlab.record.reader import Results
from simlab.statistics.power_law import PowerLaw
from simlab.statistics.sweeps import sup_power

SMOOTH = "tanh"
"""The activation of which both rates are judged."""


@dataclass(frozen=True)
class Rate:
    """The exponent of one supremum along training.

    key: its name among the numbers of the verdict.
    name: what was recorded.
    words: what it is called in the text of the verdict.
    accepts: whether the fitted power law is the claimed one, for this activation.
    """

    key: str
    name: str
    words: str
    accepts: Callable[[PowerLaw, str], bool]


def judge_two_rates(results: Results, axis: str, symbol: str, always: Rate, if_smooth: Rate) -> Judgement:
    """Whether one rate is as claimed for every activation, and the other for the smooth one; both are reported.

    axis: what the exponents are in, an axis of the sweep.
    symbol: its name in the text of the verdict.
    """
    words, shorts, numbers, good = [], [], {}, []
    for activation in results["network.activation"].tolist():
        at = {"network.activation": activation}
        powers = {rate: sup_power(results, axis, rate.name, at) for rate in (always, if_smooth)}
        judged = {rate: power for rate, power in powers.items() if rate is always or activation == SMOOTH}
        good += [power is not None and rate.accepts(power, activation) for rate, power in judged.items()]
        shorts.append(f"{', '.join(map(short_exponent, judged.values()))} ({activation})")
        words.append(f"{activation}: " + ", ".join(f"{rate.words} {power}" for rate, power in powers.items()))
        numbers[activation] = {rate.key: exponent_numbers(power) for rate, power in powers.items()}
    holds = SMOOTH in results["network.activation"] and all(good)
    measured = f"exponents in {symbol}: " + "; ".join(words)
    return Judgement(bool(holds), measured, {"exponents": numbers}, f"exponents {', '.join(shorts)}")
