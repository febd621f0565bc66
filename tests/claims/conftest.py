"""Every figure that decides fits into its line, whatever a judge is shown."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from simlab.claims.claim import SHORT_COLUMNS, Judgement


@pytest.fixture(autouse=True)
def _short_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    make = Judgement.__init__

    def checked(self: Judgement, *arguments: Any, **fields: Any) -> None:
        make(self, *arguments, **fields)
        if sys._getframe(1).f_globals["__name__"] not in (
            __name__,
            "simlab.claims.ledger",
            "tests.claims.test_contract",
        ):
            assert len(self.short) <= SHORT_COLUMNS, self.short

    monkeypatch.setattr(Judgement, "__init__", checked)
