"""claims: one file per claim of the sources, a class of contract `Claim`.

>>> from simlab.record.reader import Results
>>> claim = claims.get("tangent_rate")
>>> claim.statement, claim.source, claim.expected
>>> claim.judge(Results("out/ledger/quick/tangent_rate/measured"))

`simlab.claims.ledger.reproduce` measures, judges and draws claims; `check` tells whether a claim keeps the contract.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simlab.claims.checking import check
from simlab.claims.claim import Claim, Judgement
from simlab.core import catalogue

__all__ = ["Claim", "Judgement", "check", "get"]


def get(name: str) -> Claim:
    """The claim of this name, such as "tangent_rate". BadInput where there is none."""
    found: Claim = catalogue.get("claims", name, "claim")()
    return found


if not TYPE_CHECKING:  # mypy reads the files themselves
    __getattr__, __dir__ = catalogue.attributes(__name__)
