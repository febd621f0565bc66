"""Figures in few columns, for the one line that a ledger gives to a claim; exponents as numbers for its verdict."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from simlab.statistics.power_law import PowerLaw


def exponent_numbers(power: PowerLaw | None) -> dict[str, Any] | None:
    """Exponent and 95 % interval, ready for JSON; None where no power law was found."""
    return None if power is None else {"exponent": power.exponent, "interval": [power.low, power.high]}


def short_exponent(power: PowerLaw | None) -> str:
    """``-0.51``; ``no fit`` where no power law was found."""
    return "no fit" if power is None else f"{power.exponent:.2f}"


def short_range(numbers: Iterable[float]) -> str:
    """``0.98 to 1.02``: the smallest and the largest; ``none`` where there are no numbers."""
    found = [float(number) for number in numbers]
    return f"{min(found):.2f} to {max(found):.2f}" if found else "none"


def short_exponents(powers: Iterable[PowerLaw | None]) -> str:
    """``-0.52 to -0.49``, or in how many cases there was no power law."""
    found = list(powers)
    fitted = [power.exponent for power in found if power is not None]
    return (
        short_range(fitted) if len(fitted) == len(found) else f"missing in {len(found) - len(fitted)} of {len(found)}"
    )
