"""claims: one file a claim of the sources.

A claim defines

- `STATEMENT`, `SOURCE`, `EXPECTED`: what is claimed, where, and what number shows it;
- `QUICK`, `FULL`: specs (TOML text) that measure it, the quick one with its control within 15 s on two cores;
- `CONTROL`: settings (``key=value``) that turn either spec into the negative control, which must be judged false;
- ``judge(results) -> Judgement``: looks at the numbers alone; it does not know which of the two it sees;
- ``figure(results, control) -> Figure``;
- ``data_needed() -> str | None``, where it needs data of the user's: what to give, in a sentence, if they are not
  there. Such a claim is then not run, and judged neither true nor false.

The specs live in the claim's own file, so that an installed package reproduces it without a checkout.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simlab.core import lookup

if not TYPE_CHECKING:  # mypy reads the files themselves
    __getattr__, __dir__ = lookup.attributes(__name__)
